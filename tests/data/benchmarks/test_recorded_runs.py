"""Recorded runs as a benchmark: each question once, with the true answer that FireAct's files hold."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import forethought.data
from forethought.data.benchmarks import questions_of_traces, truths_of_fireact
from forethought.data.formats import read_traces
from forethought.data.identity import canonical
from forethought.data.traces import Outcome, Trace

SHIPPED = Path(forethought.data.__file__).parent / "samples"
OUTCOMES = st.sampled_from([None, *Outcome])
TRACES = st.lists(
    st.builds(Trace, st.sampled_from(["a b", "a  b", "c", "d"]), st.just(()), OUTCOMES)
)


def test_the_shipped_runs_ask_five_hundred_questions_each_with_its_answer():
    truths = truths_of_fireact(SHIPPED)
    traces = [entry for entry in read_traces([SHIPPED]) if isinstance(entry, Trace)]

    held = questions_of_traces(traces, truths)

    assert len(traces) == 1464
    assert len(held.questions) == len(truths) == 500
    assert not held.unusable
    first = held.questions[0]
    assert first.text.startswith("Who created the show with Wendy Schaal")
    assert first.answers == ("seth macfarlane",)
    assert {q.facts["split"] for q in held.questions} == {"mine", "choose", "test"}


@given(TRACES, st.sets(st.sampled_from(["a b", "c", "d"])))
def test_each_question_of_known_outcome_is_asked_once_or_counted(traces, answered):
    held = questions_of_traces(traces, {text: ("yes",) for text in answered})

    known = {canonical(trace.question) for trace in traces if trace.outcome}
    assert [canonical(q.text) for q in held.questions] == list(
        dict.fromkeys(
            canonical(t.question) for t in traces if t.outcome and canonical(t.question) in answered
        )
    )
    assert len(held.unusable) == len(known - answered)
    assert len({q.id for q in held.questions}) == len(held.questions)


def test_truths_of_one_question_are_joined_and_rows_without_one_left_out(tmp_path):
    def run(question, **truth):
        traj = f"### Instruction:\n{question}\n### Response:\nThought: t\nAction: finish[x]\n"
        return {"em": True, "traj": traj, **truth}

    runs = [run("q", gt="a"), run("q ", gt="b"), run("r"), run("s", gt=5), run("t", gt=" ")]
    (tmp_path / "runs.json").write_text(json.dumps(dict(enumerate(runs))))

    assert truths_of_fireact(tmp_path) == {"q": ("a", "b")}
