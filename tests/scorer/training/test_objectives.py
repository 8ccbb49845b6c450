"""The objectives against brute force: a forward a candidate, formulas written out, gradients by autograd and by differences."""

import math
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import FAMILIES, tiny_network

from forethought.scorer.model import _keep_norms_in_float64
from forethought.scorer.training.objectives import (
    Decision,
    Policy,
    Spelled,
    Surrogate,
    Terms,
    advantages,
    policy_loss,
    sft_loss,
    thinking_loss,
)
from forethought.scorer.training.packing import Branch, log_probs
from forethought.scorer.training.selector import competitors, log_q, log_q_against, scores

CANDIDATES = (tuple(b"look"), tuple(b"answer now"), tuple(b"look again"))
VALUE, GRADIENT = 1e-6, 1e-5


@cache
def network(family: str = "llama"):
    found = tiny_network(family).double().eval()
    found.set_attn_implementation("eager")
    _keep_norms_in_float64(found)
    return found


def run(chosen=(0, 2)) -> tuple[list[int], list[Decision]]:
    """Two turns, each with a chosen thought, an action and an observation."""
    trunk: list[int] = list(b"Who?\n")
    decisions = []
    for one in chosen:
        start = len(trunk)
        trunk += CANDIDATES[one]
        first = len(trunk)
        trunk += b"<act>"
        decisions.append(Decision(start, CANDIDATES, one, (first, len(trunk))))
        trunk += b" saw\n"
    return trunk, decisions


def brutally(net, trunk, decisions, weight, alpha, tau):
    """A forward a candidate over all that precedes it, nothing shared."""

    def own(before, ids):
        logits = net(torch.tensor([[*before, *ids]])).logits[0].log_softmax(-1)
        return sum(logits[len(before) + k - 1, token] for k, token in enumerate(ids))

    loss = 0
    for one in decisions:
        before = trunk[: one.start]
        sums = [own(before, ids) / len(ids) ** alpha / tau for ids in one.candidates]
        loss -= weight * (sums[one.chosen] - torch.stack(sums).logsumexp(0))
        first, stop = one.action
        loss -= own(trunk[:first], trunk[first:stop]) / (stop - first)
    return loss


def gradients(net, loss) -> torch.Tensor:
    net.zero_grad()
    loss.backward()
    return torch.cat([p.grad.flatten() for p in net.parameters() if p.grad is not None])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("weight", "alpha", "tau"), [(1.0, 1.0, 1.0), (0.3, 0.0, 2.0)])
def test_the_supervised_loss_is_that_of_brute_force_with_its_gradient(family, weight, alpha, tau):
    net = network(family)
    trunk, decisions = run()
    ours = sft_loss(net, trunk, decisions, weight, alpha, tau)
    theirs = brutally(net, trunk, decisions, weight, alpha, tau)

    assert ours.loss.item() == pytest.approx(theirs.item(), abs=VALUE)
    assert ours.loss.item() == pytest.approx(
        (weight * ours.selection + ours.action).item(), abs=VALUE
    )
    found = gradients(net, sft_loss(net, trunk, decisions, weight, alpha, tau).loss)
    expected = gradients(net, brutally(net, trunk, decisions, weight, alpha, tau))
    torch.testing.assert_close(found, expected, atol=GRADIENT, rtol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_of_thinking_is_that_of_its_tokens_with_its_gradient(family):
    net, weight = network(family), 0.3
    trunk, turns = list(range(20)), [Spelled((3, 6), (7, 9)), Spelled((12, 13), (13, 20))]
    ours = thinking_loss(net, trunk, turns, weight)
    told = net(torch.tensor([trunk])).logits[0].log_softmax(-1)
    each = [
        [torch.stack([-told[i - 1, trunk[i]] for i in range(*span)]).mean() for span in turn]
        for turn in turns
    ]
    theirs = sum(weight * thought + action for thought, action in each)

    assert ours.loss.item() == pytest.approx(theirs.item(), abs=VALUE)
    assert ours.selection.item() == pytest.approx(sum(thought.item() for thought, _ in each))
    torch.testing.assert_close(
        gradients(net, thinking_loss(net, trunk, turns, weight).loss),
        gradients(net, theirs),
        atol=GRADIENT,
        rtol=0,
    )


@settings(max_examples=15)
@given(st.data())
def test_a_branch_changes_nothing_but_itself(data):
    net = network()
    trunk = data.draw(st.lists(st.integers(0, 255), min_size=2, max_size=12))
    branches = [
        Branch(
            data.draw(st.integers(1, len(trunk))),
            tuple(data.draw(st.binary(min_size=1, max_size=6))),
        )
        for _ in range(data.draw(st.integers(0, 4)))
    ]
    with torch.no_grad():
        packed = log_probs(net, trunk, branches)
        alone = log_probs(net, trunk)
        each = [
            log_probs(net, [*trunk[: b.start], *b.ids]).between(b.start, b.start + len(b.ids))
            for b in branches
        ]

    torch.testing.assert_close(packed.trunk, alone.trunk, atol=VALUE, rtol=VALUE)
    assert len(packed.branches) == len(branches)
    for found, expected in zip(packed.branches, each, strict=True):
        torch.testing.assert_close(found, expected, atol=VALUE, rtol=VALUE)


@given(st.integers(2, 12), st.data())
def test_what_is_asked_for_is_what_was_told_of_all(length, data):
    net, trunk = network(), list(range(length))
    first = data.draw(st.integers(1, length - 1))
    span = (first, data.draw(st.integers(first + 1, length)))
    asked = data.draw(st.sampled_from([[], [span]]))
    with torch.no_grad():
        whole = log_probs(net, trunk, [Branch(1, (7, 8))])
        found = log_probs(net, trunk, [Branch(1, (7, 8))], asked)

    torch.testing.assert_close(found.branches, whole.branches)
    if asked:
        torch.testing.assert_close(found.between(*span), whole.between(*span))
    assert int(found.trunk.isnan().sum()) == length - 1 - (span[1] - span[0]) * len(asked)


@pytest.mark.parametrize("branch", [Branch(0, (1,)), Branch(9, (1,)), Branch(1, ())])
def test_a_branch_that_starts_nowhere_is_refused(branch):
    with pytest.raises(ValueError, match="cannot start"):
        log_probs(network(), [1, 2, 3], [branch])


@given(st.lists(st.floats(-30, 0), min_size=1, max_size=6), st.floats(0.1, 5), st.data())
def test_against_detached_competitors_the_value_is_the_same_and_the_gradient_is_the_chosen_s(
    values, tau, data
):
    own = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    chosen = data.draw(st.integers(0, len(values) - 1))
    whole = log_q(own, tau)[chosen]
    detached = log_q_against(own[chosen], competitors(own, chosen, tau), tau)

    assert detached.item() == pytest.approx(whole.item(), abs=1e-9)
    detached.backward()
    expected = torch.zeros(len(values), dtype=torch.float64)
    expected[chosen] = (1 - whole.exp().item()) / tau
    torch.testing.assert_close(own.grad, expected, atol=VALUE, rtol=VALUE)


def test_a_score_is_the_sum_over_the_length_to_alpha():
    own = [torch.tensor([-1.0, -3.0]), torch.tensor([-2.0])]

    assert scores(own, 1.0).tolist() == [-2.0, -2.0]
    assert scores(own, 0.0).tolist() == [-4.0, -2.0]
    assert scores(own, 0.5).tolist() == pytest.approx([-4 / math.sqrt(2), -2.0])


LOGS = st.lists(st.floats(-1.5, 0), min_size=1, max_size=5)


def by_hand(policy, selections, actions, advantage, reference) -> float:
    """The formulas over plain numbers."""

    def surrogate(log_ratio: float) -> float:
        ratio = math.exp(log_ratio)
        if policy.surrogate is Surrogate.SAPO:
            t = policy.gate if advantage > 0 else policy.gate_negative
            return 4 / t / (1 + math.exp(-t * (ratio - 1))) * advantage
        bounded = min(max(ratio, 1 - policy.clip_low), 1 + policy.clip_high)
        return min(ratio * advantage, bounded * advantage)

    chosen, acted = ([n - o for n, o in pairs] for pairs in (selections, actions))
    if policy.surrogate is Surrogate.GSPO:
        total = policy.gamma * sum(chosen) + sum(acted)
        gain = surrogate(total / (policy.gamma * len(chosen) + len(acted)))
    else:
        gain = policy.gamma * sum(map(surrogate, chosen)) / len(chosen)
        gain += sum(map(surrogate, acted)) / len(acted)
    away = [r - n for (n, _), r in zip(actions, reference, strict=True)]
    return -gain + policy.beta * sum(math.exp(a) - a - 1 for a in away) / len(away)


@settings(max_examples=60)
@given(
    st.sampled_from(Surrogate),
    LOGS,
    LOGS,
    st.floats(-2, 2),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([0.0, 0.1]),
    st.data(),
)
def test_a_policy_s_loss_and_gradient_are_those_of_its_formula(
    surrogate, selections, actions, advantage, gamma, beta, data
):
    policy = Policy(surrogate, gamma=gamma, beta=beta)
    shifted = st.floats(-0.5, 0.5)
    old = [[value + data.draw(shifted) for value in values] for values in (selections, actions)]
    reference = [value + data.draw(shifted) for value in actions]
    new = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (selections, actions)]
    terms = [Terms(n, torch.tensor(o, dtype=torch.float64)) for n, o in zip(new, old, strict=True)]
    loss = policy_loss(policy, *terms, advantage, torch.tensor(reference, dtype=torch.float64))

    def formula(first, second) -> float:
        pairs = [list(zip(v, o, strict=True)) for v, o in zip((first, second), old, strict=True)]
        return by_hand(policy, *pairs, advantage, reference)

    assert loss.item() == pytest.approx(formula(selections, actions), abs=1e-9)
    loss.backward()
    step = 1e-6
    for side, values in enumerate((selections, actions)):
        for place in range(len(values)):
            moved = []
            for change in (step, -step):
                both = [list(selections), list(actions)]
                both[side][place] += change
                moved.append(formula(*both))
            slope = (moved[0] - moved[1]) / (2 * step)
            kinked = abs(moved[0] + moved[1] - 2 * loss.item()) > 1e-8
            assert kinked or new[side].grad[place].item() == pytest.approx(slope, abs=1e-5)


def test_the_reference_is_asked_for_where_it_counts():
    one = Terms(torch.zeros(1), torch.zeros(1))
    with pytest.raises(ValueError, match="reference"):
        policy_loss(Policy(beta=0.1), one, one, 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_advantages_have_no_mean_and_a_group_that_agrees_has_none(rewards):
    found = advantages(rewards)

    assert found.mean().item() == pytest.approx(0, abs=1e-6)
    if len(set(rewards)) == 1:
        assert found.abs().max().item() < 1e-6
