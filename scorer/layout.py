"""Where each token of a context stands: ids, the pictures among them, and positions.

Pure bookkeeping, no model runs here. Text counts up by one on all three axes; pictures are counted by vision.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..data.errors import PictureMismatch
from .vision import Eyes, Picture


@dataclass(frozen=True, eq=False)
class Placed:
    """A picture on the tokens [start, stop); text goes on behind it at position `following`."""

    picture: Picture
    start: int
    stop: int
    positions: np.ndarray  # (3, stop - start)
    following: int


class Layout:
    """Grows at the end and is cut there; positions follow from what is in it, never from what was."""

    def __init__(self, eyes: Eyes | None) -> None:
        self.ids: list[int] = []
        self.pictures: list[Placed] = []
        self._eyes = eyes
        self._made: set[int] = set()  # places of tokens that a model made

    @property
    def next_position(self) -> int:
        """Where a token after the last one stands, on every axis."""
        return len(self.ids) + self._shift(len(self.pictures))

    def add(self, ids: Sequence[int], pictures: Sequence[Picture] = ()) -> None:
        """Add tokens, and the pictures that the picture tokens among them stand for, in order.

        PictureMismatch, with nothing added, where they do not fit.
        """
        new = [int(token) for token in ids]
        if self._eyes is None:
            if pictures:
                raise PictureMismatch("pictures were given to a model that reads text alone")
        else:
            runs = _runs(new, self._eyes.token)
            _require_fit(self._eyes, pictures, runs)
            for picture, (start, stop) in zip(pictures, runs, strict=True):
                self._place(self._eyes, picture, len(self.ids) + start, len(self.ids) + stop)
        self.ids.extend(new)

    def add_text(self, ids: Sequence[int]) -> None:
        """Add tokens that a model made: a picture token among them stands for no picture."""
        self._made.update(range(len(self.ids), len(self.ids) + len(ids)))
        self.ids.extend(int(token) for token in ids)

    def cut(self, length: int) -> None:
        """Forget all tokens from `length` on. ValueError inside a picture."""
        for placed in self.pictures:
            if placed.start < length < placed.stop:
                raise ValueError(
                    f"cannot cut at {length}: a picture stands on tokens {placed.start} to {placed.stop - 1}"
                )
        del self.ids[length:]
        self.pictures = [placed for placed in self.pictures if placed.stop <= length]
        self._made = {place for place in self._made if place < length}

    def positions(self, start: int, stop: int) -> np.ndarray:
        """(3, stop - start): time, height and width of each token; for text all three are equal."""
        every = np.tile(np.arange(start, stop), (3, 1))
        for number, placed in enumerate(self.pictures, 1):
            low, high = (min(max(at, start), stop) for at in (placed.start, placed.stop))
            every[:, low - start : high - start] = placed.positions[
                :, low - placed.start : high - placed.start
            ]
            every[:, high - start :] = np.arange(high, stop) + self._shift(number)
        return every

    def is_made(self, place: int) -> bool:
        """Whether a model made the token there."""
        return place in self._made

    def spans(self, stop: int) -> tuple[tuple[int, int], ...]:
        """[start, stop) of each picture's tokens among the first `stop`."""
        return tuple((p.start, min(p.stop, stop)) for p in self.within(0, stop))

    def within(self, start: int, stop: int) -> list[Placed]:
        """The pictures with tokens in [start, stop)."""
        return [p for p in self.pictures if p.start < stop and start < p.stop]

    def _place(self, eyes: Eyes, picture: Picture, start: int, stop: int) -> None:
        position = start + self._shift(len(self.pictures))
        following = position + eyes.span(picture)
        positions = eyes.positions(picture, position)
        self.pictures.append(Placed(picture, start, stop, positions, following))

    def _shift(self, pictures: int) -> int:
        """Position less index, of text after the first `pictures` pictures."""
        if not pictures:
            return 0
        last = self.pictures[pictures - 1]
        return last.following - last.stop


def _runs(ids: Sequence[int], token: int) -> list[tuple[int, int]]:
    """[start, stop) of each run of `token`."""
    inside = np.array([-1, *ids, -1]) == token
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _require_fit(eyes: Eyes, pictures: Sequence[Picture], runs: Sequence[tuple[int, int]]) -> None:
    if len(runs) != len(pictures):
        raise PictureMismatch(
            f"the tokens have places for {len(runs)} pictures, and {len(pictures)} came with them"
        )
    for number, (picture, (start, stop)) in enumerate(zip(pictures, runs, strict=True), 1):
        if eyes.count(picture) != stop - start:
            raise PictureMismatch(
                f"picture {number} of grid {picture.grid} takes {eyes.count(picture)} tokens; its place has {stop - start}"
            )
