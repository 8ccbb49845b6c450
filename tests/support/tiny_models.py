"""Real transformers networks with few random weights, and a tokenizer with one token a byte."""

from functools import cache
from types import SimpleNamespace

import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from forethought.scorer.model import LanguageModel, wrap

FAMILIES = {
    "llama": (LlamaConfig, LlamaForCausalLM),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
}
DTYPES = {"float32": torch.float32, "float64": torch.float64}
TOLERANCE = {"float32": 2e-5, "float64": 1e-11}
VOCABULARY = 257  # bytes, and an end token
END = 256
SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "eos_token_id": END,
    "pad_token_id": END,
    "bos_token_id": None,
    "initializer_range": 0.3,  # wide enough that attention looks somewhere
}


class ByteTokenizer:
    """Ids are UTF-8 bytes."""

    def __call__(self, text, **_options):
        return SimpleNamespace(input_ids=list(text.encode()))

    def decode(self, ids, **_options):
        return bytes(i for i in ids if i != END).decode("utf-8", "replace")


@cache
def tiny_model(family: str = "llama", dtype: str = "float32", seed: int = 0) -> LanguageModel:
    """The same weights in either dtype."""
    return wrap(tiny_network(family, seed).to(DTYPES[dtype]), ByteTokenizer(), family, str(seed))


def tiny_network(family: str = "llama", seed: int = 0, **changes):
    config, network = FAMILIES[family]
    torch.manual_seed(seed)
    return network(config(**SHAPE | changes))
