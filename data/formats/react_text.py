"""ReAct runs in one string: FireAct's llama runs (`traj`) and its alpaca rows.

One turn a thought.
"""

from collections.abc import Mapping
from typing import Any

from ..traces import Trace
from .outcomes import outcome_in
from .prompt import MOVE, Asked, asked, question_in
from .react import Run, pieces


def is_react_text(document: Any) -> bool:
    """Whether there is a string with a labelled thought or action where a run would be."""
    return isinstance(document, dict) and MOVE.search(_asked(document).run) is not None


def read_react_text(document: Mapping[str, Any]) -> Trace:
    question, text = _asked(document)
    run = Run()
    for piece in pieces(text):
        if piece.label == "Thought":
            run.begin()
        run.take(piece)
    return Trace(question, run.turns, outcome_in(document) or run.closing)


def _asked(document: Mapping[str, Any]) -> Asked:
    match document:
        case {"traj": str(text)}:
            return asked(text)
        case {"instruction": str(instruction), "output": str(run)}:
            given = document.get("input") or ""
            return Asked(question_in(f"{instruction}\n{given}"), run)
    return Asked("", "")
