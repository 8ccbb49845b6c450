"""A set that grows: what there is stays, what is new is proposed behind it."""

import random
from dataclasses import replace

import pytest
from embedders import HashingEmbedder
from runs import AGAIN, run, runs, search

from forethought.data.candidates import Status, written
from forethought.data.identity import Split
from forethought.data.traces import Action, Trace, Turn
from forethought.miner.assign import Assigner
from forethought.miner.escape import ESCAPE, with_escape
from forethought.miner.incremental import LINEAGE, grow
from forethought.miner.mask import Mask
from forethought.miner.mine import MinerSettings, mine, mineable
from forethought.miner.wishes import Wishes

EMBEDDER = HashingEmbedder()
OLD = runs(160)
KNOWN = {trace.id for trace in OLD}
MINED = mine(OLD, EMBEDDER, "bridges").candidate_set
LONG = "The page is too long to read, so I should look at a smaller part of it."


def with_long_page(number: int) -> Trace:
    """A run that makes a move which no old run makes."""
    made = run(number)
    page = Turn((LONG,), (Action("examine", {"input": "part"}),), ("A part.",))
    return replace(made, turns=(made.turns[0], page, *made.turns[1:]))


def of_noise(number: int) -> Trace:
    """A run whose only thought nobody else has."""
    rng = random.Random(number)
    words = ["".join(rng.choices("abcdefghijklmnop", k=6)) for _ in range(12)]
    thought = f"I should {' '.join(words)}."
    return Trace(f"Noise number {number}?", (search(thought, "x", ""),), None, "noise")


SAME = [run(number) for number in range(1000, 1016)]  # a tenth more of what is known
NEW = [with_long_page(number) for number in range(2000, 2040)]


def grown(new: list[Trace], old_set=MINED, settings=None):
    return grow(old_set, [*OLD, *new], KNOWN, EMBEDDER, settings)


def test_growing_by_nothing_changes_nothing():
    assert grown([]).candidate_set == MINED
    assert grown([t for t in SAME if t.split is not Split.MINE]).candidate_set == MINED


@pytest.mark.parametrize("new", [SAME, NEW, [*SAME, *NEW]], ids=["same", "new", "both"])
def test_no_candidate_changes_its_id_text_actions_or_place_and_each_keeps_its_support(new):
    candidates = grown(new).candidate_set.candidates

    for before, after in zip(MINED.candidates, candidates, strict=False):
        assert replace(after, support=before.support, questions=before.questions) == before
        assert after.support[: len(before.support)] == before.support
        assert after.questions >= before.questions


def test_a_new_move_is_found_and_proposed_behind_the_others():
    growth = grown([*SAME, *NEW])
    proposals = growth.candidate_set.candidates[len(MINED.candidates) :]

    assert [one.text for one in proposals] == [LONG]
    assert proposals[0].status is Status.PROPOSED
    assert proposals[0].expected_actions == ("examine",)
    assert proposals[0].questions == len({t.question for t in NEW if t.split is Split.MINE})
    assert growth.added == ((proposals[0].id, ()),)
    assert growth.candidate_set.manifest[LINEAGE] == [{"id": proposals[0].id, "parents": ()}]


def test_more_of_the_same_joins_what_there_is():
    growth = grown(SAME)

    assert growth.added == ()
    assert growth.num_placed > growth.num_new / 2
    assert sum(len(c.support) for c in growth.candidate_set.candidates) == growth.num_placed + sum(
        len(c.support) for c in MINED.candidates
    )


def test_noise_is_not_proposed():
    assert grown([of_noise(number) for number in range(60)]).added == ()


def test_new_traces_in_any_order_give_the_same_set():
    new = [*SAME, *NEW]
    shuffled = random.Random(3).sample([*OLD, *new], len(OLD) + len(new))

    assert grow(MINED, shuffled, KNOWN, EMBEDDER) == grown(new)


def test_old_turns_keep_their_candidates():
    """The bar: a tenth more traces, at least 95 % of the old assignments stay."""
    candidate_set = grown([*SAME, *NEW[:8]]).candidate_set
    old, every = mineable(OLD), mineable([*OLD, *SAME, *NEW[:8]])
    before = Assigner(old, Mask.fit(old), EMBEDDER).assign(old, [c.text for c in MINED.candidates])
    after = Assigner(every, Mask.fit(every), EMBEDDER)
    texts = [candidate.text for candidate in candidate_set.candidates]
    same = [a == b for a, b in zip(before.rows, after.assign(old, texts).rows, strict=True)]

    assert sum(same) >= 0.95 * len(same)


def test_what_a_person_wrote_reworded_or_rejected_stays_and_is_not_proposed_again():
    first, *others = MINED.candidates
    reworded = replace(first, text="I found little, so I should look elsewhere.")
    rejected = written(LONG)
    touched = replace(
        MINED, candidates=(reworded, *others, replace(rejected, status=Status.REJECTED))
    )

    candidates = grown([*SAME, *NEW], touched).candidate_set.candidates

    assert [c.text for c in candidates[: len(touched.candidates)]] == [
        c.text for c in touched.candidates
    ]
    assert [c.text for c in candidates].count(LONG) == 1
    assert first.text not in [c.text for c in candidates]


def test_a_ban_and_the_budget_hold_for_proposals():

    assert grown(NEW, settings=MinerSettings(wishes=Wishes(banned=(LONG,)))).added == ()
    assert len(grown(NEW, settings=MinerSettings(budget=1)).added) <= 1


def test_the_escape_stays_last_and_takes_no_turn():
    candidates = grown(NEW, with_escape(MINED)).candidate_set.candidates

    assert candidates[-1].text == ESCAPE
    assert candidates[-1].support == ()
    assert candidates[-2].text == LONG


def test_growing_twice_proposes_a_move_once():
    once = grown(NEW).candidate_set
    more = [with_long_page(number) for number in range(3000, 3030)]
    known = KNOWN | {trace.id for trace in NEW}

    twice = grow(once, [*OLD, *NEW, *more], known, EMBEDDER)

    assert [c.id for c in twice.candidate_set.candidates] == [c.id for c in once.candidates]
    assert twice.candidate_set.candidates[-1].questions > once.candidates[-1].questions


def test_the_habitual_move_stays_known():
    assert AGAIN in [candidate.text for candidate in grown(NEW).candidate_set.candidates]
