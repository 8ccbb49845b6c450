"""ms-swift's rollout, selecting: before each action a thought of this export's set is drawn by its likelihood and put in.

    swift rollout --external_plugins ssr_scheduler.py --multi_turn_scheduler ssr_select --vllm_use_async_engine true

`tools.py` beside this file runs the calls; its reward is `--reward_funcs ssr_answer`. The thought has loss mask 0; what a loss over selections
needs travels as `rollout_infos["ssr"]`:

    set, alpha, tau    of the row's `extra_info`
    turns              candidate, start and stop in that turn's response_token_ids, scores, log_q, others (L)

Written for ms-swift 4.6.0, in server mode (a colocated engine does not call `run`). vLLM computes the context anew for each candidate, as
it does wherever prompt_logprobs are asked for.
"""

import asyncio
import json
import math
import random
import re
import runpy
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from swift.infer_engine.protocol import RequestConfig, RolloutInferRequest, RolloutOutput
from swift.rewards.orm import ORM, orms
from swift.rollout.multi_turn import MultiTurnScheduler, multi_turns
from swift.utils import remove_response

HERE = Path(__file__).parent
MOST_TURNS = 8  # unless --max_turns says otherwise
SCORING = RequestConfig(max_tokens=1, temperature=1.0, prompt_logprobs=0)


class Candidates(NamedTuple):
    """A set: each text's tokens, delimiters included, in the order of the file, which settles ties."""

    names: tuple[str, ...]
    ids: tuple[tuple[int, ...], ...]
    hash: str


class Drawn(NamedTuple):
    """A selection: whose, log q(z | h), and the log-sum-exp of the other candidates' S / tau."""

    place: int
    log_q: float
    others: float


def read_set(
    path: Path, encode: Callable[[str], Sequence[int]], hash: str | None = None
) -> Candidates:
    """The set of an export. ValueError where it is not the one of this `hash`, or leaves nothing to select."""
    entries = json.loads(path.read_text("utf-8"))["entries"]
    found = sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
    if hash not in (None, found):
        raise ValueError(
            f"{path}: the rows were exported with another set ({hash[:12]}, not {found[:12]}); export both again"
        )
    if len(entries) < 2:
        raise ValueError(f"{path}: {len(entries)} candidates leave nothing to select")
    ids = tuple(tuple(encode(f"<thinking>{one['text']}</thinking>")) for one in entries.values())
    return Candidates(tuple(entries), ids, found)


def score(log_probs: Sequence[float], alpha: float) -> float:
    """S of a candidate's token log-probabilities at temperature 1."""
    return math.fsum(log_probs) / len(log_probs) ** alpha


def log_sum_exp(values: Sequence[float]) -> float:
    most = max(values)
    return most + math.log(math.fsum(math.exp(value - most) for value in values))


def select(scores: Sequence[float], tau: float, point: float | None) -> Drawn:
    """Where `point`, uniform in [0, 1), falls in softmax(scores / tau); None takes the first of the highest."""
    scaled = [value / tau for value in scores]
    total = log_sum_exp(scaled)
    if point is None:
        place = scaled.index(max(scaled))
    else:
        reached = list(accumulate(math.exp(value - total) for value in scaled))
        place = min(bisect_right(reached, point * reached[-1]), len(scaled) - 1)
    others = log_sum_exp([*scaled[:place], *scaled[place + 1 :]])
    return Drawn(place, scaled[place] - total, others)


def turn_record(
    own: Candidates, scores: Sequence[float], drawn: Drawn, start: int
) -> dict[str, Any]:
    """What a trainer needs of a turn; the thought stands in [start, stop), tokens that are not trained one by one."""
    return {
        "candidate": own.names[drawn.place],
        "start": start,
        "stop": start + len(own.ids[drawn.place]),
        "scores": list(scores),
        "log_q": drawn.log_q,
        "others": drawn.others,
    }


def log_q_now(log_probs: Any, record: Mapping[str, Any]) -> Any:
    """(turns,) log q(z | h) under the weights as they are, with gradients, from a run's token log-probabilities (T,).

    At temperature 1, in which the spans are counted. The ratio of turn t is exp(this[t] - log_q[t]).
    """
    import torch

    found = []
    for turn in record["turns"]:
        own = log_probs[turn["start"] : turn["stop"]]
        scaled = own.sum() / len(own) ** record["alpha"] / record["tau"]
        found.append(scaled - torch.logaddexp(scaled, scaled.new_tensor(turn["others"])))
    return torch.stack(found)


CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
MARKUP = re.compile(r"<(?=\||(?:image|video|audio)>|/?tool_response>)")


def call_in(text: str) -> dict[str, Any] | None:
    """The call that an action is, with `name` and `arguments`; None for an answer, and for anything else."""
    call, answer = CALL.search(text), text.find("<answer>")
    if call is None or 0 <= answer < call.start():
        return None
    try:
        found = json.loads(call[1])
        return {"name": str(found["name"]), "arguments": dict(found.get("arguments") or {})}
    except (ValueError, KeyError, TypeError):
        return None


def observation(told: str) -> str:
    """A tool's words as the export writes them; what a model would take for its markup is made plain."""
    return f"<tool_response>\n{MARKUP.sub(chr(0xFF1C), told)}\n</tool_response>"


class SSRScheduler(MultiTurnScheduler):
    """Plays runs of at most `--max_turns` turns."""

    async def run(
        self, infer_request: RolloutInferRequest, request_config: RequestConfig, **kwargs: Any
    ) -> RolloutOutput:
        """ValueError where the row was exported with another set."""
        info = (infer_request.data_dict or {}).get("extra_info") or {}
        own = read_set(HERE / "reasoning_library.json", self._encode, info.get("library_sha256"))
        record = {
            "set": own.hash,
            "alpha": info.get("alpha", 1.0),
            "tau": info.get("tau", 1.0),
            "turns": [],
        }
        call_tool = runpy.run_path(str(HERE / "tools.py"))["call"]
        messages = infer_request.messages
        remove_response(messages)
        ids, masks, log_probs = [], [], []
        most = self.max_turns or MOST_TURNS
        for turn in range(1, most + 1):
            before = await self._select(infer_request, request_config, own, record)
            messages.append({"role": "assistant", "content": before})
            response = await self.infer_engine.infer_async(infer_request, request_config, **kwargs)
            choice = response.choices[0]
            ids.append([*before, *choice.token_ids])
            masks.append([0] * len(before) + [1] * len(choice.token_ids))
            log_probs.append(self._extract_logprobs_from_choice(choice))
            messages[-1]["content"] = ids[-1]
            call = call_in(choice.message.content)
            if call is None or turn == most or choice.finish_reason == "length":
                break
            told = await call_tool(call["name"], call["arguments"])
            messages.append({"role": "user", "content": observation(told)})
        said = self.tokenizer.decode(choice.token_ids, skip_special_tokens=True)
        messages[-1]["content"] = self.tokenizer.decode(before) + said
        return RolloutOutput(
            response=response,
            messages=messages,
            response_token_ids=ids,
            response_loss_mask=masks,
            rollout_infos={"num_turns": turn, "ssr": record},
            rollout_logprobs=log_probs if all(log_probs) else [],
        )

    async def _select(
        self,
        infer_request: RolloutInferRequest,
        config: RequestConfig,
        own: Candidates,
        record: dict[str, Any],
    ) -> list[int]:
        """Draw a thought after the run so far; its tokens, after those that the template lets every response begin with."""
        template = self.infer_engine.template
        template.set_mode("vllm")
        inputs = await asyncio.get_running_loop().run_in_executor(
            None, template.encode, infer_request, True
        )
        found = await asyncio.gather(*[self._log_probs(inputs, ids) for ids in own.ids])
        scores = [score(one, record["alpha"]) for one in found]
        drawn = select(scores, record["tau"], None if config.temperature == 0 else random.random())
        ids = list(own.ids[drawn.place])
        begun, _ = self.get_response_token_data(
            infer_request, None, response_token_ids=ids, response_loss_mask=[0] * len(ids)
        )
        record["turns"].append(turn_record(own, scores, drawn, len(begun) - len(ids)))
        return begun

    async def _log_probs(self, inputs: Mapping[str, Any], ids: Sequence[int]) -> list[float]:
        """Of vLLM itself, since the engine's answers leave log-probabilities of the prompt out."""
        engine = self.infer_engine
        asked = {**inputs, "input_ids": [*inputs["input_ids"], *ids]}
        params = engine._prepare_generation_config(SCORING)
        adapter = await engine._get_grpo_lora_request_async(None)
        answers = engine._add_request(asked, params, uuid4().hex, adapter_request=adapter)
        told = [one async for one in answers][-1]
        return [
            one[i].logprob for i, one in zip(ids, told.prompt_logprobs[-len(ids) :], strict=True)
        ]

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]


class Answered(ORM):
    """The reward of `tools.py`, by the row's `reward_model`."""

    def __call__(
        self, completions: Sequence[str], reward_model: Sequence[Any], **kwargs: Any
    ) -> list[float]:
        reward = runpy.run_path(str(HERE / "tools.py"))["reward"]
        return [
            reward(text, known["ground_truth"])
            for text, known in zip(completions, reward_model, strict=True)
        ]


multi_turns["ssr_select"] = SSRScheduler
orms["ssr_answer"] = Answered
