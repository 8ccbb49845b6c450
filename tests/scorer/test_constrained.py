import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_models import scripted_model
from tiny_models import tiny_model

from forethought.scorer.constrained import (
    TrieLocal,
    disagreement,
    forks_of,
    score_constrained,
    trie_local,
)
from forethought.scorer.context import Context
from forethought.scorer.plain import score_plainly, totals
from forethought.scorer.score import score_sharing_context
from forethought.scorer.selection import scores_of, select

END = 4
candidate_sets = st.lists(
    st.lists(st.integers(0, 3), max_size=5).map(lambda ids: (*ids, END)),
    min_size=1,
    max_size=9,
    unique=True,
).map(tuple)


def by_hand(model, context, candidates) -> tuple[np.ndarray, int]:
    """The definition: walk every candidate, and at each token divide by what any candidate could say there."""

    def log_prob(beginning, token):
        return score_plainly(model, context, [(*beginning, token)], [len(beginning)])[0][-1]

    def allowed(beginning):
        return sorted({c[len(beginning)] for c in candidates if c[: len(beginning)] == beginning})

    found = np.zeros(len(candidates))
    for place, ids in enumerate(candidates):
        for length, token in enumerate(ids):
            choices = [log_prob(ids[:length], other) for other in allowed(ids[:length])]
            found[place] += log_prob(ids[:length], token) - np.logaddexp.reduce(choices)
    walked = ()
    while walked not in candidates:
        walked += (max(allowed(walked), key=lambda token: log_prob(walked, token)),)
    return found, candidates.index(walked)


def test_the_worked_example_of_three_candidates():
    """AB, AC, DE: the sum says DE at .833, the mean DE at .613, constrained decoding A at .90."""
    A, B, C, D, E, START = range(6)
    p = np.full((6, 6), 1e-12)
    p[START, A], p[START, D] = 0.9, 0.1
    p[A, B] = p[A, C] = 0.01
    p[A, A] = 0.98
    p[D, E], p[D, D] = 0.9, 0.1
    p[[B, C, E]] = 1 / 6
    context = Context(scripted_model(torch.from_numpy(np.log(p))), [START])
    candidates = ((A, B), (A, C), (D, E))

    sums = totals(score_sharing_context(context, candidates).log_probs)
    local = score_constrained(context, candidates)

    assert np.exp(sums) == pytest.approx([0.009, 0.009, 0.09])
    assert select(sums).probabilities == pytest.approx([0.083, 0.083, 0.833], abs=5e-4)
    mean = select(scores_of(sums, [2, 2, 2])).probabilities
    assert mean == pytest.approx([0.194, 0.194, 0.613], abs=5e-4)
    assert np.exp(local.log_probs) == pytest.approx([0.45, 0.45, 0.10])
    assert (local.likeliest, local.greedy) == (0, 0)
    assert disagreement([2], [local]) == (1, 1.0, 1.0)


@given(candidates=candidate_sets, context=st.lists(st.integers(0, 9), min_size=1, max_size=6))
@settings(max_examples=20, deadline=None)
def test_forks_alone_give_what_renormalising_every_step_gives(candidates, context):
    model = tiny_model(dtype="float64")

    local = score_constrained(Context(model, context), candidates)

    expected, greedy = by_hand(model, context, candidates)
    assert np.allclose(local.log_probs, expected, atol=1e-9)
    assert np.exp(local.log_probs).sum() == pytest.approx(1)
    assert local.greedy == greedy


@given(candidate_sets)
def test_a_branch_is_priced_once_and_nothing_behind_the_last_fork_is(candidates):
    forks = forks_of(candidates)

    assert len(set(forks.branches)) == len(forks.branches)
    for branch, members in zip(forks.branches, forks.members, strict=True):
        going = [ids for ids in candidates if ids[: len(branch)] == branch]
        assert going == [ids for ids, goes in zip(candidates, members, strict=True) if goes]
        assert len(going) < sum(ids[: len(branch) - 1] == branch[:-1] for ids in candidates)


def test_greedy_decoding_may_end_elsewhere_than_at_the_likeliest():
    """Half and a bit go left and part into two; the rest goes right, to one."""
    candidates = ((0, 0, END), (0, 1, END), (1, END))
    log_probs = {(0,): 0.55, (1,): 0.45, (0, 0): 0.5, (0, 1): 0.5}
    forks = forks_of(candidates)

    local = trie_local(forks, np.log([log_probs[branch] for branch in forks.branches]))

    assert np.exp(local.log_probs) == pytest.approx([0.275, 0.275, 0.45])
    assert (local.likeliest, local.greedy) == (2, 0)


def test_a_single_candidate_is_certain_and_costs_nothing():
    local = score_constrained(Context(tiny_model()), ((1, 2, 3),))

    assert local.log_probs.tolist() == [0.0]
    assert (local.likeliest, local.greedy) == (0, 0)


def test_disagreement_counts_contexts():
    one = TrieLocal(np.log([0.7, 0.3]), greedy=0)
    other = TrieLocal(np.log([0.4, 0.6]), greedy=0)

    assert disagreement([0, 0], [one, other]) == (2, 0.5, 0.0)
    with pytest.raises(ValueError, match="no context"):
        disagreement([], [])
