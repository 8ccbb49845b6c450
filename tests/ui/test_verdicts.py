"""Which metric counts, and what a judge's word, or its silence, makes of a record."""

import pytest
from writer_server import WriterServer

from forethought.data.benchmarks.question import ImageSource, Question
from forethought.data.errors import EngineError
from forethought.scorer.agent.judge import Judge
from forethought.scorer.engines.transport import Patience
from forethought.ui.bench.arena import Arena
from forethought.ui.bench.verdicts import judged, metric_of, require_answering, verdicts

PATIENCE = Patience(connect=2, read=0.5, pause=0.001, tries=1)
PIXEL = b"\x89PNG and so on"
QUESTIONS = tuple(
    Question(f"q{n}", "Who?", ("the Knights",), "made", (ImageSource("p", "r", PIXEL),))
    for n in range(4)
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path))


def arena(metric: str) -> Arena:
    return Arena("made", QUESTIONS, {}, lambda model, listed: None, metric)


def record(number: int, answer: str | None, **told) -> dict:
    known = {"exact": False, "relaxed": False} | told
    return {"id": f"q{number}", "mode": "select", "answer": answer} | known


def says(word: str):
    return lambda body: f"<judge>{word}</judge>\n<reason>So.</reason>"


@pytest.mark.parametrize(
    ("metric", "right"), [("exact", [True, False]), ("relaxed", [False, True])]
)
def test_words_decide_where_the_benchmark_says_so(metric, right):
    records = [record(0, "a", exact=True), record(1, "b", relaxed=True)]

    assert [one["success"] for one in judged(records, arena(metric), None)] == right


def test_a_benchmark_for_a_judge_goes_by_exact_match_where_there_is_none():
    assert metric_of(arena("judge"), None) == "exact"
    assert [
        one["success"] for one in judged([record(0, "a", exact=True)], arena("judge"), None)
    ] == [True]


def test_a_judge_decides_and_what_it_does_not_decide_is_no_success_and_counted():
    replies = {"yes": "Yes", "no": "No", "neither": "Perhaps"}

    def reply(body):
        text = str(body["messages"][1]["content"])
        return says(next(word for key, word in replies.items() if f"it is {key}" in text))(body)

    records = [record(n, f"it is {key}") for n, key in enumerate(replies)] + [record(3, None)]
    with WriterServer(reply) as server:
        judge = Judge(server.url, "judge-1", patience=PATIENCE)
        told = judged(records, arena("judge"), judge)
        shown = [body["messages"][1]["content"] for body, _ in server.requests]

    assert metric_of(arena("judge"), judge) == "judge"
    assert [one["success"] for one in told] == [True, False, None, False]
    assert verdicts(told) == {"no": 2, "yes": 1, "unclear": 1}
    assert len(shown) == 3, "nobody is asked about a run without an answer"
    assert all(part[1]["type"] == "image_url" for part in shown)


def test_a_judge_that_is_away_is_known_before_anything_is_played():
    with WriterServer(says("Yes")) as server:
        require_answering(Judge(server.url, "judge-1", patience=PATIENCE))
        url = server.url
    with pytest.raises(EngineError, match="judge-2 cannot be asked"):
        require_answering(Judge(url, "judge-2", patience=PATIENCE))
