"""Branch and bound against scoring everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import VOCABULARY, tiny_model

from forethought.data.errors import ContextTooLong
from forethought.scorer import pruning
from forethought.scorer.context import Context
from forethought.scorer.plain import totals
from forethought.scorer.pruning import Rule, select_pruning
from forethought.scorer.score import score_sharing_context

CONTEXT = [5, 6, 7, 8]


def drawn(seed: int, count: int, longest: int, tokens: int = VOCABULARY) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, count)
    return [rng.integers(0, tokens, length).tolist() for length in lengths]


def mean_rule(sequences, offsets=0.0) -> Rule:
    return Rule(np.array([len(s) for s in sequences], float), np.zeros(len(sequences)) + offsets)


def exact_scores(context, sequences, rule) -> np.ndarray:
    return rule.scores(totals(score_sharing_context(context, sequences).log_probs))


@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 30),
    tokens=st.sampled_from([2, 4, VOCABULARY]),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    spread=st.sampled_from([0.0, 3.0]),
    epsilon=st.sampled_from([float("inf"), 0.1, 1e-6, 0.0]),
)
@settings(max_examples=60, deadline=None)
def test_the_choice_is_exact_and_the_rest_within_what_is_returned(
    seed, count, tokens, alpha, spread, epsilon
):
    sequences = drawn(seed, count, 24, tokens)
    rng = np.random.default_rng(seed)
    lengths = np.array([len(s) for s in sequences], float)
    rule = Rule(lengths**alpha, spread * rng.standard_normal(count))
    context = Context(tiny_model(dtype="float64"), CONTEXT)

    pruned = select_pruning(context, sequences, rule, epsilon=epsilon)

    exact = exact_scores(context, sequences, rule)
    assert exact[pruned.selected] == pytest.approx(exact.max(), abs=1e-11)
    finished = pruned.is_finished
    assert np.abs(pruned.scores[finished] - exact[finished]).max() < 1e-11
    assert (pruned.scores >= exact - 1e-11).all()
    assert pruned.epsilon <= epsilon
    weights = np.exp(exact - exact.max())
    true = (weights / weights.sum())[finished]
    kept = np.exp(pruned.scores[finished] - exact.max())
    kept /= kept.sum()
    assert (true <= kept + 1e-9).all()
    assert (true * (1 + pruned.epsilon) >= kept - 1e-9).all()


def test_with_epsilon_nought_everything_is_finished():
    sequences = drawn(1, 40, 24)
    context = Context(tiny_model(dtype="float64"), CONTEXT)

    pruned = select_pruning(context, sequences, mean_rule(sequences), epsilon=0.0)

    assert pruned.is_finished.all()
    assert pruned.epsilon == 0


def test_a_clear_winner_spares_most_of_the_work():
    sequences = [*drawn(2, 300, 40), [9]]
    offsets = np.zeros(301)
    offsets[-1] = 50.0
    rule = Rule(np.ones(301), offsets)
    context = Context(tiny_model(), CONTEXT)

    pruned = select_pruning(context, sequences, rule)

    assert pruned.selected == 300
    assert pruned.nodes < 0.05 * pruned.all_nodes


def test_the_first_of_equals_is_taken_as_in_full_scoring():
    sequences = [[1, 2, 3], [4, 5], [1, 2, 3], [4, 5]]
    context = Context(tiny_model(dtype="float64"), CONTEXT)
    rule = mean_rule(sequences)

    pruned = select_pruning(context, sequences, rule)

    assert pruned.selected == int(np.argmax(exact_scores(context, sequences, rule)))


@pytest.mark.parametrize("bonus", [range(12), [11, *range(11)]])
def test_the_winner_can_be_committed_whether_it_was_finished_alone_or_with_others(bonus):
    sequences = drawn(3, 12, 30)
    model = tiny_model(dtype="float64")
    context = Context(model, CONTEXT)
    pruned = select_pruning(context, sequences, mean_rule(sequences, np.array(bonus)))

    context.commit(pruned.winner)

    fresh = Context(model, [*CONTEXT, *sequences[pruned.selected]])
    assert (context.logits() - fresh.logits()).abs().max() < 1e-11
    context.check()


def test_sets_of_several_tries_are_searched_together(monkeypatch):
    monkeypatch.setattr(pruning, "MOST_NODES", 50)
    sequences = drawn(4, 60, 24)
    context = Context(tiny_model(dtype="float64"), CONTEXT)
    rule = mean_rule(sequences)

    pruned = select_pruning(context, sequences, rule, epsilon=0.01)

    assert pruned.selected == int(np.argmax(exact_scores(context, sequences, rule)))


def test_a_temperature_of_nought_asks_for_the_choice_alone():
    sequences = drawn(5, 20, 24)
    context = Context(tiny_model(dtype="float64"), CONTEXT)

    pruned = select_pruning(context, sequences, mean_rule(sequences), tau=0.0)

    assert pruned.epsilon == 0


def test_what_cannot_be_searched_is_refused():
    context = Context(tiny_model(), CONTEXT)

    with pytest.raises(ValueError, match="no candidate"):
        select_pruning(context, [], Rule(np.ones(0), np.zeros(0)))
    with pytest.raises(ContextTooLong, match="too many"):
        select_pruning(context, [[1] * 40000], Rule(np.ones(1), np.zeros(1)))
