"""Rewards that a recorded action tells: whether what was generated acts as the run did. Needs nothing but the rows."""

import json
import re
from typing import Any

CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


def same_kind(completions: list[Any], kind: list[str], **columns: Any) -> list[float]:
    """1 where the first action is of the kind that was taken."""
    return [float(_kind(_text(one)) == own) for one, own in zip(completions, kind, strict=True)]


def same_action(completions: list[Any], action: list[str], **columns: Any) -> list[float]:
    """1 where the action that was taken stands in the text, as it was written down."""
    return [float(own in _text(one)) for one, own in zip(completions, action, strict=True)]


def _text(completion: Any) -> str:
    return completion if isinstance(completion, str) else completion[-1]["content"]


def _kind(text: str) -> str:
    """`answer`, the tool's name, or "" for no action; aliases of the two are folded as Forethought folds them."""
    call, answer = CALL.search(text), ANSWER.search(text)
    if answer and not (call and call.start() < answer.start()):
        return "answer"
    try:
        name = json.loads(call[1])["name"] if call else ""
    except (ValueError, KeyError, TypeError):
        return ""
    return {"finish": "answer", "text_search_tool": "search"}.get(str(name), str(name))
