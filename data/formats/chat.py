"""Chat messages: a list of {"role", "content"}, content a string, null or a list of parts.

Knows where documents keep the list and what its text is. It does not know thoughts or actions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

LISTS = ("messages", "traj")
TEXT_PARTS = {"text", "input_text", "output_text"}
IMAGE_PARTS = {"image", "image_url", "input_image"}  # not read yet: turns come without images

Message = Mapping[str, Any]


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
