"""Merging, splitting, effects and gaps without a screen, on traces whose moves are known."""

import numpy as np
import pytest
from embedders import HashingEmbedder
from hypothesis import given
from hypothesis import strategies as st
from planted import planted

from forethought.data.candidates import Candidate, CandidateSet
from forethought.data.identity import Split, candidate_id
from forethought.data.store import Store
from forethought.ui.auditing import Corpus
from forethought.ui.effects import effects
from forethought.ui.gaps import Kind, actions_of, add_candidate, find_gaps
from forethought.ui.merging import MergePlan, doubtful_members, merge, offered
from forethought.ui.roster import roster_of
from forethought.ui.splitting import (
    BY_HAND,
    LEFT_OUT,
    Members,
    Saying,
    division,
    members_of,
    plan,
    split,
)

NAME = "moves"
SEARCH = "I should try a different search."
OPEN = "I will open the whole page."


@pytest.fixture(scope="module")
def made():
    return planted(60)


@pytest.fixture
def store(tmp_path, made) -> Store:
    """A set of two candidates: one that mixes three moves, one for the last of them alone."""
    store = Store.open(tmp_path / "store.db")
    store.add(made.traces)
    turns = sorted(made.moves)
    mixed = tuple(turn for turn in turns if made.moves[turn] in ("refine", "examine"))
    answers = tuple(turn for turn in turns if made.moves[turn] == "answer")
    texts = ((SEARCH, mixed), ("I can give the final answer.", answers))
    store.save_set(
        CandidateSet(
            NAME,
            tuple(
                Candidate(
                    candidate_id(text), text, ("search",), support=turns, questions=len(turns)
                )
                for text, turns in texts
            ),
        )
    )
    return store


def whole(store: Store, number: int = 0) -> Candidate:
    return store.candidate_set(NAME).candidates[number]


def test_a_division_sets_moves_apart_and_every_turn_goes_somewhere(store, made):
    one = whole(store)
    members = members_of(store, NAME, one).result(300)
    found = division(members, one, "2")
    wanted = plan(one, members, found.parts, ("Part one.", "Part two."))

    for part in wanted.parts:
        assert len({made.moves[turn] for turn in part.support}) == 1
    assert sorted(turn for part in wanted.parts for turn in part.support) == sorted(one.support)
    assert not wanted.left_out


def test_the_part_nearest_the_text_keeps_it_and_the_other_gets_a_phrase_of_its_own(store):
    one = whole(store)
    found = division(members_of(store, NAME, one).result(300), one, "2")

    assert found.texts[found.keeps] == SEARCH
    assert found.texts[1 - found.keeps] == OPEN


def test_a_split_is_stored_and_one_undo_takes_it_back(store):
    one = whole(store)
    members = members_of(store, NAME, one).result(300)
    found = division(members, one, "2")
    parts = split(store, NAME, "ann", plan(one, members, found.parts, found.texts))

    assert {part.text for part in parts} == {SEARCH, OPEN}
    assert one.id in {part.id for part in parts}


def test_by_hand_all_lies_in_one_part_until_it_is_moved(store):
    one = whole(store)
    members = members_of(store, NAME, one).result(300)
    found = division(members, one, BY_HAND)

    assert set(found.parts) == {0}
    assert len(found.texts) == 2
    assert plan(one, members, found.parts, found.texts).is_one


@given(st.data())
def test_whatever_is_moved_where_every_turn_is_in_one_part_or_left_out(data):
    made = planted(6)
    sayings = tuple(sorted(made.moves))
    one = Candidate("c", "Own.", support=(*sayings, "gone:0"))
    members = Members(
        tuple(Saying(turn, turn, (turn,), 1) for turn in sayings), np.zeros((0, 1)), (), ("gone:0",)
    )
    parts = data.draw(
        st.lists(st.integers(LEFT_OUT, 2), min_size=len(sayings), max_size=len(sayings))
    )
    texts = data.draw(st.permutations(["Own.", "Two.", "Three."]))
    wanted = plan(one, members, parts, texts)

    placed = [turn for part in wanted.parts for turn in part.support] + list(wanted.left_out)
    assert sorted(placed) == sorted(one.support)
    assert all(part.support for part in wanted.parts)


def test_the_most_similar_are_offered_for_a_merge_and_words_narrow_them(store):
    roster = roster_of(store, NAME)

    assert [one.text for one in offered(roster, whole(store), "", ())] == [whole(store, 1).text]
    assert offered(roster, whole(store), "nowhere", ()) == []
    chosen = [whole(store, 1).id]
    assert [one.id for one in offered(roster, whole(store), "nowhere", chosen)] == chosen


def test_a_merge_is_what_its_preview_said(store):
    first, second = whole(store), whole(store, 1)
    before = MergePlan(first, (second,), "I go on.")
    excluded = frozenset(member.id for member in doubtful_members(store, before)[:2])
    wanted = MergePlan(first, (second,), "I go on.", excluded)
    merged = merge(store, NAME, "ann", wanted)

    assert len(excluded) == 2
    assert (merged.text, merged.support) == (wanted.text, wanted.support)
    assert (merged.expected_actions, merged.aliases) == (wanted.actions, wanted.aliases)


@pytest.fixture(scope="module")
def fitted_corpus(made) -> Corpus:
    return Corpus.of(made.traces, HashingEmbedder())


def test_turns_that_no_other_candidate_fits_are_lost_with_a_candidate(store, fitted_corpus):
    found = effects(fitted_corpus, roster_of(store, NAME).active)
    search, answer = (found.by_id[whole(store, n).id] for n in (0, 1))

    assert search.turns + answer.turns <= found.turns == len(fitted_corpus.thoughts)
    for one in (search, answer):
        assert one.lost + sum(heir.turns for heir in one.heirs) == one.turns
        assert one.contested <= one.turns - one.lost


def test_alone_in_its_set_a_candidate_takes_all_that_would_be_lost(store, fitted_corpus):
    roster = roster_of(store, NAME)
    found = effects(fitted_corpus, roster.active[:1]).by_id[whole(store).id]

    assert found.turns == found.lost > 0


def test_a_move_that_no_candidate_says_is_a_gap_with_its_wording(store, fitted_corpus, made):
    found = find_gaps(fitted_corpus, roster_of(store, NAME), Kind.FAR, 0.9)
    gaps = {gap.wording: gap for gap in found.gaps}

    assert OPEN in gaps
    turns = [turn for thought in gaps[OPEN].thoughts for turn in thought.turns]
    assert {made.moves[turn] for turn in turns} == {"examine"}
    assert actions_of(gaps[OPEN].thoughts) == ("open",)
    assert found.uncovered <= found.turns


def test_gaps_are_of_mine_questions_alone(store, fitted_corpus, made):
    mine = {trace.id for trace in made.traces if trace.split is Split.MINE}
    found = find_gaps(fitted_corpus, roster_of(store, NAME), Kind.FAR, 0.9)

    for gap in found.gaps:
        for thought in gap.thoughts:
            assert {turn.rpartition(":")[0] for turn in thought.turns} <= mine


def test_a_gap_becomes_a_candidate_with_its_turns(store, fitted_corpus):
    found = find_gaps(fitted_corpus, roster_of(store, NAME), Kind.FAR, 0.9)
    gap = next(gap for gap in found.gaps if gap.wording == OPEN)
    new = add_candidate(store, NAME, "ann", OPEN, gap.thoughts, actions_of(gap.thoughts))

    assert whole(store, 2) == new
    assert len(new.support) == sum(len(thought.turns) for thought in gap.thoughts)
    assert new.questions > 1


def test_a_set_that_covers_everything_has_no_gap(store, fitted_corpus):
    found = find_gaps(fitted_corpus, roster_of(store, NAME), Kind.FAR, -1.0)

    assert (found.gaps, found.uncovered) == ((), 0)
