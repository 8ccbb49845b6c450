"""What is wrong with a row of a training target, if anything: its messages, its pictures, what of it is trained. One line each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from .conversation import PLACE, SURROGATES, Role
from .findings import texts_in
from .labelled import is_finite
from .row_shape import IMAGES, Pictures, RowShape, Unit

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Said:
    """A message of a row in our own words; `is_trained` says what the trainer does with it."""

    role: str
    text: str
    is_trained: bool


def said_in(shape: RowShape, row: Row) -> list[Said]:
    """The messages of a row, the completion's last, and those of a prompt alone none of them trained."""
    roles = {name: role.value for role, name in shape.names.items()}
    first = (
        [{shape.role: Role.SYSTEM.value, shape.content: row[shape.system]}] if shape.system else []
    )
    before = [*(one for one in first if one[shape.content]), *row[shape.messages]]
    after = list(row[shape.completion]) if shape.completion else []
    messages = [*before, *after]
    said = []
    for number, message in enumerate(messages):
        role = roles.get(message[shape.role], message[shape.role])
        is_agents = role == Role.ASSISTANT and not shape.is_asked
        is_last = number == len(messages) - 1
        if shape.trained is not None:
            is_trained = is_agents and bool(message.get(shape.trained))
        else:
            is_trained = is_agents and (is_last or shape.unit is Unit.TRACE)
        said.append(Said(role, text_of(message[shape.content]), is_trained))
    return said


def text_of(content: Any) -> str:
    """A message's text, with `<image>` for a picture among its parts."""
    if isinstance(content, str):
        return content
    return "".join(PLACE if part["type"] == "image" else part["text"] for part in content)


def text_problems(row: Row) -> Iterator[str]:
    """What no strict JSON and no UTF-8 can hold."""
    if any(SURROGATES.search(text) for text in texts_in(row)):
        yield "a lone surrogate"
    if not is_finite(row):
        yield "a number that JSON does not know"


def message_problems(shape: RowShape, row: Row) -> Iterator[str]:
    """Speakers who do not take turns, or nothing to train."""
    said = said_in(shape, row)
    roles = [one.role for one in said if one.role != Role.SYSTEM]
    usual = [(Role.USER, Role.ASSISTANT)[place % 2].value for place in range(len(roles))]
    if roles != usual or (roles and roles[-1] != (Role.USER if shape.is_asked else Role.ASSISTANT)):
        yield f"the speakers are {', '.join(roles) or 'nobody'}"
    trained = [one for one in said if one.is_trained]
    if not shape.is_asked and not trained:
        yield "no message is trained"
    if any(not one.text.strip() for one in trained):
        yield "a trained message is empty"


def picture_problems(shape: RowShape, row: Row, folder: Path) -> Iterator[str]:
    """Places and pictures that do not match, and pictures that are not there."""
    lists = [row[shape.messages], *([row[shape.completion]] if shape.completion else [])]
    contents = [message[shape.content] for messages in lists for message in messages]
    if shape.system:
        contents.append(row[shape.system])
    places = sum(_places(shape, content) for content in contents)
    pictures = list(_pictures(shape, row, contents))
    if shape.pictures is not Pictures.NONE and places != len(pictures):
        yield f"{places} places for {len(pictures)} pictures"
    for path in dict.fromkeys(pictures):
        parts = PurePosixPath(path).parts
        if len(parts) != 2 or parts[0] != IMAGES:
            yield f"picture {path} is not in {IMAGES}/"
        elif not (folder / path).is_file():
            yield f"picture {path} is missing"


def label_problems(row: Row, candidates: Mapping[str, str], set_hash: str) -> Iterator[str]:
    """A label that is not in the library beside the rows."""
    named = [row["candidate"]] if "candidate" in row else list(row.get("candidates", ()))
    if unknown := sorted(set(named) - candidates.keys()):
        yield f"candidate {unknown[0]} is not in reasoning_library.json"
    own = row.get("set_hash") or row.get("extra_info", {}).get("library_sha256")
    if own != set_hash:
        yield f"it belongs to the set of hash {str(own)[:12]}, not {set_hash[:12]}"


def _places(shape: RowShape, content: Any) -> int:
    """Places in text count where the trainer looks for them there."""
    if isinstance(content, str):
        return content.count(PLACE) if shape.pictures is Pictures.PLACES else 0
    return sum(part["type"] == "image" for part in content)


def _pictures(shape: RowShape, row: Row, contents: Sequence[Any]) -> Iterator[str]:
    if shape.part is not None:
        parts = [part for one in contents if isinstance(one, list) for part in one]
        yield from (part[shape.part] for part in parts if part.get(shape.part))
        return
    for picture in row.get(IMAGES) or ():
        yield picture if shape.picture is None else picture[shape.picture]
