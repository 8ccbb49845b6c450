"""Whether a record is a success, by its benchmark's metric: its words, or a judge's. Plays nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...data.benchmarks.question import Question
from ...data.benchmarks.table import Metric
from ...data.errors import EngineError
from ...scorer.agent.judge import Judge, Judgement, Verdict
from .arena import Arena
from .playing import by_words

Json = dict[str, Any]
PROBE = ("Which city is the capital of France?", ("Paris",), "the city on the Seine, Paris")


def require_answering(judge: Judge) -> None:
    """EngineError where the judge cannot be asked: known before a long run, not after it."""
    told = judge.judge(*PROBE)
    if told.verdict is Verdict.FAILED:
        raise EngineError(f"the judge {judge.name} cannot be asked: {told.reason}")


def metric_of(arena: Arena, judge: Judge | None) -> Metric:
    """The benchmark's own, but exact match where it wants a judge and there is none."""
    return "exact" if arena.metric == "judge" and judge is None else arena.metric


def judged(records: Sequence[Json], arena: Arena, judge: Judge | None) -> list[Json]:
    """The records with their `success`: None where nobody could tell. Judgements stand beside it.

    Reckoned anew from each answer, whatever the record says of it.
    """
    questions = {question.id: question for question in arena.questions}
    told = [one | by_words(one["answer"], questions[one["id"]]) for one in records]
    metric = metric_of(arena, judge)
    if judge is None or metric != "judge":
        return [one | {"success": one[metric]} for one in told]
    return [_judged(one, questions[one["id"]], judge) for one in told]


def verdicts(records: Sequence[Json]) -> Mapping[str, int]:
    """How often the judge said what."""
    told = Counter(one["judgement"]["verdict"] for one in records if "judgement" in one)
    return dict(told.most_common())


def _judged(record: Json, question: Question, judge: Judge) -> Json:
    told = _told(record, question, judge)
    is_known = told.verdict in (Verdict.YES, Verdict.NO)
    return record | {
        "success": told.verdict is Verdict.YES if is_known else None,
        "judgement": told._asdict(),
    }


def _told(record: Json, question: Question, judge: Judge) -> Judgement:
    needs_picture = question.images and record["answer"] is not None
    picture = question.images[0].read() if needs_picture else None
    return judge.judge(question.text, question.answers, record["answer"], picture)
