"""A served model as far as this process must know it: its tokenizer and configuration, none of its weights."""

from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import AutoConfig, AutoTokenizer

from ...data.errors import ModelUnavailable
from .. import packaged
from ..model import LanguageModel

REVISION = "served"  # which weights they are, only the server knows


class Weightless(NamedTuple):
    """What stands in the network's place; `dtype` is the one that servers load the weights in by default."""

    config: Any
    dtype: torch.dtype


def load_served(path: str | None = None) -> LanguageModel:
    """A model to tokenise with, of any family: the packaged SmolLM2, or the one at a folder or hub id."""
    try:
        folder = path or str(packaged.packaged_folder())
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelUnavailable(f"cannot load a tokenizer from {path!r}: {reason}") from error
    network = Weightless(config, config.get_text_config().dtype or torch.float32)
    name = packaged.NAME if path is None else Path(path).name if Path(path).is_dir() else path
    return LanguageModel(network, tokenizer, name, REVISION)
