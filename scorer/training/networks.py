"""Networks that can be taught: loaded as they are, with gradients, their attention transformers' own."""

import torch

from ...data.errors import ModelUnavailable
from .. import packaged
from ..checkpoint import Checkpoint, located, read_checkpoint


def trainable(path: str | None = None) -> Checkpoint:
    """The packaged SmolLM2, or what lies at a folder or hub id, in float32. ModelUnavailable where it cannot be had, or not taught."""
    place = str(packaged.packaged_folder()) if path is None else located(path)
    found = read_checkpoint(place, torch.float32)
    if hasattr(found.network.config, "vision_config"):
        raise ModelUnavailable(
            f"{path}: a model that sees is trained by a trainer of its own; export the set (--to trl-sft, --to verl-sft)"
        )
    if any(hasattr(one, "quantization_config") for one in (found.network, found.network.config)):
        raise ModelUnavailable(f"{path}: a quantized model cannot be trained; take the whole one")
    return found
