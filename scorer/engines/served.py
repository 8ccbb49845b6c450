"""A served model as far as this process must know it: its tokenizer and configuration, none of its weights."""

from typing import Any, NamedTuple

import torch
from transformers import AutoConfig, GenerationConfig

from .. import packaged
from ..checkpoint import located, told_in_one_line
from ..model import LanguageModel, named
from ..tokenizer import keeping_tags, read_tokenizer

REVISION = "served"  # which weights they are, only the server knows


class Weightless(NamedTuple):
    """What stands in the network's place; `dtype` is the one that servers load the weights in by default."""

    config: Any
    dtype: torch.dtype
    generation_config: Any  # which tokens end what is said


def load_served(path: str | None = None) -> LanguageModel:
    """A model to tokenise with, of any family: the packaged SmolLM2, or the one at a folder or hub id."""
    place = str(packaged.packaged_folder()) if path is None else located(path)
    with told_in_one_line(place, "a tokenizer"):
        config = AutoConfig.from_pretrained(place, trust_remote_code=False)
        text = config.get_text_config()
        tokenizer = read_tokenizer(place, text.vocab_size)
    network = Weightless(config, text.dtype or torch.float32, _generation_config(place, config))
    name = packaged.NAME if path is None else named(place)
    return LanguageModel(network, keeping_tags(tokenizer), name, REVISION)


def _generation_config(place: str, config: Any) -> GenerationConfig:
    """The one beside the weights, or else what the configuration says of it: the one that a loaded model has."""
    try:
        return GenerationConfig.from_pretrained(place)
    except (OSError, TypeError):
        return GenerationConfig.from_model_config(config)
