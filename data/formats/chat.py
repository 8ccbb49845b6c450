"""Chat messages: a list of {"role", "content"}, content a string, null or a list of parts.

Knows where documents keep the list and what its text is. It does not know thoughts or actions.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LISTS = ("messages", "traj")
TEXT_PARTS = {"text", "input_text", "output_text"}
IMAGE_PARTS = {"image", "image_url", "input_image"}

Message = Mapping[str, Any]


def listed(document: Mapping[str, Any]) -> Sequence[Message]:
    """The messages of a document that is known to have some."""
    return next(document[name] for name in LISTS if isinstance(document.get(name), list))


def messages_in(document: Any) -> Sequence[Message]:
    """The document's messages as they stand; none if anything in the list is not a message."""
    if not isinstance(document, dict):
        return ()
    for name in LISTS:
        messages = document.get(name)
        if isinstance(messages, list):
            return messages if all(map(_is_message, messages)) else ()
    return ()


def text_of(message: Message) -> str:
    """The text of a message's content, its parts joined by line ends."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part["type"] in TEXT_PARTS)
    return content or ""


def num_pictures(message: Message) -> int:
    """How many of its parts are pictures."""
    content = message.get("content")
    return sum(part["type"] in IMAGE_PARTS for part in content) if isinstance(content, list) else 0


def images_beside(document: Mapping[str, Any]) -> Iterator[str]:
    """The pictures in a document's own list, which fill the places in its messages: paths, addresses or data URIs."""
    given = document.get("images", document.get("image"))
    for image in given if isinstance(given, list) else [given]:
        match image:
            case str(place) if place:
                yield place
            case {"bytes": bytes(content)}:
                yield f"data:image/png;base64,{base64.b64encode(content).decode()}"
            case {"path": str(place)} | {"url": str(place)} | {"image": str(place)} if place:
                yield place
            case None | "":
                pass
            case _:
                yield ""  # its place stays empty, and no other picture takes it


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and _is_content(value.get("content"))
    )


def _is_content(content: Any) -> bool:
    if isinstance(content, list):
        return all(map(_is_part, content))
    return content is None or isinstance(content, str)


def _is_part(part: Any) -> bool:
    match part:
        case {"type": str(kind), "text": str()} if kind in TEXT_PARTS:
            return True
        case {"type": str(kind)}:
            return kind in IMAGE_PARTS
    return False
