"""Which turns are audited, under which ids, against which texts."""

from dataclasses import replace

import pytest
from embedders import HashingEmbedder
from runs import AGAIN, ANSWER, NEXT, runs

from forethought.data.candidates import Candidate, CandidateSet, written
from forethought.data.errors import NothingToDo
from forethought.data.identity import Split
from forethought.data.traces import Outcome
from forethought.ui.auditing import (
    AuditPlan,
    Corpus,
    assign_turns,
    held_out,
    pick_turns,
    pool_of,
    random_set,
    with_distinct_ids,
)
from forethought.ui.reporting import nested

TRACES = runs(90)
CORPUS = Corpus.of(TRACES, HashingEmbedder())
MOVES = CandidateSet("moves", tuple(written(text) for text in (AGAIN, ANSWER, NEXT)))


def test_only_plain_turns_of_runs_that_did_not_fail_are_audited():
    turns, thoughts = pick_turns(TRACES, AuditPlan(test_turns=None, choose_turns=None))

    assert {turn.trace.split for turn in turns} == {Split.TEST, Split.CHOOSE}
    assert all(turn.trace.outcome is not Outcome.FAILURE for turn in turns)
    assert [t.text for t in thoughts] == [t.trace.turns[t.index].thoughts[0] for t in turns]


def test_every_question_gives_one_turn_before_any_gives_two():
    questions = {t.trace.question for t in held_out(TRACES, Split.TEST, None)}
    picked = held_out(TRACES, Split.TEST, len(questions))

    assert {turn.trace.question for turn in picked} == questions


def test_fewer_turns_are_the_beginning_of_more_whatever_the_order_of_traces():
    assert held_out(TRACES, Split.TEST, 7) == held_out(TRACES[::-1], Split.TEST, 20)[:7]


def test_a_failed_run_among_others_is_never_picked_and_only_failed_ones_are_a_plain_message():
    failed = [replace(trace, outcome=Outcome.FAILURE) for trace in TRACES]

    with pytest.raises(NothingToDo, match="no turn to audit"):
        pick_turns(failed, AuditPlan())


def test_labels_are_given_for_every_set_and_name_its_candidates():
    turns, thoughts = pick_turns(TRACES, AuditPlan(10, 5))
    labels = assign_turns(CORPUS, [MOVES, *nested(MOVES)], thoughts)

    assert len(labels) == len(turns)
    for label in labels.values():
        assert label.keys() == {"moves", "moves[:1]", "moves[:2]"}
        assert label["moves[:1]"] in (MOVES.candidates[0].id, None)


def test_the_random_set_is_the_beginning_of_the_pool():
    pool = pool_of(CORPUS.thoughts, seed=0)

    assert [c.text for c in random_set(CORPUS.thoughts, 0, 6).candidates] == pool[:6]
    assert len(pool) == len(set(pool)) == 44 < 64  # all distinct thoughts, where there are fewer
    assert pool_of(CORPUS.thoughts, seed=1) != pool


def test_one_id_for_two_texts_is_told_apart():
    other = CandidateSet("other", (Candidate(MOVES.candidates[0].id, "I reworded this one."),))
    first, second = with_distinct_ids([MOVES, other])

    assert first == MOVES
    assert second.candidates[0].id == f"other/{MOVES.candidates[0].id}"
    assert with_distinct_ids([MOVES, MOVES.first(2)])[1].candidates == MOVES.candidates[:2]
