"""Pins and bans, by text."""

import numpy as np
import pytest

from forethought.data.errors import ForethoughtError, InvalidCandidate
from forethought.miner.choose import Terms, TokenLimit, choose
from forethought.miner.wishes import Wishes

MINED = ["I should search again.", "I have the answer.", "I need the next part."]


def test_texts_become_columns_whatever_their_case_and_spacing():
    wishes = Wishes(
        pinned=("i need  the next part.",), banned=("I HAVE THE ANSWER.", "never mined")
    )

    assert wishes.phrases(MINED) == MINED
    assert wishes.terms(MINED, 3) == Terms(pinned=(2,), banned=frozenset({1}))


def test_a_pin_that_was_not_mined_is_chosen_first_all_the_same():
    wishes = Wishes(pinned=("I should compare the two.", "I have the answer."))
    phrases = wishes.phrases(MINED)
    terms = wishes.terms(phrases, 3)
    chosen = choose(np.eye(4), np.ones(4), 3, terms=terms)

    assert [phrases[row] for row in chosen.rows] == [
        "I should compare the two.",
        "I have the answer.",
        "I should search again.",
    ]


def test_a_pin_named_twice_is_one():
    assert Wishes(pinned=(MINED[0], MINED[0])).terms(MINED, 1).pinned == (0,)


@pytest.mark.parametrize(
    ("wishes", "budget", "message"),
    [
        (Wishes(("I have it now.",), ("i have it NOW.",)), 5, "pinned and banned at once"),
        (Wishes(tuple(MINED)), 2, "3 candidates are pinned and the budget is 2"),
        (Wishes(tuple(MINED[:2])), None, "cost 20 tokens and the budget is 15"),
    ],
)
def test_a_contradiction_is_one_clear_line(wishes, budget, message):
    tokens = TokenLimit(np.full(4, 10.0), 15)

    with pytest.raises(ForethoughtError, match=message) as error:
        wishes.terms(wishes.phrases(MINED), budget, tokens)
    assert "\n" not in str(error.value)


def test_a_pin_that_no_candidate_may_say_is_refused():
    with pytest.raises(InvalidCandidate, match="<thinking>"):
        Wishes(pinned=("I say <thinking>.",)).phrases(MINED)
