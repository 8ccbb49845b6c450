"""Whether a server runs the model whose token ids will be sent to it."""

from collections.abc import Sequence

from ...data.errors import EngineError
from .engine import ExpectedModel
from .transport import Transport, listed

# Words, digits, spaces, accents and no Latin: two vocabularies hardly ever cut all of it alike.
PROBE = 'Okay, I should look again:\n  in 1984, na\u00efve \u6587\u5b57 <thinking>{"query": 12.5}</thinking>'


def require_model(where: str, served: Sequence[str], expected: ExpectedModel) -> None:
    """EngineError unless one of the names of the served model ends as the expected one's does."""
    if not is_model(served, expected):
        raise EngineError(
            f"{where} serves {', '.join(served) or 'no model'}, not {expected.name}; serve it under that name, or name the served one with --model"
        )


def is_model(names: Sequence[str], expected: ExpectedModel) -> bool:
    """Whether a folder's or hub id's last part is the expected one's; the same weights lie in different places."""
    return _last(expected.name) in map(_last, names)


def require_tokenizer(transport: Transport, served: str, expected: ExpectedModel) -> None:
    """EngineError if the server cuts PROBE into other ids; nothing if it has no tokenizer to ask."""
    body = {"model": served, "prompt": PROBE, "add_special_tokens": False}
    reply = transport.find("/tokenize", body)
    if reply is None:
        return
    tokens = listed(f"{transport.url}/tokenize", reply.content, "tokens")
    if tokens != list(expected.encode(PROBE)):
        raise EngineError(
            f"{transport.url} cuts text into other tokens than {expected.name} does; it serves another model or tokenizer"
        )


def _last(name: str) -> str:
    return name.rstrip("/").rsplit("/", 1)[-1].lower()
