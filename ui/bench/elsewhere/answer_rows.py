"""Lists of answers beside their truths, without a transcript: Visual-ARFT's evaluation results for MAT-Search.

The shape is that of GitHub Liuziyu77/Visual-RFT, commit 94866331, Visual-ARFT/evaluation_search/evaluation_results.
"""

from typing import Any

from ....scorer.agent.episode import Stop
from .found import Json, Run, record_of, text, texts

NAME = "answers"


def is_run(value: Any) -> bool:
    return isinstance(value, dict) and "pred_answer" in value and "gt" in value


def run_of(value: Json, name: str) -> Run:
    """An answer, null where none came; `name` is its place in the list, which pairs lists without ids."""
    answer = value["pred_answer"]
    is_told = isinstance(answer, str) and bool(answer.strip())
    return Run(
        record_of(
            str(value.get("id") or name),
            text(value.get("query")),
            texts(value["gt"]),
            answer if is_told else None,
            stop=(Stop.ANSWER if is_told else Stop.INVALID_OUTPUT).value,
        )
    )
