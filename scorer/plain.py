"""The definition of a likelihood: one full forward over context and sequence, nothing shared, nothing kept.

Slow on purpose. Every faster way to score must agree with this one.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ..data.errors import ModelUnavailable, NothingToDo
from .layout import Layout
from .model import LanguageModel
from .vision import Picture


@torch.inference_mode()
def score_plainly(
    model: LanguageModel,
    context_ids: Sequence[int],
    sequences: Sequence[Sequence[int]],
    starts: Sequence[int] | None = None,
    pictures: Sequence[Picture] = (),
) -> tuple[np.ndarray, ...]:
    """For each sequence the natural log-probability of each of its tokens, float64, (tokens,).

    `pictures` are what the context's picture tokens stand for, in order. Tokens before `starts[i]` are given, not scored: their place holds NaN. An empty context predicts no
    first token (NothingToDo).
    """
    starts = checked_starts(len(context_ids), sequences, starts)
    for sequence in sequences:
        model.require_known(sequence)
    Layout(model.eyes).add(context_ids, pictures)  # refuses pictures that do not fit
    scored = []
    for sequence, start in zip(sequences, starts, strict=True):
        ids = torch.tensor([[*context_ids, *sequence]], device=model.device)  # (1, S + tokens)
        kept = len(sequence) - start + 1  # the rows that predict the scored tokens, and the end's
        logits = model.network(
            ids, use_cache=False, logits_to_keep=kept, **_seen(model, ids, pictures)
        ).logits[0, :-1]
        log_probs = logits.double().log_softmax(-1)  # (tokens - start, V)
        targets = ids[0, len(context_ids) + start :, None]
        own = log_probs.gather(-1, targets)[:, 0].cpu().numpy()
        scored.append(np.concatenate([np.full(start, np.nan), require_numbers(own)]))
    return tuple(scored)


def _seen(model: LanguageModel, ids: Tensor, pictures: Sequence[Picture]) -> dict[str, Tensor]:
    """Pictures as transformers takes them; it works positions and places out by itself, our Layout unseen."""
    if not pictures:
        return {}
    assert model.eyes is not None
    return {
        "pixel_values": torch.cat([picture.patches for picture in pictures]).to(model.device),
        "image_grid_thw": torch.tensor([p.grid for p in pictures], device=model.device),
        "mm_token_type_ids": (ids == model.eyes.token).int(),
    }


def checked_starts(
    length: int,
    sequences: Sequence[Sequence[int]],
    starts: Sequence[int] | None,
) -> tuple[int, ...]:
    """`starts`, or zeros; refused where a sequence has nothing to score or nothing to be scored from."""
    starts = tuple(starts) if starts is not None else (0,) * len(sequences)
    for sequence, start in zip(sequences, starts, strict=True):
        if not 0 <= start < len(sequence):
            raise ValueError(f"cannot score from token {start} of a sequence of {len(sequence)}")
        if length == 0 and start == 0:
            raise NothingToDo(
                "the context is empty, so no first token is predicted; give it some text"
            )
    return starts


def require_numbers(log_probs: np.ndarray) -> np.ndarray:
    """`log_probs` itself; ModelUnavailable if one is infinite or no number."""
    if not np.isfinite(log_probs).all():
        raise ModelUnavailable(
            "the model gave a probability that is no number; its weights are damaged, or its dtype overflows"
        )
    return log_probs


def totals(log_probs: Sequence[np.ndarray]) -> np.ndarray:
    """Summed log-probability of each sequence's scored tokens, float64, (sequences,)."""
    return np.array([np.nansum(own) for own in log_probs], dtype=np.float64)
