"""Networks that can be taught: loaded as they are, with gradients, their attention transformers' own."""

from pathlib import Path
from typing import Any

import torch

from ...data.errors import ModelUnavailable
from .. import packaged
from ..checkpoint import located, read_checkpoint
from ..tokenizer import read_tokenizer


def trainable(path: str | None = None, device: str = "cpu") -> Any:
    """The packaged SmolLM2, or the network at a folder or hub id, in float32. ModelUnavailable where it cannot be had."""
    network = read_checkpoint(_place(path), torch.float32).network
    if hasattr(network.config, "vision_config"):
        raise ModelUnavailable(
            f"{path}: a model that sees is trained by a trainer of its own; export the set (--to trl-sft, --to verl-sft)"
        )
    if hasattr(network, "quantization_config") or hasattr(network.config, "quantization_config"):
        raise ModelUnavailable(f"{path}: a quantized model cannot be trained; take the whole one")
    return network.to(device)


def save_tokenizer(path: str | None, folder: Path) -> None:
    """The model's own tokenizer beside trained weights."""
    place = _place(path)
    network_config = _vocabulary(place)
    read_tokenizer(place, network_config).save_pretrained(folder)


def _vocabulary(place: str) -> int:
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(place, trust_remote_code=False).get_text_config().vocab_size


def _place(path: str | None) -> str:
    return str(packaged.packaged_folder()) if path is None else located(path)
