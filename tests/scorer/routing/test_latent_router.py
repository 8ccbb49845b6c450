import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from routing_tables import ARMS, COSTS, example

from forethought.data.errors import ForethoughtError
from forethought.scorer.routing.outcomes import InvalidRoutingTable
from forethought.scorer.routing.utility.features import Asked
from forethought.scorer.routing.utility.fitting import Schedule
from forethought.scorer.routing.utility.latent_router import Settings, load_router, train_router
from forethought.scorer.routing.utility.network import Shape

SMALL = Settings(
    Shape(width=16, query_tokens=2, capsules=3, layers=1, heads=2, dropout=0.0),
    Schedule(rate=1e-2, batch=64, epochs=12),
)


@pytest.fixture(scope="module")
def router():
    return train_router(example(400, 0), example(150, 1), SMALL, "made")


def everywhere(asked, arms=3):
    return np.ones((len(asked.texts), arms), dtype=bool)


def test_it_learns_which_arm_answers_a_question(router):
    asked, table = example(300, 2)

    assert router.arms == ARMS
    taken = np.array([ARMS.index(arm) for arm in router.route(asked)])
    chosen = table.quality[np.arange(300), taken].mean()
    assert chosen > table.quality.mean(axis=0).max() + 0.1


def test_a_price_leads_to_the_cheapest_arm(router):
    asked, _ = example(20, 2)

    assert set(router.route(asked, weight=1e4)) == {"small"}
    assert router.costs.tolist() == pytest.approx([cost / max(COSTS) for cost in COSTS])


def test_permuted_arms_have_permuted_predictions(router):
    asked, _ = example(20, 2)
    order = ["small", "large", "middle"]

    predicted = router.predict(asked, everywhere(asked))
    permuted = router.with_arms(order).predict(asked, everywhere(asked))

    np.testing.assert_allclose(
        permuted, predicted[:, [ARMS.index(arm) for arm in order]], atol=1e-6
    )


def test_a_withdrawn_arm_is_never_chosen_and_changes_nothing_for_the_others(router):
    asked, _ = example(50, 2)
    mask = everywhere(asked)
    mask[:, ARMS.index("middle")] = False

    predicted = router.predict(asked, mask)
    without = router.with_arms(["large", "small"]).predict(asked, everywhere(asked, 2))

    assert np.isnan(predicted[:, 1]).all()
    np.testing.assert_allclose(predicted[:, [0, 2]], without, atol=1e-6)
    assert "middle" not in router.route(asked, available=["small", "large"])
    assert set(router.route(asked, available=["middle"])) == {"middle"}


def test_an_arm_added_by_its_outcomes_alone_is_predicted_like_the_arm_it_equals(router):
    asked, _ = example(50, 2)
    table = example(400, 0).outcomes
    twin = {
        id: dict(zip(table.ids, column[:, ARMS.index("small")], strict=True))
        for id, column in (("quality", table.quality), ("cost", table.cost))
    }

    more = router.with_arm("other", twin["quality"], twin["cost"])
    predicted = more.predict(asked, everywhere(asked, 4))

    assert more.arms == (*ARMS, "other")
    assert more.costs[3] == pytest.approx(router.costs[2])
    np.testing.assert_array_equal(more.profiles[3], router.profiles[ARMS.index("small")])
    np.testing.assert_allclose(predicted[:, 3], predicted[:, ARMS.index("small")], atol=1e-6)
    np.testing.assert_array_equal(router.profiles, more.profiles[:3])


def test_an_arm_that_cannot_be_added_or_asked_for_is_told(router):
    asked, _ = example(5, 2)

    with pytest.raises(InvalidRoutingTable, match="has this arm already"):
        router.with_arm("small", {}, {})
    with pytest.raises(InvalidRoutingTable, match="no profile"):
        router.with_arm("new", {"elsewhere": 1.0}, {"elsewhere": 1.0})
    with pytest.raises(InvalidRoutingTable, match="huge: no arm of this router"):
        router.route(asked, available=["huge"])
    with pytest.raises(InvalidRoutingTable, match="no arm is available"):
        router.route(asked, available=[])
    with pytest.raises(InvalidRoutingTable, match="vectors of 2 numbers"):
        router.route(Asked(asked.texts, asked.vectors[:, :2]))


def test_a_router_that_was_kept_routes_as_before(router, tmp_path):
    asked, _ = example(30, 2)
    path = tmp_path / "new" / "router.safetensors"

    router.save(path)
    kept = load_router(path)

    np.testing.assert_array_equal(
        kept.predict(asked, everywhere(asked)), router.predict(asked, everywhere(asked))
    )
    assert (kept.arms, kept.ids, kept.embedder) == (router.arms, router.ids, "made")
    more = [
        one.with_arm("new", {"q1": 1.0, "q2": 0.0}, {"q1": 2.0, "q2": 2.0})
        for one in (router, kept)
    ]
    np.testing.assert_array_equal(more[0].profiles, more[1].profiles)


def test_a_file_that_is_no_router_is_told(tmp_path):
    from safetensors.numpy import save_file

    (tmp_path / "text").write_text("no router", "utf-8")
    save_file({"x": np.zeros(1)}, tmp_path / "other")

    for name in ("text", "other", "nowhere"):
        with pytest.raises(ForethoughtError, match=name):
            load_router(tmp_path / name)


def test_several_seeds_are_averaged():
    train, choose, (asked, _) = example(120, 0), example(60, 1), example(10, 2)
    short = replace(SMALL, schedule=replace(SMALL.schedule, epochs=1))

    both = train_router(train, choose, replace(short, seeds=2), "made")
    each = [
        train_router(train, choose, replace(short, schedule=replace(short.schedule, seed=seed)))
        for seed in (0, 1)
    ]

    assert len(both.networks) == 2
    first, second = (
        replace(both, networks=(one,)).predict(asked, everywhere(asked)) for one in both.networks
    )
    np.testing.assert_allclose(
        both.predict(asked, everywhere(asked)), (first + second) / 2, atol=1e-6
    )
    np.testing.assert_allclose(each[0].predict(asked, everywhere(asked)), first, atol=1e-6)


def test_missing_cells_and_pictures_of_some_questions_are_no_trouble():
    train, choose, (asked, table) = (example(150, seed, holes=0.3, image=4) for seed in (0, 1, 2))

    router = train_router(train, choose, SMALL)
    predicted = router.predict(asked, table.available)

    assert np.isfinite(predicted[table.available]).all()
    unseen = asked._replace(image=None, has_image=None)  # nobody looked at a picture
    without = ~asked.has_image
    np.testing.assert_allclose(
        router.predict(unseen, table.available)[without], predicted[without], atol=1e-6
    )


def test_who_only_selects_imports_nothing_of_routing():
    program = (
        "import sys, forethought.ui.cli, forethought.scorer.score;"
        "print([name for name in sys.modules if name.startswith('forethought.scorer.routing')])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
