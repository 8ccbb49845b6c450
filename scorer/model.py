"""A causal language model as the scorer calls it: token ids and sights in, hidden states and logits out.

Knows transformers; knows nothing of traces, candidates or caches of keys and values (see context.py). The model is
never asked to work positions out: they are always handed in, since its own memory of them goes stale.
Dimension letters, here and in the other files of this folder:
    S context tokens   U new tokens in one forward   H hidden width   V vocabulary
    A query heads      B key/value heads (A is a multiple of B)       D width of one head
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..data.errors import ContextTooLong, ModelUnavailable
from . import packaged
from .attention import IMPLEMENTATION, Plan
from .checkpoint import located, read_checkpoint, require_supported, revision_of
from .memory import reporting_memory
from .tokenizer import keeping_tags
from .vision import Eyes, Features, Picture

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

    @property
    def ends(self) -> frozenset[int]:
        """The tokens that the model ends what it says with."""
        ends = self.network.generation_config.eos_token_id
        return frozenset(ends if isinstance(ends, list) else () if ends is None else (ends,))

    def require_room(self, position: int, tokens: int) -> None:
        """ContextTooLong if there are no positions for `tokens` more from `position` on."""
        most = self.most_positions
        if most is not None and position + tokens > most:
            raise ContextTooLong(
                f"{position} positions of context and {tokens} more are too many: {self.name} has {most}; "
                f"shorten the context or what follows it"
            )

    def require_known(self, ids: Sequence[int]) -> None:
        """ValueError for an id that the model has no embedding for."""
        rows = self.network.get_input_embeddings().num_embeddings
        if len(ids) and not 0 <= min(ids) <= max(ids) < rows:
            raise ValueError(f"token ids run from 0 to {rows - 1}; found {min(ids)} to {max(ids)}")

    def encode(self, text: str, *, special_tokens: bool = False) -> list[int]:
        """The ids of `text` alone: nothing is added, and special tokens written in it stay plain text unless asked for.

        The renderer's tags are the tokenizer's own tokens where it has them.
        """
        valid = text.encode("utf-8", "replace").decode()  # a lone surrogate is no text
        return self.tokenizer(
            valid, add_special_tokens=False, split_special_tokens=not special_tokens
        ).input_ids

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

    def fingerprint(self) -> str:
        """Changes when a weight of the network at hand does, however it was written: some 50 ms for 540 MB."""
        sums = [int(_bits(own).sum(dtype=torch.int64)) for own in self.network.parameters()]
        return blake2b(repr(sums).encode(), digest_size=16).hexdigest()

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


def load_model(
    path: str | None = None, dtype: str = "float32", device: str = "cpu"
) -> LanguageModel:
    """The packaged SmolLM2 if `path` is None, else a folder or a hub id. ModelUnavailable if it cannot be had."""
    if dtype not in DTYPES:
        raise ModelUnavailable(f"unknown dtype {dtype!r}; use one of {', '.join(DTYPES)}")
    place = str(packaged.packaged_folder()) if path is None else located(path)
    found = read_checkpoint(place, DTYPES[dtype])
    with reporting_memory(f"the weights of {place} on {device}"):
        network = found.network.to(device)
    if path is None:
        return wrap(network, found.tokenizer, packaged.NAME, packaged.SHA256)
    revision = revision_of(place, network.config)
    return wrap(network, found.tokenizer, named(place), revision, found.image_processor)


def named(place: str) -> str:
    """What a model at a folder or hub id is called."""
    return Path(place).resolve().name if Path(place).is_dir() else place


def wrap(
    network: Any, tokenizer: Any, name: str, revision: str, image_processor: Any = None
) -> LanguageModel:
    """A LanguageModel around a transformers network; the attention of its language side is switched to ours."""
    require_supported(network.config, name)
    if network.get_output_embeddings() is None:
        raise ModelUnavailable(f"{name} has no output layer, so it predicts no tokens")
    sees = hasattr(network.config, "vision_config")
    network.set_attn_implementation({"text_config": IMPLEMENTATION} if sees else IMPLEMENTATION)
    network.eval().requires_grad_(requires_grad=False)
    if network.dtype == torch.float64:
        _keep_norms_in_float64(network)
    eyes = Eyes(network, image_processor) if sees else None
    return LanguageModel(network, keeping_tags(tokenizer), name, revision, eyes)


def _keep_norms_in_float64(network: Any) -> None:
    """transformers computes its norms in float32 whatever the model's dtype, which float64 checks would see."""
    for module in network.modules():
        if type(module).__name__.endswith("RMSNorm"):
            module.forward = partial(_rms_norm, module)


def _rms_norm(module: Any, hidden: Tensor) -> Tensor:
    return torch.nn.functional.rms_norm(
        hidden, module.weight.shape, module.weight, module.variance_epsilon
    )


def _bits(weights: Tensor) -> Tensor:
    """The weights as whole numbers, whose sum is exact in any order."""
    flat = weights.detach().contiguous().view(-1)
    size = flat.element_size()
    is_aligned = flat.numel() * size % 8 == flat.storage_offset() * size % 8 == 0
    return flat.view(torch.int64 if is_aligned else torch.uint8)
