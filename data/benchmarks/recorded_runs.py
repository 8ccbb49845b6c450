"""Questions out of recorded runs: what agents were asked before can be asked again, with what they found then.

A trace does not hold the true answer, only how its run ended; FireAct's files do, in `gt`, and are read for it here.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..formats.documents import Document, documents
from ..formats.files import files_at
from ..formats.table import FORMATS, TraceFormat
from ..identity import canonical, content_id
from ..traces import Trace
from .question import Question, Unusable
from .table import Benchmarked


def questions_of_traces(
    traces: Iterable[Trace], truths: Mapping[str, tuple[str, ...]], benchmark: str = "hotpotqa"
) -> Benchmarked:
    """Each question once, in the order met, of the traces whose outcome is known.

    `truths` holds accepted answers by the canonical question. A question with none is unusable. The facts are the
    question's split and the source of the first run.
    """
    asked: dict[str, Question | Unusable] = {}
    for trace in traces:
        text = canonical(trace.question)
        if trace.outcome is None or text in asked:
            continue
        id, answers = content_id("q", text), truths.get(text, ())
        facts = {"split": str(trace.split), "source": trace.source}
        asked[text] = (
            Question(id, trace.question, answers, benchmark, facts=facts)
            if answers
            else Unusable(f"{trace.file}:{trace.position}", "no true answer to its question")
        )
    return Benchmarked(
        tuple(one for one in asked.values() if isinstance(one, Question)),
        tuple(one for one in asked.values() if isinstance(one, Unusable)),
    )


def truths_of_fireact(path: str | Path) -> Mapping[str, tuple[str, ...]]:
    """Accepted answers by canonical question, from FireAct's `trajs` files: a file, a folder of them, or a glob.

    The answers are normalised there already: lower case, no articles, no punctuation. NotFound where nothing is.
    """
    truths: dict[str, tuple[str, ...]] = {}
    for file in files_at([path]):
        if not file.may_hold_traces:
            continue
        for entry in documents(file.path, lambda value: _format(value) is not None):
            value = entry.value if isinstance(entry, Document) else None
            format = _format(value)
            truth = value.get("gt") if isinstance(value, dict) else None
            if format and isinstance(truth, str) and truth.strip():
                for trace in format.traces(value):
                    question = canonical(trace.question)
                    known = truths.get(question, ())
                    truths[question] = tuple(dict.fromkeys((*known, truth.strip())))
    return truths


def _format(value: Any) -> TraceFormat | None:
    return next((format for format in FORMATS if format.detects(value)), None)
