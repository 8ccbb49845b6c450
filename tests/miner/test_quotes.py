"""The evidence of a group: which thoughts are shown, and which sentences are examples of style."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.candidates import CandidateSet, Status, written
from forethought.data.library import builtin
from forethought.miner.quotes import BOUNDARY, CENTRAL, OUTSIDERS, TYPICAL, examples_of, gather
from forethought.miner.writer import Quote


def on_a_circle(degrees: list[float]) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def quotes_of(count: int) -> list[Quote]:
    return [Quote(f"t:{row}", f"original {row}", f"masked {row}") for row in range(count)]


def turns(quotes):
    return [quote.turn for quote in quotes]


def test_the_nearest_are_central_the_farthest_at_the_edge_and_outsiders_near():
    """Eleven members symmetric about 0 degrees, so that the pairs' order is theirs; the outsiders at 40, 60, ... degrees."""
    degrees = [0.0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 100, 40, 80, 60, 120, 140]
    found = gather(quotes_of(17), on_a_circle(degrees), range(11), "p")

    assert turns(found.central) == ["t:0", "t:1", "t:2", "t:3"]
    assert turns(found.typical) == ["t:4", "t:5", "t:6", "t:7"]
    assert turns(found.boundary) == ["t:8", "t:9", "t:10"]
    assert turns(found.outsiders) == ["t:12", "t:14", "t:13", "t:11", "t:15"]


@given(st.lists(st.floats(0, 360), min_size=1, max_size=40), st.integers(1, 40))
def test_no_thought_is_shown_twice_and_never_more_than_asked(degrees, size):
    size = min(size, len(degrees))
    found = gather(quotes_of(len(degrees)), on_a_circle(degrees), range(size), "p")
    inside, outside = turns(found.members), turns(found.outsiders)

    assert len(set(inside)) == len(inside) >= min(size, CENTRAL)
    assert set(inside) <= {f"t:{row}" for row in range(size)}
    assert set(outside) <= {f"t:{row}" for row in range(size, len(degrees))}
    assert len(inside) <= CENTRAL + TYPICAL + BOUNDARY
    assert len(outside) == min(OUTSIDERS, len(degrees) - size)


def test_equal_masked_texts_are_shown_once_and_are_no_outsiders():
    quotes = [Quote(f"t:{row}", f"original {row}", "masked") for row in range(5)]
    found = gather(quotes, on_a_circle([0, 0, 0, 0, 0]), [0, 1, 2], "p")

    assert turns(found.members) == ["t:0"]
    assert found.outsiders == ()


def test_examples_are_what_people_accepted_or_reworded_and_then_what_ships():
    accepted = replace(written("I accepted this one."), status=Status.ACCEPTED)
    reworded = replace(written("I was another."), text="I was reworded by a person.")
    rejected = replace(written("I am out."), status=Status.REJECTED)
    own = CandidateSet("own", (written("I am only proposed."), rejected, reworded, accepted))
    again = CandidateSet("again", (replace(accepted, text="I ACCEPTED this one."),))

    found = examples_of([own, again], [builtin("handwritten")])

    assert found[:2] == ("I was reworded by a person.", "I accepted this one.")
    assert found[2:] == tuple(c.text for c in builtin("handwritten").candidates)


def test_a_groups_own_phrase_is_no_example():
    found = gather(quotes_of(1), on_a_circle([0]), [0], "I am it.", examples=("I am  it.", "B."))

    assert found.examples == ("B.",)
