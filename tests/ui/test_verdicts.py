"""Which metric counts, and what a judge's word, or its silence, makes of a record."""

from dataclasses import replace

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


@pytest.mark.parametrize("metric", ["exact", "relaxed"])
def test_words_decide_where_the_benchmark_says_so_whatever_a_record_says_of_itself(metric):
    records = [record(0, "The knights!"), record(1, "the squires", exact=True, relaxed=True)]
    told = judged(records, arena(metric), None)

    assert [one["success"] for one in told] == [True, False]
    assert [(one["exact"], one["relaxed"], one["f1"]) for one in told] == [
        (True, True, 1.0),
        (False, False, 0.0),
    ]


def test_a_quantity_is_right_by_relaxed_numbers_alone():
    question = replace(QUESTIONS[0], answers=("100",))
    for metric, right in (("exact", False), ("relaxed", True)):
        asked = replace(arena(metric), questions=(question,))
        assert judged([record(0, "about 104")], asked, None)[0]["success"] is right


def test_a_benchmark_for_a_judge_goes_by_exact_match_where_there_is_none():
    assert metric_of(arena("judge"), None) == "exact"
    (told,) = judged([record(0, "the knights")], arena("judge"), None)
    assert told["success"] is True


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
