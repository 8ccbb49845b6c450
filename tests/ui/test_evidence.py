"""Which turns stand beside a candidate, and what of them."""

from curated_store import curated, trace
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.candidates import Candidate, CandidateSet
from forethought.data.listing import ListedCandidate
from forethought.data.traces import turn_id
from forethought.ui.evidence import LOOKED_AT, evidence_of, spread
from forethought.ui.likeness import word_likeness as likeness


def test_the_turns_most_like_the_candidate_are_typical_and_the_others_its_boundary(tmp_path):
    store = curated(tmp_path / "store.db")
    thoughts = ["I should look it up.", "I should look this up.", "I should look that up now."]
    thoughts += ["We may compare both.", "Nothing helps."]
    traces = [trace(f"Who is {n}?", thought) for n, thought in enumerate(thoughts)]
    store.add(traces)
    candidate = Candidate(
        "c", thoughts[0], support=tuple(turn_id(t.id, 0) for t in traces), questions=5
    )

    found = evidence_of(store, candidate)

    assert found.typical[0].thought == thoughts[0]
    assert {turn.thought for turn in found.typical} == set(thoughts[:3])
    assert {turn.thought for turn in found.boundary} == set(thoughts[3:])
    assert (found.looked_at, found.support, found.missing) == (5, 5, 0)


def test_a_turn_shows_what_came_before_it_and_what_followed(tmp_path):
    store = curated(tmp_path / "store.db")
    run = trace("Which town?")
    store.add([run])

    turn = evidence_of(store, Candidate("c", "I", support=(turn_id(run.id, 1),))).typical[0]

    assert "Observation: About Which town?: a page." in turn.before
    assert turn.after == "<answer>Lisbon</answer>"
    assert turn.whole.startswith("Question: Which town?\n")


def test_support_that_is_gone_or_malformed_is_counted_not_fatal(tmp_path):
    store = curated(tmp_path / "store.db")
    known = next(store.traces()).id
    support = ("t_gone:0", "nonsense", f"{known}:99", f"{known}:-1", ":0", f"{known}:0")

    found = evidence_of(store, Candidate("c", "I should look.", support=support))

    assert (len(found.typical), found.missing) == (1, 5)


@given(st.lists(st.text(max_size=3), max_size=200))
def test_at_most_so_many_turns_are_read_spread_over_all(items):
    chosen = spread(items, LOOKED_AT)

    assert len(chosen) == min(len(items), LOOKED_AT)
    assert not items or chosen[0] == items[0]


@given(st.text(), st.text())
def test_likeness_is_symmetric_and_between_zero_and_one(first, second):
    assert likeness(first, second) == likeness(second, first)
    assert 0 <= likeness(first, second) <= 1


def test_outside_are_the_turns_of_rivals_that_read_most_like_the_candidate(tmp_path):
    store = curated(tmp_path / "store.db")
    first, second, _ = store.candidate_set("search-v1").candidates
    run = trace("Who is it?", "I do not know this fact yet, so I should look it up.")
    store.add([run])
    support = (turn_id(run.id, 0),)
    rival = Candidate(second.id, second.text, support=support, questions=1)
    store.save_set(CandidateSet("two", (first, rival)))
    listed = store.candidates_page("two").candidates[1:]

    found = evidence_of(store, first, listed, "two")

    assert [one.turn.thought for one in found.outside] == [run.turns[0].thoughts[0]]
    assert found.outside[0].of == second.text


def test_a_boundary_turn_reads_more_like_a_rival(tmp_path):
    store = curated(tmp_path / "store.db")
    thoughts = [f"I should look it up {n}." for n in ("once", "twice", "again", "now")]
    thoughts += ["I should compare both."]
    traces = [trace(f"Who is {n}?", thought) for n, thought in enumerate(thoughts)]
    store.add(traces)
    one = Candidate("c", "I should look it up.", support=tuple(turn_id(t.id, 0) for t in traces))
    rival = ListedCandidate(
        "d", "I should compare both of them.", (), one.status, 0, 0, 1, (), 0, is_member=True
    )

    assert evidence_of(store, one, (rival,), "search-v1").boundary[0].thought == thoughts[-1]
