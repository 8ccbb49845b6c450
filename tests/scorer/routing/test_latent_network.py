"""The network and its loss against loops and formulas, in float64."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from forethought.scorer.routing.utility.losses import WEIGHTS, terms, total
from forethought.scorer.routing.utility.network import (
    CommunicationLayer,
    LatentNetwork,
    Predicted,
    Query,
    Shape,
)

SHAPE = Shape(width=8, query_tokens=3, capsules=4, heads=2)
TEXT, IMAGE, PROFILE = 5, 3, 6


def network(image: int = 0) -> LatentNetwork:
    torch.manual_seed(0)
    made = LatentNetwork(SHAPE, TEXT, PROFILE, image).double().eval()
    for weight in made.parameters():  # capsules begin near zero, which would hide a mistake
        torch.nn.init.normal_(weight, std=0.5)
    return made


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def softmax(values):
    exponents = np.exp(np.array(values) - np.max(values))
    return exponents / exponents.sum()


def apply(module, values):
    return module(torch.tensor(np.array(values))).detach().numpy()


def attention(query, keys, values, bias):
    """One query over keys, by heads; `bias[h][k]`."""
    size = len(query) // SHAPE.heads
    found = []
    for head in range(SHAPE.heads):
        part = slice(head * size, (head + 1) * size)
        logits = [
            query[part] @ key[part] / math.sqrt(size) + bias[head][k] for k, key in enumerate(keys)
        ]
        found.append(
            sum(share * value[part] for share, value in zip(softmax(logits), values, strict=True))
        )
    return np.concatenate(found)


def layer_by_loops(layer, capsules, arms, there):
    """One question: `capsules` (C, D), `arms` (A, D), only arms `there` being asked or told of."""
    arms = {a: arms[a] for a in there}
    for a, arm in arms.items():
        query, keys = apply(layer.read_query, arm), [apply(layer.read_key, c) for c in capsules]
        shares = softmax([query @ key / math.sqrt(SHAPE.width) for key in keys])
        read = sum(s * apply(layer.read_value, c) for s, c in zip(shares, capsules, strict=True))
        update = apply(layer.read_update, np.concatenate([arm, read, arm * read]))
        arms[a] = apply(layer.norms["read"], arm + update)
    before = dict(arms)
    for a, arm in before.items():
        others = list(before.values())
        bias = np.array(
            [apply(layer.pair_bias, np.concatenate([arm, o, arm - o, arm * o])) for o in others]
        ).T
        keys = [apply(layer.arm_key, o) for o in others]
        values = [apply(layer.arm_value, o) for o in others]
        found = attention(apply(layer.arm_query, arm), keys, values, bias)
        compared = apply(layer.norms["compared"], arm + apply(layer.arm_out, found))
        arms[a] = apply(layer.norms["arm"], compared + apply(layer.arm_update, compared))
    scores = softmax([apply(layer.score, arm)[0] / SHAPE.temperature for arm in arms.values()])
    weighed = [s * arm for s, arm in zip(scores, arms.values(), strict=True)]
    keys, values = [
        [apply(part, w) for w in weighed] for part in (layer.back_key, layer.back_value)
    ]
    told = []
    for capsule in capsules:
        found = attention(
            apply(layer.back_query, capsule), keys, values, np.zeros((SHAPE.heads, len(weighed)))
        )
        one = apply(layer.norms["told"], capsule + apply(layer.back_out, found))
        told.append(apply(layer.norms["capsule"], one + apply(layer.capsule_update, one)))
    return np.array(told), arms


@pytest.mark.parametrize("there", [(0, 1, 2), (0, 2), (1,)])
def test_a_communication_layer_equals_a_loop_over_capsules_and_available_arms(there):
    torch.manual_seed(1)
    layer = CommunicationLayer(SHAPE).double().eval()
    capsules, arms = random(1, 4, 8, seed=1), random(1, 3, 8, seed=2)
    available = torch.tensor([[a in there for a in range(3)]])

    with torch.no_grad():
        new_capsules, new_arms = layer(capsules, arms, available)
    by_loops, arms_by_loops = layer_by_loops(layer, capsules[0].numpy(), arms[0].numpy(), there)

    np.testing.assert_allclose(new_capsules[0].numpy(), by_loops, atol=1e-6)
    for arm in there:
        np.testing.assert_allclose(new_arms[0, arm].numpy(), arms_by_loops[arm], atol=1e-6)


def test_the_whole_network_equals_the_loops_and_its_head_the_formulas():
    made = network()
    query, profiles, available = (
        random(1, TEXT),
        random(3, PROFILE),
        torch.ones(1, 3, dtype=torch.bool),
    )

    with torch.no_grad():
        found = made(Query(query), profiles, available)
        tokens = made.text_tokens(query)[0].numpy()
        arms = made.arm(profiles).numpy()
    weight, bias = (
        made.attend.in_proj_weight.detach().numpy(),
        made.attend.in_proj_bias.detach().numpy(),
    )
    parts = [(weight[i * 8 : i * 8 + 8], bias[i * 8 : i * 8 + 8]) for i in range(3)]
    seeds = made.capsules.detach().numpy()
    queries, keys, values = (
        x @ w.T + b for x, (w, b) in zip((seeds, tokens, tokens), parts, strict=True)
    )
    no_bias = np.zeros((SHAPE.heads, len(tokens)))
    capsules = np.array(
        [apply(made.attend.out_proj, attention(q, keys, values, no_bias)) for q in queries]
    )
    for layer in made.layers:
        capsules, arms = layer_by_loops(layer, capsules, arms, (0, 1, 2))

    for arm in range(3):
        first, second = apply(made.head, arms[arm])
        raw = apply(made.correct, np.concatenate([arms[arm], capsules.mean(axis=0)]))[0]
        mean, correction = 1 / (1 + math.exp(-first)), 0.05 * math.tanh(raw)
        assert found.mean[0, arm] == pytest.approx(mean, abs=1e-6)
        assert found.deviation[0, arm] == pytest.approx(
            math.log1p(math.exp(second)) + 1e-4, abs=1e-6
        )
        assert found.correction[0, arm] == pytest.approx(correction, abs=1e-6)
        assert found.quality[0, arm] == pytest.approx(min(1, max(0, mean + correction)), abs=1e-6)


@settings(max_examples=15)
@given(st.permutations(range(4)))
def test_permuted_arms_have_permuted_predictions(order):
    made, profiles, query = network(), random(4, PROFILE), Query(random(2, TEXT))
    available = torch.tensor([[True, True, False, True], [True, True, True, True]])

    with torch.no_grad():
        there = made(query, profiles, available)
        permuted = made(query, profiles[list(order)], available[:, list(order)])

    for one, other in zip(there, permuted, strict=True):
        kept = available[:, list(order)]
        torch.testing.assert_close(one[:, list(order)][kept], other[kept])


@settings(max_examples=15)
@given(st.sets(st.integers(0, 3), min_size=1))
def test_a_masked_arm_is_as_if_it_had_never_been_there(there):
    made, profiles, query = network(), random(4, PROFILE), Query(random(2, TEXT))
    places = sorted(there)
    mask = torch.tensor([[a in there for a in range(4)]] * 2)

    with torch.no_grad():
        masked = made(query, profiles, mask)
        without = made(query, profiles[places], torch.ones(2, len(places), dtype=torch.bool))

    for one, other in zip(masked, without, strict=True):
        torch.testing.assert_close(one[:, places], other)


def test_a_question_without_a_picture_is_predicted_as_by_its_text_alone():
    made, profiles = network(IMAGE), random(2, PROFILE)
    text, image = random(2, TEXT), random(2, IMAGE, seed=3)
    available = torch.ones(2, 2, dtype=torch.bool)

    with torch.no_grad():
        mixed = made(Query(text, image, torch.tensor([True, False])), profiles, available).quality
        alone = made(Query(text), profiles, available).quality
        seen = made(Query(text, image, torch.tensor([True, True])), profiles, available).quality

    torch.testing.assert_close(mixed[1], alone[1])
    torch.testing.assert_close(mixed[0], seen[0])
    assert not torch.allclose(mixed[0], alone[0])


def test_the_loss_equals_its_formulas_over_available_cells():
    draw = np.random.default_rng(0)
    shape = (6, 3)
    mean, quality = draw.random(shape), draw.integers(0, 2, shape).astype(float)
    deviation, correction = draw.random(shape) + 0.1, 0.05 * draw.standard_normal(shape)
    cost, weight = np.array([0.2, 0.5, 1.0]), 0.03
    available = draw.random(shape) < 0.7
    available[:, 0] |= ~available.any(axis=1)
    final = np.clip(mean + correction, 0, 1)
    predicted = Predicted(*map(torch.tensor, (mean, deviation, correction, final)))

    found = terms(
        predicted, torch.tensor(quality), torch.tensor(cost), torch.tensor(available), weight
    )

    score, utility = final - weight * cost, quality - weight * cost
    cells = [(q, a) for q, a in np.ndindex(*shape) if available[q, a]]
    pairs = [(q, i, j) for q, i in cells for j in range(3) if j != i and available[q, j]]
    won = {(q, i, j): utility[q, i] > utility[q, j] for q, i, j in pairs}
    ahead = {(q, i, j): score[q, i] - score[q, j] for q, i, j in pairs}
    lists = []
    for q in range(6):
        there = [a for a in range(3) if available[q, a]]
        target, given_ = softmax(utility[q, there] / 0.05), np.log(softmax(score[q, there]))
        lists.append(-float(target @ given_))
    expected = [
        np.mean(
            [
                0.5 * ((quality[c] - mean[c]) / deviation[c]) ** 2 + math.log(deviation[c])
                for c in cells
            ]
        ),
        np.mean([-math.log(1 / (1 + math.exp(-ahead[p] if won[p] else ahead[p]))) for p in pairs]),
        np.mean(lists),
        np.mean([(score[c] - utility[c]) ** 2 for c in cells]),
        np.mean([(quality[c] - mean[c]) ** 2 for c in cells]),
        np.mean([correction[c] ** 2 for c in cells]),
    ]
    np.testing.assert_allclose([float(term) for term in found], expected, atol=1e-6)
    np.testing.assert_allclose(
        [float(w) for w in WEIGHTS], [1, 0.35, 0.65, 0.25, 0.1, 0.05], atol=1e-6
    )
    assert float(total(found)) == pytest.approx(
        float(np.dot(list(map(float, WEIGHTS)), expected)), abs=1e-6
    )


def test_a_batch_in_which_every_question_has_one_arm_has_no_pair_and_a_finite_loss():
    one = torch.tensor([[0.3, 0.6]], requires_grad=True)
    predicted = Predicted(one, one + 0.1, one * 0, one)

    found = total(
        terms(predicted, torch.ones(1, 2), torch.ones(2), torch.tensor([[True, False]]), 0.0)
    )
    found.backward()

    assert torch.isfinite(found)
    assert one.grad[0, 1] == 0
