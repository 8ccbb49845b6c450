"""The row that one harness gives all seven benchmarks: SenseNova-MARS' and, with more in it, veRL's.

`prompt` holds the messages, `reward_model` the true answers, `image` or `images` the pictures. It is told from a
benchmark's own rows by `prompt`, which none of them has.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .fields import Row, Unaskable


def is_unified(value: Any) -> bool:
    return isinstance(value, Mapping) and "prompt" in value


def flattened(row: Row) -> Row:
    """The same row with `question`, `ground_truth` and `candidate_answers` beside its other fields."""
    truth = row.fields.get("reward_model")
    if truth is not None and not isinstance(truth, Mapping):
        raise Unaskable("reward_model is no object")
    held = {name: (truth or {}).get(name) for name in ("ground_truth", "candidate_answers")}
    return replace(row, fields={**row.fields, **held, "question": _asked(row.fields.get("prompt"))})


def _asked(prompt: Any) -> str:
    """What the last user message says; a prompt may be that text alone."""
    if isinstance(prompt, str):
        return prompt
    messages = prompt if isinstance(prompt, list) else []
    said = [
        message.get("content")
        for message in messages
        if isinstance(message, Mapping) and message.get("role", "user") == "user"
    ]
    match said[-1:]:
        case [str(text)]:
            return text
        case [[*parts]]:
            return "".join(
                str(part.get("text") or "") for part in parts if isinstance(part, Mapping)
            )
    raise Unaskable("prompt holds no message of the user")
