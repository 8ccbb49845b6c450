"""Engines of verl, OpenRLHF and ms-swift that say what they are told to, and know likelihoods by a tiny network."""

from types import SimpleNamespace

import torch
from tiny_models import tiny_network
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}{{ m.content }}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def chat_tokenizer():
    """A token a byte, and two that open and end a turn."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({one: i for i, one in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        additional_special_tokens=["<|im_start|>"],
        chat_template=TEMPLATE,
    )


class Engine:
    """Says what it is told to, one action a turn, and knows every token's log-probability by a tiny network."""

    def __init__(self, *actions):
        self.tokenizer = chat_tokenizer()
        self.network = tiny_network(vocab_size=258).double()
        self.said = [
            [*self.tokenizer(action).input_ids, self.tokenizer.eos_token_id] for action in actions
        ]
        self.contexts = []  # before each action

    def log_probs(self, ids):
        """(T - 1,) of all tokens but the first."""
        ids = torch.tensor([ids])
        rows = self.network(ids).logits[0, :-1].log_softmax(-1)
        return rows.gather(-1, ids[0, 1:, None])[:, 0]

    @torch.no_grad()
    def prompt_log_probs(self, ids):
        return self.log_probs(ids).tolist()

    def act(self, ids):
        """The next action's tokens, and their log-probabilities."""
        self.contexts.append(list(ids))
        said = self.said[len(self.contexts) - 1]
        return said, self.prompt_log_probs([*ids, *said])[-len(said) :]


def vllm_entries(ids, values):
    return [{i: SimpleNamespace(logprob=value)} for i, value in zip(ids, values, strict=True)]


class OpenRLHFEngine(Engine):
    async def generate(self, ids, params, multi_modal_data=None):
        if params.prompt_logprobs is not None:
            assert params.skip_reading_prefix_cache and params.temperature == 1.0
            return SimpleNamespace(
                prompt_logprobs=[None, *vllm_entries(ids[1:], self.prompt_log_probs(ids))]
            )
        said, known = self.act(ids)
        output = SimpleNamespace(
            token_ids=said,
            text=self.tokenizer.decode(said),
            finish_reason="stop",
            logprobs=vllm_entries(said, known),
        )
        return SimpleNamespace(outputs=[output])


class VerlServer(Engine):
    async def generate(self, request_id, *, prompt_ids, sampling_params, **media):
        if "prompt_logprobs" in sampling_params:
            told = [[one] for one in self.prompt_log_probs(prompt_ids)] + [[0.0]]
            return SimpleNamespace(token_ids=[0], extra_fields={"prompt_logprobs": told})
        said, known = self.act(prompt_ids)
        return SimpleNamespace(
            token_ids=said,
            log_probs=known,
            num_preempted=None,
            routed_experts=None,
            extra_fields={},
        )


class SwiftEngine(Engine):
    """Of ms-swift's engine, what the hook asks of it; the template goes on from an assistant's tokens."""

    @property
    def template(self):
        return self

    def set_mode(self, mode):
        assert mode == "vllm"

    def _get_response_prefix(self, inputs):
        return ""

    def encode(self, request, return_template_inputs):
        ids = []
        for message in request.messages:
            content = message["content"]
            ids += self.tokenizer(f"<|im_start|>{message['role']}\n").input_ids
            ids += content if isinstance(content, list) else self.tokenizer(content).input_ids
            if message["role"] == "user":
                ids += self.tokenizer("<|im_end|>\n").input_ids
        ids += (
            []
            if message["role"] == "assistant"
            else self.tokenizer("<|im_start|>assistant\n").input_ids
        )
        return {"input_ids": ids}

    def _prepare_generation_config(self, config):
        return SimpleNamespace(
            prompt_logprobs=config.prompt_logprobs, temperature=config.temperature
        )

    async def _get_grpo_lora_request_async(self, adapter):
        return None

    async def _add_request(self, inputs, params, request_id, adapter_request=None):
        assert (params.prompt_logprobs, params.temperature) == (0, 1.0)
        ids = inputs["input_ids"]
        yield SimpleNamespace(
            prompt_logprobs=[None, *vllm_entries(ids[1:], self.prompt_log_probs(ids))]
        )

    async def infer_async(self, request, config):
        said, known = self.act(self.encode(request, True)["input_ids"])
        response, choice, message = self.answers
        text = self.tokenizer.decode(said, skip_special_tokens=True)
        logprobs = {"content": [{"logprob": one} for one in known]}
        made = choice(0, message("assistant", text), "stop", logprobs=logprobs, token_ids=said)
        return response(model="tiny", choices=[made], usage=None)
