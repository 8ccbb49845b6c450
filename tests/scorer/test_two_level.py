from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import tiny_model

from forethought.scorer.compiled_set import compile_set
from forethought.scorer.context import Context
from forethought.scorer.plain import totals
from forethought.scorer.score import score_sharing_context
from forethought.scorer.two_level import Grouping, agreement, select_approximately

labelled = st.lists(st.tuples(st.integers(0, 4), st.floats(-50, 0)), min_size=1, max_size=30).map(
    lambda pairs: (Grouping.of([p[0] for p in pairs]), np.array([p[1] for p in pairs]))
)


@given(labelled)
def test_a_beam_of_all_groups_is_the_exact_choice(case):
    grouping, scores = case

    found = select_approximately(scores.__getitem__, grouping, len(grouping.representatives))

    assert found.selected == int(np.argmax(scores))
    assert found.num_scored == len(scores)


@given(labelled, st.integers(1, 4))
def test_the_choice_is_the_best_of_what_was_scored_and_never_worse_with_a_wider_beam(case, beam):
    grouping, scores = case

    narrow = select_approximately(scores.__getitem__, grouping, beam)
    wide = select_approximately(scores.__getitem__, grouping, beam + 1)

    assert scores[narrow.selected] == np.nanmax(narrow.scores)
    assert np.isfinite(narrow.scores[grouping.representatives]).all()
    assert narrow.num_scored <= wide.num_scored
    assert scores[narrow.selected] <= scores[wide.selected]


@given(labelled)
def test_no_candidate_is_scored_twice(case):
    grouping, scores = case
    asked: list[int] = []

    def score(places):
        asked.extend(places.tolist())
        return scores[places]

    select_approximately(score, grouping, 2)

    assert len(asked) == len(set(asked))


def test_what_a_beam_loses_is_measured():
    """The best of context 2 hides in the group whose representative scores low."""
    grouping = Grouping.of(["a", "a", "b", "b"])
    scores = np.array([[-1.0, -2.0, -3.0, -4.0], [-2.0, -3.0, -5.0, -1.0]])

    assert agreement(scores, grouping, 1) == (2, 0.5, 3.0, 0.5)
    assert agreement(scores, grouping, 2) == (2, 1.0, 4.0, 0.0)


def test_stems_part_groups_where_the_least_is_shared():
    candidates = [(7, 1, 9), (7, 2, 9), (7, 1, 8), (7, 2, 8), (7, 2, 7), (7, 2, 6), (7, 1, 7)]

    grouping = Grouping.by_stem(candidates, 2)

    assert grouping.groups.tolist() == [0, 1, 0, 1, 1, 1, 0]
    assert grouping.representatives.tolist() == [0, 1]


@given(
    st.lists(
        st.lists(st.integers(0, 3), min_size=1, max_size=4).map(lambda ids: (*ids, 9)),
        min_size=1,
        max_size=40,
        unique=True,
    ),
    st.integers(1, 12),
)
def test_stem_groups_are_runs_in_sorted_order_of_about_equal_length(candidates, most):
    grouping = Grouping.by_stem(candidates, most)

    runs = [grouping.groups[candidates.index(ids)] for ids in sorted(candidates)]
    assert sum(one != other for one, other in pairwise(runs)) == len(set(runs)) - 1
    assert len(grouping.representatives) == min(most, len(candidates))
    assert np.bincount(grouping.groups).max() <= 2 * len(candidates) / most + 2
    assert len(Grouping.by_stem(candidates).representatives) == np.ceil(len(candidates) ** 0.5)


def test_vectors_group_what_is_near_and_the_most_central_represents():
    vectors = np.array([[0.0, 0.1], [0.0, 0.0], [0.0, -0.1], [5.0, 5.0], [5.0, 5.2], [5.0, 5.1]])

    grouping = Grouping.by_vectors(vectors, 2)

    assert grouping.groups.tolist() == [0, 0, 0, 1, 1, 1]
    assert grouping.representatives.tolist() == [1, 5]
    assert len(Grouping.by_vectors(np.ones((4, 2)), 3).representatives) == 1


def test_a_large_set_is_chosen_from_with_a_fraction_of_the_scoring():
    model = tiny_model(dtype="float64")
    texts = [f"{verb} {thing}." for verb in ("Find", "Read", "Ask", "Stop") for thing in range(64)]
    compiled = compile_set(model, texts)
    context = Context(model, model.encode("Question: Who?\n"))

    def score(places):
        ids = [compiled.ids[place] for place in places]
        return totals(score_sharing_context(context, ids).log_probs) / compiled.num_tokens[places]

    every = score(np.arange(len(texts)))
    grouping = Grouping.of([text.split()[0] for text in texts])
    found = select_approximately(score, grouping, 1)

    assert found.num_scored == 64 + 3
    assert np.allclose(found.scores[np.isfinite(found.scores)], every[np.isfinite(found.scores)])
    assert select_approximately(score, grouping, 4).selected == int(np.argmax(every))


@pytest.mark.parametrize("beam", [0, -1])
def test_an_empty_beam_is_refused(beam):
    with pytest.raises(ValueError, match="at least one"):
        select_approximately(np.zeros(3).__getitem__, Grouping.of([0, 0, 1]), beam)
