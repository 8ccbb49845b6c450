"""Inspect's evaluation logs: a header and samples, each with its messages, its scores and the texts they point to.

An `.eval` archive comes here sample by sample, with its header; a `.json` log as a whole.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ..traces import Outcome, Trace
from .conversation import Conversation, question_of
from .dialects import said_of, words_of
from .outcomes import outcome_of

POINTER = "attachment://"
GRADES = {"C": Outcome.SUCCESS, "I": Outcome.FAILURE, "P": Outcome.FAILURE, "N": Outcome.FAILURE}


def is_inspect_log(document: Any) -> bool:
    match document:
        case {"eval": dict(), "samples": [{"messages": list()}, *_]}:
            return True
    return False


def read_inspect_log(document: Mapping[str, Any]) -> Iterator[Trace]:
    model = document["eval"].get("model")
    for sample in document["samples"]:
        texts = sample.get("attachments") or {}
        transcript = sample.get("transcript")
        if isinstance(transcript, dict):  # older logs
            texts = {**(transcript.get("content") or {}), **texts}
        messages = [said_of(_resolved(one, texts)) for one in sample["messages"]]
        asked = None if question_of(messages) else words_of(_resolved(sample.get("input"), texts))
        yield Conversation(messages, question=asked).trace(
            _outcome(sample.get("scores")),
            model if isinstance(model, str) else "",
            str(sample.get("id", "")),
        )


def _resolved(value: Any, texts: Mapping[str, Any]) -> Any:
    """The value with what it points to in place of the pointers."""
    if isinstance(value, str) and value.startswith(POINTER):
        return texts.get(value.removeprefix(POINTER), value)
    if isinstance(value, dict):
        return {key: _resolved(one, texts) for key, one in value.items()}
    return [_resolved(one, texts) for one in value] if isinstance(value, list) else value


def _outcome(scores: Any) -> Outcome | None:
    """What the first scorer says, by letter or number."""
    for score in scores.values() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        told = GRADES.get(value) if isinstance(value, str) else outcome_of(value)
        if told is not None:
            return told
    return None
