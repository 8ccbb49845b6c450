"""Baselines and the comparison as a whole, on made-up tables."""

from dataclasses import replace

import numpy as np
import pytest
from routing_tables import ARMS, example, outcomes

from forethought.data.identity import Split
from forethought.scorer.routing.outcomes import InvalidRoutingTable
from forethought.scorer.routing.utility import baselines
from forethought.scorer.routing.utility.baselines import Known
from forethought.scorer.routing.utility.contest import BEST_SINGLE, LATENT, contest, part_of
from forethought.scorer.routing.utility.features import Asked
from forethought.scorer.routing.utility.fitting import Schedule
from forethought.scorer.routing.utility.frontier import LAMBDAS, choices
from forethought.scorer.routing.utility.latent_router import Example, Settings
from forethought.scorer.routing.utility.network import Shape
from forethought.scorer.routing.utility.profiles import Pool

QUICK = Settings(
    Shape(width=8, query_tokens=2, capsules=2, layers=1, heads=2), Schedule(1e-2, epochs=2)
)


@pytest.fixture(scope="module")
def found():
    return contest(example(300, 0, holes=0.1), QUICK, "made")


def test_every_router_is_told_with_its_figures_and_its_paired_difference(found):
    rows = found.report["routers"]

    assert list(rows) == [
        LATENT, BEST_SINGLE, "cheapest", "random", "kNN", "logistic regression", "gradient boosting", "oracle",
    ]  # fmt: skip
    for name, row in rows.items():
        assert row["nauc"]["low"] <= row["nauc"]["value"] <= row["nauc"]["high"]
        assert row["nauc"]["value"] <= rows["oracle"]["nauc"]["value"]
        assert sum(row["shares"].values()) == pytest.approx(1)
        if name != LATENT:
            difference = rows[LATENT]["nauc"]["value"] - row["nauc"]["value"]
            assert row["difference"]["value"] == pytest.approx(difference)
    assert rows[LATENT]["difference"]["value"] is None
    assert rows["cheapest"]["shares"]["small"] > 0.8  # where it is available


def test_the_best_single_arm_is_the_best_of_the_training_questions(found):
    whole = example(300, 0, holes=0.1)
    train, test = (part_of(whole, split).outcomes for split in (Split.MINE, Split.TEST))
    best = int(np.argmax(np.nanmean(train.quality, axis=0)))

    assert found.report["best_single"]["arm"] == ARMS[best]
    assert test.available[:, best].mean() < 1, "so that others have to take its place"
    order = sorted(range(3), key=lambda arm: -np.nanmean(train.quality[:, arm]))
    taken = [next(arm for arm in order if there[arm]) for there in test.available]
    for figure, cells in (("quality", test.quality), ("cost", test.cost)):
        reached = np.mean([row[arm] for row, arm in zip(cells, taken, strict=True)])
        assert found.report["best_single"][figure] == pytest.approx(reached)
        assert found.report["routers"][BEST_SINGLE][figure] == pytest.approx(reached)
    row, single = found.report["routers"][BEST_SINGLE], found.report["best_single"]
    points = zip(row["frontier"]["quality"], row["frontier"]["cost"], strict=True)
    assert row["qnc"] * single["cost"] == min(c for q, c in points if q >= single["quality"])
    assert row["qnc"] <= 1, "it matches itself at its own cost, if at no lower one"
    assert found.router.ids == train.ids
    counts = found.report["questions"]
    assert sum(counts.values()) == 300 and counts["mine"] == len(train.ids)


def test_a_frontier_stands_in_the_report_at_every_lambda(found):
    frontier = found.report["routers"][BEST_SINGLE]["frontier"]

    assert len(frontier["quality"]) == len(frontier["cost"]) == len(LAMBDAS)
    assert frontier["cost"][-1] == min(frontier["cost"])


def test_what_is_measured_on_test_questions_depends_on_nothing_that_is_in_them(found):
    """Other outcomes on *test* questions: the same router, the same choices."""
    whole = example(300, 0, holes=0.1)
    test = whole.outcomes.in_split(Split.TEST)
    quality = np.where(test[:, None], 1 - whole.outcomes.quality, whole.outcomes.quality)
    turned = contest(Example(whole.asked, replace(whole.outcomes, quality=quality)), QUICK, "made")

    for name in ("latent router", "kNN", "logistic regression", "gradient boosting"):
        both = (one.report["routers"][name]["shares"] for one in (found, turned))
        assert next(both) == pytest.approx(next(both))


def test_a_table_that_is_too_small_to_split_is_told():
    few = Example(
        Asked(("Who?", "What?"), np.ones((2, 3), np.float32)),
        outcomes([[1, 0], [0, 1]], questions=["Who?", "What?"]),
    )

    with pytest.raises(InvalidRoutingTable, match="none of 2 questions falls to"):
        contest(few, QUICK, "made")


def test_an_arm_that_was_never_tried_on_training_questions_is_told():
    whole = example(100, 0)
    quality = whole.outcomes.quality.copy()
    quality[whole.outcomes.in_split(Split.MINE), 1] = np.nan

    with pytest.raises(InvalidRoutingTable, match="middle: no outcome on any training question"):
        contest(Example(whole.asked, replace(whole.outcomes, quality=quality)), QUICK, "made")


def test_an_arm_of_which_nothing_can_be_measured_is_told_before_anything_is_trained():
    whole = example(100, 0)
    quality = whole.outcomes.quality.copy()
    quality[whole.outcomes.in_split(Split.TEST), 1] = np.nan

    with pytest.raises(InvalidRoutingTable, match="middle: no outcome on any test question"):
        contest(Example(whole.asked, replace(whole.outcomes, quality=quality)), QUICK, "made")


def turned(whole, **changed):
    return contest(Example(whole.asked, replace(whole.outcomes, **changed)), QUICK, "made").report


def test_of_arms_that_are_equally_good_in_training_the_cheapest_is_the_best_single_one():
    whole = example(120, 0)
    quality = np.tile(whole.outcomes.quality[:, :1], (1, 3))

    report = turned(whole, quality=quality)

    assert report["best_single"]["arm"] == "small"
    assert report["best_single"]["cost"] == pytest.approx(1.0)
    assert report["routers"][BEST_SINGLE]["shares"] == {"large": 0, "middle": 0, "small": 1}
    assert report["routers"][BEST_SINGLE]["qnc"] == 1.0


def test_arms_that_cost_otherwise_on_test_questions_are_measured_by_what_they_cost_there():
    whole = example(300, 0)
    test = whole.outcomes.in_split(Split.TEST)

    report = turned(whole, cost=np.where(test[:, None], [1.0, 3.0, 8.0], whole.outcomes.cost))

    assert not report["same_cost"]
    random = report["routers"]["random"]
    assert random["nauc"]["value"] < random["peak"], "an area, not the best quality"


def test_arms_that_all_cost_the_same_are_told_to_have_no_area():
    whole = example(120, 0)

    report = turned(whole, cost=np.full_like(whole.outcomes.cost, 0.1))

    assert report["same_cost"]
    for row in report["routers"].values():
        assert row["nauc"]["value"] == pytest.approx(row["peak"])


def test_knn_is_the_mean_over_the_nearest_questions_that_an_arm_was_tried_on():
    asked, table = example(60, 1, holes=0.3)
    known, new = Known(asked.vectors, table.quality), example(10, 2).asked.vectors

    predicted = baselines.nearest(known, 5)(new)

    unit = asked.vectors / np.linalg.norm(asked.vectors, axis=1, keepdims=True)
    for row, vector in enumerate(new):
        near = sorted(range(60), key=lambda q: -float(unit[q] @ vector))[:5]
        for arm in range(3):
            tried = [table.quality[q, arm] for q in near if not np.isnan(table.quality[q, arm])]
            expected = np.mean(tried) if tried else np.nanmean(table.quality[:, arm])
            assert predicted[row, arm] == pytest.approx(expected)


@pytest.mark.parametrize(("make", "setting"), [(baselines.logistic, 1.0), (baselines.boosted, 4)])
def test_a_learned_baseline_has_one_predictor_an_arm_fitted_where_it_was_tried(make, setting):
    asked, table = example(200, 1, holes=0.3)
    quality = np.column_stack([table.quality, np.ones(200)])  # an arm that is always right

    predicted = make(Known(asked.vectors, quality), setting)(asked.vectors)
    alone = make(Known(asked.vectors, quality[:, :1]), setting)(asked.vectors)

    np.testing.assert_allclose(predicted[:, 0], alone[:, 0])
    np.testing.assert_array_equal(predicted[:, 3], 1.0)
    tried = ~np.isnan(table.quality[:, 2])
    hits = (predicted[tried, 2] > 0.5) == (table.quality[tried, 2] > 0.5)
    assert hits.mean() > 0.75


def test_the_bounds_need_no_features():
    known = Known(np.zeros((3, 1)), np.array([[1, 0], [0, np.nan], [1, 1.0]]))
    costs = np.array([1.0, 0.2])

    np.testing.assert_allclose(baselines.constant(known)(np.zeros((2, 1))), [[2 / 3, 1 / 2]] * 2)
    cheap = baselines.cheapest(costs)(np.zeros((2, 1)))
    for weight in LAMBDAS:
        np.testing.assert_array_equal(choices(cheap, np.ones((2, 2), bool), costs, weight), 1)
    random = [baselines.chance(2, seed)(np.zeros((4, 1))) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(random[0], random[1])
    assert not np.array_equal(random[0], random[2])


def test_of_several_settings_the_one_that_is_worth_most_is_taken():
    made = baselines.tuned(
        lambda known, setting: lambda vectors: np.full((1, 1), setting),
        None,
        (1, 5, 3, 5),
        lambda one: float(one(None)[0, 0]),
    )

    assert made(None)[0, 0] == 5


def test_a_profile_by_loops():
    quality = np.array([[1, 0], [0, np.nan], [1, 1], [0, 1.0]])
    cost = np.array([[2, 8], [2, np.nan], [4, 8], [4, 8.0]])
    pool = Pool(quality, cost, np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), 2, 2)

    raw = pool._numbers(quality[:, 1], cost[:, 1])

    accuracy = 2 / 3
    expected = [accuracy, 3 / 4]
    expected += [(0 + 10 * accuracy) / 11, (2 + 10 * accuracy) / 12]  # slices of 1 and 2 tried
    expected += [(1 + 10 * accuracy) / 12, (1 + 10 * accuracy) / 11]  # neighbourhoods of 2 and 1
    alike = np.corrcoef([0, 1, 1], [1, 1, 0])[0, 1]
    against = np.array([[1 / 3, 1 / 3, alike, 0], [0, 0, 1, 1 / 3]]).mean(axis=0)
    np.testing.assert_allclose(raw, [*expected, *against, 8 / 8])
    assert pool.profiles()[:, -1].tolist() == pytest.approx([3 / 8, 1.0])
