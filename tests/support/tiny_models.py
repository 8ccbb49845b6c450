"""Real transformers networks with few random weights, and a tokenizer with one token a byte."""

from functools import cache
from types import SimpleNamespace

import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3_5ForCausalLM,
    Qwen3_5TextConfig,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
)

from forethought.scorer.model import LanguageModel, wrap
from forethought.scorer.vision import Picture

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
    "max_position_embeddings": 32768,
    "initializer_range": 0.3,  # wide enough that attention looks somewhere
}

VISION = {
    "qwen2_5_vl": (Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration),
    "qwen3_vl": (Qwen3VLConfig, Qwen3VLForConditionalGeneration),
}
IMAGE, IMAGE_START, IMAGE_END = 257, 258, 259  # ids behind the end token
PATCH = 3 * 2 * 4 * 4  # values of a patch: channels, frames, height, width
TOWER = {
    "depth": 3,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_heads": 4,
    "patch_size": 4,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": SHAPE["hidden_size"],
    "initializer_range": 0.3,
}
TOWERS = {
    "qwen2_5_vl": TOWER | {"window_size": 16, "fullatt_block_indexes": [1]},
    "qwen3_vl": TOWER | {"num_position_embeddings": 64, "deepstack_visual_indexes": [0, 1]},
}
ROTARY = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}


class ByteTokenizer:
    """Ids are UTF-8 bytes."""

    def __call__(self, text, **_options):
        return SimpleNamespace(input_ids=list(text.encode()))

    def decode(self, ids, **_options):
        return bytes(i for i in ids if i < END).decode("utf-8", "replace")


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
    torch.manual_seed(seed)
    if family in VISION:
        return _tiny_vision_network(family, changes)
    config, network = FAMILIES[family]
    return network(config(**SHAPE | changes))


def _tiny_vision_network(family: str, changes: dict):
    """A whole vision-language network; the vocabulary holds three picture tokens more."""
    config, network = VISION[family]
    text = SHAPE | {"vocab_size": VOCABULARY + 3, "rope_parameters": ROTARY} | changes
    tokens = {
        "image_token_id": IMAGE,
        "video_token_id": VOCABULARY + 3,  # outside: there are no videos
        "vision_start_token_id": IMAGE_START,
        "vision_end_token_id": IMAGE_END,
        "tie_word_embeddings": False,
    }
    return network(config(text_config=text, vision_config=TOWERS[family], **tokens))


def drawn_picture(height: int, width: int, seed: int = 0) -> Picture:
    """Random patches on a grid of height x width, both even."""
    generator = torch.Generator().manual_seed(seed)
    patches = torch.randn(height * width, PATCH, generator=generator)
    return Picture(patches, (1, height, width))


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
