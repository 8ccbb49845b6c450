"""A causal language model as the scorer calls it: token ids and sights in, hidden states and logits out.

Knows transformers; knows nothing of traces, candidates or caches of keys and values (see context.py). The model is
never asked to work positions out: they are always handed in, since its own memory of them goes stale.
Dimension letters, here and in the other files of this folder:
    S context tokens   U new tokens in one forward   H hidden width   V vocabulary
    A query heads      B key/value heads (A is a multiple of B)       D width of one head
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoTokenizer,
)
from transformers.utils import logging as transformers_logging

from ..data.errors import ModelUnavailable
from . import packaged
from .attention import IMPLEMENTATION, Plan
from .memory import reporting_memory
from .vision import Eyes, Features, Picture, read_image_processor

TEXT_FAMILIES = ("llama", "qwen2", "qwen3")
VISION_FAMILIES = ("qwen2_5_vl", "qwen3_vl")
FAMILIES = TEXT_FAMILIES + VISION_FAMILIES
DTYPES = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


class Sight(NamedTuple):
    """Features that stand in the place of a forward's tokens from `start` on."""

    start: int
    features: Features


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A loaded model, ready for inference. Make one with `load_model`, or `wrap` around a network at hand.

    `network` is the transformers model (eval mode, no gradients); `revision` changes when the weights do.
    `eyes` is None for a model that reads text alone.
    """

    network: Any
    tokenizer: Any
    name: str
    revision: str
    eyes: Eyes | None = None

    @property
    def config(self) -> Any:
        """The language side's own."""
        return self.network.config.get_text_config()

    @property
    def dtype(self) -> torch.dtype:
        return self.network.dtype

    @property
    def device(self) -> torch.device:
        return self.network.device

    @property
    def width(self) -> int:
        return self.config.hidden_size

    @property
    def num_layers(self) -> int:
        return self.config.num_hidden_layers

    @property
    def num_key_heads(self) -> int:
        return self.config.num_key_value_heads

    @property
    def head_width(self) -> int:
        config = self.config
        return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads

    @property
    def most_positions(self) -> int | None:
        return getattr(self.config, "max_position_embeddings", None)

    def require_known(self, ids: Sequence[int]) -> None:
        """ValueError for an id that the model has no embedding for."""
        rows = self.network.get_input_embeddings().num_embeddings
        if len(ids) and not 0 <= min(ids) <= max(ids) < rows:
            raise ValueError(f"token ids run from 0 to {rows - 1}; found {min(ids)} to {max(ids)}")

    def encode(self, text: str) -> list[int]:
        """The ids of `text` alone: nothing is added, and special tokens written in it stay plain text."""
        valid = text.encode("utf-8", "replace").decode()  # a lone surrogate is no text
        return self.tokenizer(valid, add_special_tokens=False, split_special_tokens=True).input_ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, special tokens included."""
        return self.tokenizer.decode(
            list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
        )

    def look(self, picture: Picture) -> Features:
        """What this model reads in the place of the picture's tokens."""
        assert self.eyes is not None, "layout.py lets no picture through to a model without eyes"
        with reporting_memory(f"looking at a picture of {len(picture.patches)} patches"):
            return self.eyes.features(picture)

    @torch.inference_mode()
    def hidden(
        self,
        ids: Sequence[int] | np.ndarray | Tensor,
        positions: np.ndarray | Tensor,
        plan: Plan,
        sights: Sequence[Sight] = (),
    ) -> Tensor:
        """Last hidden states (U, H) of `ids` at `positions` (3, U), where attention is what `plan` says."""
        places = torch.as_tensor(positions, device=self.device)
        with reporting_memory(f"a forward of {len(ids)} tokens"):
            output = self._text_network(
                position_ids=places[:, None] if self.eyes else places[:1],  # (3, 1, U) or (1, U)
                attention_mask=torch.zeros(1, 1, 1, 1, device=self.device),  # 4-D: handed on as is
                use_cache=False,
                plan=plan,
                **self._inputs(ids, sights),
            )
        return output.last_hidden_state[0]

    @torch.inference_mode()
    def logits(self, hidden: Tensor) -> Tensor:
        """Next-token logits (R, V) of hidden states (R, H), in float32 or better."""
        with reporting_memory(f"the logits of {len(hidden)} tokens"):
            logits = self.network.get_output_embeddings()(hidden)
        return logits if logits.dtype == torch.float64 else logits.float()

    @property
    def _text_network(self) -> Any:
        return self.network.model.language_model if self.eyes else self.network.base_model

    def _inputs(
        self, ids: Sequence[int] | np.ndarray | Tensor, sights: Sequence[Sight]
    ) -> dict[str, Any]:
        """Tokens as transformers' text models take them, with what is seen in the place of some."""
        tokens = torch.as_tensor(ids, device=self.device)[None]  # (1, U)
        if not sights:
            return {"input_ids": tokens}
        embeddings = self.network.get_input_embeddings()(tokens)  # (1, U, H)
        seen = torch.zeros_like(tokens, dtype=torch.bool)
        for start, features in sights:
            stop = start + len(features.embeddings)
            embeddings[0, start:stop] = features.embeddings
            seen[0, start:stop] = True
        layers = zip(*(features.layers for _, features in sights), strict=True)
        deep = [torch.cat(layer) for layer in layers]
        if not deep:
            return {"inputs_embeds": embeddings}
        return {
            "inputs_embeds": embeddings,
            "visual_pos_masks": seen,
            "deepstack_visual_embeds": deep,
        }


def load_model(path: str | None = None, dtype: str = "float32") -> LanguageModel:
    """The packaged SmolLM2 if `path` is None, else a folder or a hub id. ModelUnavailable if it cannot be had."""
    if dtype not in DTYPES:
        raise ModelUnavailable(f"unknown dtype {dtype!r}; use one of {', '.join(DTYPES)}")
    transformers_logging.disable_progress_bar()
    if path is None:
        folder = str(packaged.packaged_folder())
        network, tokenizer, _ = _read(folder, dtype)
        return wrap(network, tokenizer, packaged.NAME, packaged.SHA256)
    _require_place(path)
    network, tokenizer, image_processor = _read(path, dtype)
    name = Path(path).name if Path(path).is_dir() else path
    return wrap(network, tokenizer, name, _revision(path, network.config), image_processor)


def wrap(
    network: Any, tokenizer: Any, name: str, revision: str, image_processor: Any = None
) -> LanguageModel:
    """A LanguageModel around a transformers network; the attention of its language side is switched to ours."""
    _require_supported(network.config, name)
    if network.get_output_embeddings() is None:
        raise ModelUnavailable(f"{name} has no output layer, so it predicts no tokens")
    sees = hasattr(network.config, "vision_config")
    network.set_attn_implementation({"text_config": IMPLEMENTATION} if sees else IMPLEMENTATION)
    network.eval().requires_grad_(requires_grad=False)
    if network.dtype == torch.float64:
        _keep_norms_in_float64(network)
    eyes = Eyes(network, image_processor) if sees else None
    return LanguageModel(network, tokenizer, name, revision, eyes)


def _read(path: str, dtype: str) -> tuple[Any, Any, Any]:
    """The network, tokenizer and image processor (or None) at `path`; the config is judged before gigabytes are read."""
    try:
        config = AutoConfig.from_pretrained(path, trust_remote_code=False)
        _require_supported(config, path)
        sees = hasattr(config, "vision_config")
        kind = AutoModelForImageTextToText if sees else AutoModelForCausalLM
        network = kind.from_pretrained(
            path, config=config, dtype=DTYPES[dtype], trust_remote_code=False
        )
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
        return network, tokenizer, read_image_processor(path) if sees else None
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelUnavailable(f"cannot load a model from {path!r}: {reason}") from error


def _require_place(path: str) -> None:
    place = Path(path).expanduser()
    if place.is_dir():
        if not (place / "config.json").is_file():
            raise ModelUnavailable(f"{path} holds no model: it has no config.json")
    elif place.exists():
        raise ModelUnavailable(f"{path} is a file; pass the model's folder, or a hub id")
    elif path.count("/") != 1 or path.startswith((".", "~", os.sep)):
        raise ModelUnavailable(
            f"no model at {path!r}: no such folder; pass a folder, or a hub id like org/name"
        )


def _require_supported(config: Any, name: str) -> None:
    """Refuse what the shared-context scorer would get wrong in silence."""
    if config.model_type not in FAMILIES:
        raise ModelUnavailable(
            f"{name}: models of type {config.model_type!r} are not supported (only {', '.join(FAMILIES)})"
        )
    text = config.get_text_config()
    kinds = set(getattr(text, "layer_types", None) or ()) - {"full_attention"}
    if kinds:
        raise ModelUnavailable(
            f"{name}: layers with {', '.join(sorted(kinds))} cannot share one context among candidates"
        )
    rope = (getattr(text, "rope_parameters", None) or {}).get("rope_type", "default")
    if rope in ("dynamic", "longrope"):
        raise ModelUnavailable(
            f"{name}: {rope!r} positions change with the length, so a context's keys cannot be kept"
        )


def _keep_norms_in_float64(network: Any) -> None:
    """transformers computes its norms in float32 whatever the model's dtype, which float64 checks would see."""
    for module in network.modules():
        if type(module).__name__.endswith("RMSNorm"):
            module.forward = partial(_rms_norm, module)


def _rms_norm(module: Any, hidden: Tensor) -> Tensor:
    return torch.nn.functional.rms_norm(
        hidden, module.weight.shape, module.weight, module.variance_epsilon
    )


def _revision(path: str, config: Any) -> str:
    """The hub's commit, or a digest of the folder's config and of its weight files' sizes, heads and tails."""
    commit = getattr(config, "_commit_hash", None)
    if commit:
        return commit
    digest = hashlib.sha256((Path(path) / "config.json").read_bytes())
    for file in sorted(Path(path).glob("*.safetensors")) + sorted(Path(path).glob("*.bin")):
        size = file.stat().st_size
        digest.update(f"{file.name} {size}\n".encode())
        with file.open("rb") as handle:
            digest.update(handle.read(1 << 20))
            handle.seek(max(0, size - (1 << 20)))
            digest.update(handle.read())
    return digest.hexdigest()
