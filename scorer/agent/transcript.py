"""Pieces of a dialogue as a session's tokens, with pictures in their places. Knows no dialogue and no tool."""

from collections.abc import Sequence

from PIL.Image import Image

from ...data.errors import PictureMismatch
from ..model import LanguageModel
from ..vision import Picture
from .dialogue import Pieces
from .session import Session
from .tools import PICTURE


def write(session: Session, pieces: Pieces, pictures: Sequence[Picture] = ()) -> None:
    """Adds the pieces, and each picture in the place that waits for it; computes nothing yet."""
    model = session.model
    ids: list[int] = []
    places = iter(pictures)
    for piece in pieces:
        if piece.is_markup:
            ids += model.encode(piece.text, special_tokens=True)
            continue
        first, *others = piece.text.split(PICTURE)
        ids += model.encode(first)
        for words in others:
            assert model.eyes is not None, "a picture was prepared without eyes"
            ids += model.eyes.tokens(next(places))
            ids += model.encode(words)
    session.append(ids, pictures)


def prepared(model: LanguageModel, images: Sequence[Image]) -> tuple[Picture, ...]:
    """The images as the model's own processor cuts them. PictureMismatch where it cannot look at one."""
    if images and model.eyes is None:
        raise PictureMismatch(
            f"{model.name} reads text alone; take a vision-language model for questions with pictures"
        )
    return tuple(model.eyes.prepare(image) for image in images) if model.eyes else ()


def shortened(model: LanguageModel, text: str, tokens: int) -> str:
    """Of the words at most so many tokens; every picture keeps its place."""
    parts = []
    for part in text.split(PICTURE):
        ids = model.encode(part)
        parts.append(part if len(ids) <= tokens else model.decode(ids[:tokens]))
        tokens = max(0, tokens - len(ids))
    return PICTURE.join(parts)
