"""A served model as far as this process must know it: its tokenizer and configuration, none of its weights."""

from typing import Any, NamedTuple

import torch
from transformers import AutoConfig

from .. import packaged
from ..checkpoint import located, told_in_one_line
from ..model import LanguageModel, named
from ..tokenizer import keeping_tags, read_tokenizer

REVISION = "served"  # which weights they are, only the server knows


class Weightless(NamedTuple):
    """What stands in the network's place; `dtype` is the one that servers load the weights in by default."""

    config: Any
    dtype: torch.dtype


def load_served(path: str | None = None) -> LanguageModel:
    """A model to tokenise with, of any family: the packaged SmolLM2, or the one at a folder or hub id."""
    place = str(packaged.packaged_folder()) if path is None else located(path)
    with told_in_one_line(place, "a tokenizer"):
        config = AutoConfig.from_pretrained(place, trust_remote_code=False)
        text = config.get_text_config()
        tokenizer = read_tokenizer(place, text.vocab_size)
    network = Weightless(config, text.dtype or torch.float32)
    name = packaged.NAME if path is None else named(place)
    return LanguageModel(network, keeping_tags(tokenizer), name, REVISION)
