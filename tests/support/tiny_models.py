"""Real transformers networks with few random weights, and a tokenizer with one token a byte."""

from functools import cache
from types import SimpleNamespace

import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3_5ForCausalLM,
    Qwen3_5TextConfig,
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
HALVES = {
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}  # held to an oracle, not a tolerance
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
    """The same weights in any dtype."""
    network = tiny_network(family, seed).to((DTYPES | HALVES)[dtype])
    return wrap(network, ByteTokenizer(), family, str(seed))


@cache
def rounded_model(family: str, dtype: str, seed: int = 0) -> LanguageModel:
    """The oracle of a half: its very weights, computed with in float32."""
    network = tiny_network(family, seed).to(HALVES[dtype]).float()
    return wrap(network, ByteTokenizer(), family, str(seed))


def tiny_network(family: str = "llama", seed: int = 0, **changes):
    config, network = FAMILIES[family]
    torch.manual_seed(seed)
    return network(config(**SHAPE | changes))


def sliding_network():
    """Gemma-like: most layers see a window that is shorter than any context worth sharing."""
    kinds = ["sliding_attention", "sliding_attention", "full_attention"]
    torch.manual_seed(0)
    return Gemma3ForCausalLM(Gemma3TextConfig(**SHAPE, sliding_window=4, layer_types=kinds))


def hybrid_network():
    """Qwen3.5-like: most layers keep a recurrent state instead of keys and values."""
    kinds = ["linear_attention", "linear_attention", "full_attention"]
    heads = {"linear_num_key_heads": 2, "linear_num_value_heads": 2}
    widths = {"linear_key_head_dim": 8, "linear_value_head_dim": 8}
    torch.manual_seed(0)
    return Qwen3_5ForCausalLM(Qwen3_5TextConfig(**SHAPE, **heads, **widths, layer_types=kinds))
