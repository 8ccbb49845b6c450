"""A context as a user hands it in: text with special tokens and pictures in it, or without.

Knows files, and how a model takes both; scores nothing.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..data.errors import NotFound, PictureMismatch
from ..scorer.model import LanguageModel
from ..scorer.tokenizer import special_tokens
from ..scorer.vision import Picture
from .score_options import ScoreOptions

PLACE = "<image>"  # where a picture stands in a context's text
SEAM_CHARACTERS = 200  # of the context's end, tokenised together with each candidate


class Illustrated(NamedTuple):
    """A context's text, and a PIL image for each `<image>` in it; without images that is text like any other."""

    text: str
    images: tuple[Any, ...] = ()


class ContextTokens(NamedTuple):
    """A context as the model takes it."""

    ids: list[int]
    pictures: tuple[Picture, ...]


def illustrated(context: str | Illustrated) -> Illustrated:
    """Text alone is a context without pictures."""
    return Illustrated(context) if isinstance(context, str) else context


def as_tokens(model: LanguageModel, context: Illustrated, options: ScoreOptions) -> ContextTokens:
    """Text and pictures in their places; PictureMismatch where they do not fit each other or the model."""
    parts = context.text.split(PLACE) if context.images else [context.text]
    if len(parts) - 1 != len(context.images):
        raise PictureMismatch(
            f"the context has {len(parts) - 1} places {PLACE} for {len(context.images)} pictures; "
            "write one where each picture stands"
        )
    encode = partial(model.encode, special_tokens=options.special_tokens)
    if not context.images:
        return ContextTokens(encode(context.text), ())
    if model.eyes is None:
        raise PictureMismatch(
            f"{model.name} reads text alone; leave --image out, or name a model that sees with --model"
        )
    pictures = tuple(map(model.eyes.prepare, context.images))
    ids = encode(parts[0])
    for picture, part in zip(pictures, parts[1:], strict=True):
        ids += model.eyes.tokens(picture) + encode(part)
    return ContextTokens(ids, pictures)


def read_context(path: Path, images: Sequence[Path] = ()) -> Illustrated:
    """The file's text word for word, line ends included, and the pictures for its `<image>` places.

    A byte-order mark, which is no text, is dropped.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise NotFound(
            f"{path}: no such file; --context names a file that holds the context"
        ) from error
    except UnicodeDecodeError as error:
        raise NotFound(
            f"{path}: not UTF-8 text (byte {error.start}); save the context as UTF-8"
        ) from error
    except OSError as error:
        raise NotFound(f"{path}: cannot be read ({error.strerror})") from error
    return Illustrated(text, tuple(map(_opened, images)))


def warnings_of_context(
    model: LanguageModel, context: Illustrated, options: ScoreOptions
) -> list[str]:
    """What the user may not know of how this context is read, a line each."""
    warnings = []
    found = [token for token in special_tokens(model.tokenizer) if token in context.text]
    if found and not options.special_tokens:
        warnings.append(
            f"the context holds {', '.join(found[:3])}, special for this model, and was read as plain text; "
            "--special-tokens reads them as the tokens they are"
        )
    if model.eyes is not None and not context.images:
        warnings.append(
            f"{model.name} sees, and this context is text alone; --image FILE gives it a picture for each {PLACE} in it"
        )
    if options.visual_budget is not None and not context.images:
        warnings.append("the context has no picture, so the visual budget changes nothing")
    return warnings


def tail(model: LanguageModel, context: Illustrated, options: ScoreOptions) -> str:
    """The text at the context's end that a candidate could merge with: nothing merges across a token of its own."""
    end = context.text[-SEAM_CHARACTERS:]
    tokens = special_tokens(model.tokenizer) if options.special_tokens else ()
    for token in (*tokens, *([PLACE] if context.images else [])):
        end = end.rpartition(token)[2]
    return end


def _opened(path: Path) -> Any:
    """The picture in the file, as PIL has it."""
    from PIL import Image, UnidentifiedImageError  # only those who look need it

    try:
        return Image.open(path)
    except UnidentifiedImageError as error:
        raise NotFound(f"{path}: no picture that PIL can read; give a PNG or JPEG file") from error
    except (OSError, Image.DecompressionBombError) as error:
        reason = getattr(error, "strerror", None) or error
        raise NotFound(f"{path}: cannot be read ({reason}); --image names a picture") from error
