"""TRL's trainers, selecting: the inserted thought is one decision over a candidate set, never tokens. Needs the extra `[train]`.

    SelectorSFTTrainer    rows of `forethought export --to trl-sft`: SSR's supervised objective
    SelectorGRPOTrainer   rows with a `prompt`: before each completion a thought is drawn from softmax(S / tau) and put in; its
                          log q is one more term of the loss beside TRL's own over the tokens that were generated

Written for TRL 1.16, whose `_prepare_dataset`, `rollout_func` and `_compute_loss` these rest on. Text models; one turn a row.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from trl import GRPOTrainer, SFTTrainer

from ...data.errors import NothingToDo
from ...data.render import render_thought
from ..compiled_set import compile_set
from ..model import LanguageModel
from ..tokenizer import keeping_tags
from .objectives import Decision, Policy, Surrogate, gains, sft_loss
from .packing import Branch, log_probs
from .selector import competitors, log_q, log_q_against, scores

Row = Mapping[str, Any]


class Selector:
    """A candidate set's texts, compiled for a tokenizer."""

    def __init__(self, tokenizer: Any, texts: Sequence[str], alpha: float, tau: float) -> None:
        self.texts, self.alpha, self.tau = tuple(texts), alpha, tau
        self._tokenizer = tokenizer
        self._model = LanguageModel(None, keeping_tags(tokenizer), "trained", "training")
        self.ids = compile_set(self._model, self.texts).ids

    def encode(self, text: str) -> list[int]:
        return self._model.encode(text)

    def prompt(self, messages: Sequence[Row] | str) -> list[int]:
        """A prompt's tokens, by the chat template where it is of messages."""
        if isinstance(messages, str):
            return self.encode(messages)
        found = self._tokenizer.apply_chat_template(
            list(messages), add_generation_prompt=True, return_dict=True
        )
        return list(found["input_ids"])

    def place_of(self, text: str) -> int | None:
        """Whose thought `text` begins with."""
        thoughts = map(render_thought, self.texts)
        return next((i for i, thought in enumerate(thoughts) if text.startswith(thought)), None)

    def place_in(self, ids: Sequence[int]) -> int:
        """Whose tokens `ids` begin with; no candidate's begin another's."""
        return next(i for i, own in enumerate(self.ids) if tuple(ids[: len(own)]) == own)


class SelectorSFTTrainer(SFTTrainer):
    """`library` are the set's texts, `weight` SSR's lambda. A row whose completion begins with none of them is refused, by its number."""

    def __init__(
        self,
        *arguments: Any,
        library: Sequence[str],
        weight: float = 1.0,
        alpha: float = 1.0,
        tau: float = 1.0,
        **options: Any,
    ) -> None:
        self._library, self._weight, self._alpha, self._tau = library, weight, alpha, tau
        super().__init__(*arguments, data_collator=_as_they_are, **options)

    def _prepare_dataset(self, dataset: Any, processing_class: Any, *_: Any, **__: Any) -> Any:
        selector = Selector(processing_class, self._library, self._alpha, self._tau)

        def tokens(row: Row, number: int) -> dict[str, Any]:
            said = row["completion"]
            text = said if isinstance(said, str) else said[0]["content"]
            place = selector.place_of(text)
            if place is None:
                raise NothingToDo(
                    f"row {number}: its completion begins with no candidate of the set; export the rows and the set together"
                )
            prompt, thought = selector.prompt(row["prompt"]), selector.ids[place]
            rest = selector.encode(text.removeprefix(render_thought(selector.texts[place])))
            trunk = [*prompt, *thought, *rest, processing_class.eos_token_id]
            start = len(prompt)
            action = start + len(thought)
            return {"input_ids": trunk, "start": start, "chosen": place, "action": action}

        self._selector = selector
        return dataset.map(tokens, with_indices=True, remove_columns=dataset.column_names)

    def _set_signature_columns_if_needed(self) -> None:
        self._signature_columns = ["input_ids", "start", "chosen", "action"]

    def compute_loss(self, model: Any, inputs: Row, return_outputs: Any = None, **_: Any) -> Any:
        losses = [self._loss(model, row) for row in inputs["rows"]]
        loss = torch.stack(losses).mean()
        return (loss, {}) if return_outputs else loss

    def prediction_step(self, model: Any, inputs: Row, *_: Any, **__: Any) -> Any:
        with torch.no_grad():
            return self.compute_loss(model, inputs), None, None

    def _loss(self, model: Any, row: Row) -> Tensor:
        trunk = row["input_ids"]
        decision = Decision(
            row["start"], self._selector.ids, row["chosen"], (row["action"], len(trunk))
        )
        network = self.accelerator.unwrap_model(model)
        return sft_loss(network, trunk, [decision], self._weight, self._alpha, self._tau).loss


class _Drawn(NamedTuple):
    """Of a draw at the rollout: log q, and L of the candidates that were not drawn."""

    log_q: Tensor
    others: Tensor


class SelectorGRPOTrainer(GRPOTrainer):
    """`library` are the set's texts, `gamma` weights the selection against the tokens; loss_type "sapo" gates it softly.

    Reward functions see the whole completion, the thought included.
    """

    def __init__(
        self,
        *arguments: Any,
        library: Sequence[str],
        gamma: float = 1.0,
        alpha: float = 1.0,
        tau: float = 1.0,
        **options: Any,
    ) -> None:
        self._drawn: dict[bool, dict[tuple[int, ...], _Drawn]] = {}  # of training, or of evaluation
        super().__init__(*arguments, rollout_func=self._roll_out, **options)
        self._selector = Selector(self.processing_class, library, alpha, tau)
        kind = Surrogate.SAPO if self.loss_type == "sapo" else Surrogate.GRPO
        self._policy = Policy(kind, gamma, clip_low=self.epsilon_low, clip_high=self.epsilon_high)

    def _roll_out(self, prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        """A thought drawn for each prompt, and the completion that the model goes on with."""
        network = self.accelerator.unwrap_model(self.model)
        drawn = self._drawn[bool(self.model.training)] = {}
        told: dict[str, Any] = {"prompt_ids": [], "completion_ids": [], "env_mask": []}
        known: dict[tuple[int, ...], Tensor] = {}  # a group has one prompt
        for prompt in map(self._selector.prompt, prompts):
            if tuple(prompt) not in known:
                known[tuple(prompt)] = self._scores(network, prompt)
            thought, draw = self._draw(known[tuple(prompt)])
            drawn[(*prompt, *thought)] = draw
            acted = self._act(network, [*prompt, *thought], len(thought))
            told["prompt_ids"].append(prompt)
            told["completion_ids"].append([*thought, *acted])
            told["env_mask"].append([0] * len(thought) + [1] * len(acted))
        return told | {"logprobs": None}

    @torch.no_grad()
    def _scores(self, network: Any, prompt: Sequence[int]) -> Tensor:
        branches = [Branch(len(prompt), ids) for ids in self._selector.ids]
        found = log_probs(network, prompt, branches, asked=())
        return scores(found.branches, self._selector.alpha)

    def _draw(self, scores: Tensor) -> tuple[tuple[int, ...], _Drawn]:
        own = self._selector
        chances = log_q(scores, own.tau)
        place = int(torch.multinomial(chances.exp(), 1))
        return own.ids[place], _Drawn(chances[place], competitors(scores, place, own.tau))

    @torch.no_grad()
    def _act(self, network: Any, ids: Sequence[int], injected: int) -> list[int]:
        before = torch.tensor([ids], device=network.device)
        found = network.generate(
            before,
            attention_mask=torch.ones_like(before),
            max_new_tokens=max(1, self.max_completion_length - injected),
            do_sample=True,
            temperature=self.temperature,
            pad_token_id=self._tokenizer.pad_token_id,
        )
        return found[0, len(ids) :].tolist()

    def _compute_loss(self, model: Any, inputs: Any) -> Tensor:
        network = self.accelerator.unwrap_model(model)
        terms = [
            self._gain(network, prompt[seen.bool()].tolist(), completion.tolist(), float(advantage))
            for prompt, seen, completion, advantage in zip(
                inputs["prompt_ids"],
                inputs["prompt_mask"],
                inputs["completion_ids"],
                inputs["advantages"],
                strict=True,
            )
        ]
        selection = -self._policy.gamma * torch.stack(terms).mean()
        steps = self.current_gradient_accumulation_steps if model.training else 1
        return super()._compute_loss(model, inputs) + selection / steps

    def _gain(
        self, network: Any, prompt: Sequence[int], completion: Sequence[int], advantage: float
    ) -> Tensor:
        own = self._selector
        ids = own.ids[own.place_in(completion)]
        drawn = self._drawn[bool(self.model.training)][(*prompt, *ids)]
        found = log_probs(network, prompt, [Branch(len(prompt), ids)], asked=())
        (score,) = scores(found.branches, own.alpha)
        now = log_q_against(score, drawn.others, own.tau)
        return gains(self._policy, now - drawn.log_q, advantage)


def _as_they_are(rows: Sequence[Row]) -> dict[str, Any]:
    return {"rows": list(rows)}
