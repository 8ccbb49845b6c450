"""What mining is compared with must itself be right, and so must the pooled figures that compare them."""

import numpy as np
import pytest
from audit_records import record
from embedders import HashingEmbedder
from hypothesis import given, settings
from hypothesis import strategies as st
from mining_baselines import medoids, supported, without_mask
from quality_table import Key, Part, difference, pooled
from runs import AGAIN, ANSWER, runs

from forethought.miner import mine as recipe
from forethought.miner.mask import Mask
from forethought.miner.mine import mineable
from forethought.scorer.recovery import SetView
from forethought.scorer.summary import trial
from forethought.ui.auditing import Corpus

VIEW = SetView("set", ("a", "b"), {"a": ("search",), "b": ("answer",)})
KEY = Key("ours", 2)


def test_medoids_are_the_middles_of_clusters_the_largest_first():
    vectors = np.array([[0, 1], [0.1, 1], [1, 0], [1, 0.1], [1, -0.1], [1, 0.02]])
    texts = ["up", "up too", "right", "a bit above", "below", "right again"]

    assert medoids(texts, vectors, 2)[0] in ("right", "right again")
    assert medoids(texts, vectors, 2)[1] in ("up", "up too")


@given(st.lists(st.sampled_from(["a b", "b c", "c d", "d e"]), min_size=1), st.integers(1, 6))
@settings(max_examples=15, deadline=None)
def test_medoids_are_as_many_distinct_texts_as_asked_or_as_there_are(texts, size):
    found = medoids(texts, HashingEmbedder().embed(texts), size)

    assert set(found) <= set(texts)
    assert len(found) == len(set(found)) == min(size, len(set(texts)))


def test_without_its_mask_the_recipe_sees_whole_thoughts_and_has_its_mask_back_after_an_error():
    thoughts = mineable(runs(40))

    with pytest.raises(ZeroDivisionError), without_mask():
        mask = recipe.Mask.fit(thoughts)
        assert all(mask.apply(t.text, t.owned).is_whole for t in thoughts)
        assert all(mask.apply(t.text, t.owned).text == t.text for t in thoughts)
        1 / 0  # noqa: B018

    assert recipe.Mask is Mask


def test_every_set_gets_support_and_expected_actions_by_the_one_assignment_rule():
    corpus = Corpus.of(runs(60), HashingEmbedder())

    found = supported("two", [AGAIN, ANSWER, AGAIN], corpus)

    assert [c.text for c in found.candidates] == [AGAIN, ANSWER]
    assert [c.expected_actions for c in found.candidates] == [("search",), ("answer",)]
    rows = corpus.assigner.assign(corpus.thoughts, [AGAIN, ANSWER]).rows
    assert sum(len(c.support) for c in found.candidates) == sum(row is not None for row in rows)


def part(source: str, gain: float, turns: int, free: float = 4.0) -> Part:
    """A source on which every turn gains `gain` by its assigned text."""
    own = [
        record(f"{source} {n}", source=source, free=free, candidates={"a": gain, "b": 1.0})
        for n in range(turns)
    ]
    report = {"constant_recovery": {"id": "b"}}
    return Part(source, report, trial(own), {KEY: VIEW}, {})


def test_pooled_is_the_mean_over_sources_however_many_turns_each_has():
    parts = [part("few", 2.0, 3), part("many", 3.0, 30)]

    found = pooled(parts, [one.gains("assigned", KEY) for one in parts])

    assert found.value == pytest.approx((0.5 + 0.75) / 2)
    assert found.low == pytest.approx(found.high) == pytest.approx(found.value)


def test_a_set_differs_from_itself_by_nothing_and_from_the_constant_by_what_it_gains_more():
    parts = [part("one", 2.0, 5), part("other", 2.0, 7)]

    assert difference(parts, "assigned", KEY, KEY).value == 0
    assert difference(parts, "assigned", KEY, None).value == pytest.approx(0.25)


def test_a_source_whose_free_thoughts_do_not_surely_gain_is_left_out_of_the_pool():
    parts = [part("tells", 2.0, 5), part("does not", 9.0, 5, free=0.0)]

    assert pooled(parts, [one.gains("assigned", KEY) for one in parts]).value == 0.5
    assert pooled(parts[1:], [parts[1].gains("assigned", KEY)]).value is None
