import json
import os
import stat
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from routing_tables import ARMS, COSTS, example
from safetensors import safe_open
from safetensors.numpy import save_file

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


@pytest.mark.parametrize(
    ("quality", "cost", "told"),
    [
        (5.0, 1.0, "q0, new: quality 5 and cost 1"),
        (-1.0, 1.0, "q0, new: quality -1 and cost 1"),
        (np.inf, 1.0, "q0, new: quality inf"),
        (1.0, -1.0, "q0, new: quality 1 and cost -1"),
        (1.0, np.inf, "q0, new: quality 1 and cost inf"),
        (1.0, 1e308, "q0, new: quality 1 and cost 1e.308"),
        (np.nan, 1.0, "new: nothing is known of it"),
        (1.0, np.nan, "new: nothing is known of it"),
        ("good", 1.0, "new: what is told of it is no number"),
        (1.0, [1.0], "new: what is told of it is no number"),
        (10**400, 1.0, "new: what is told of it is no number"),
    ],
)
def test_an_arm_is_added_by_what_a_table_may_hold(router, quality, cost, told):
    with pytest.raises(InvalidRoutingTable, match=told) as error:
        router.with_arm("new", dict.fromkeys(router.ids, quality), dict.fromkeys(router.ids, cost))

    assert "\n" not in str(error.value)


def test_a_half_cell_of_an_added_arm_is_missing_as_in_a_table(router):
    whole = router.with_arm("new", {"q1": 1.0, "q2": 0.0}, {"q1": 2.0, "q2": 2.0})
    more = {"q1": 1.0, "q2": 0.0, "q3": np.nan, "q4": 1.0, "q5": 7.0}
    half = router.with_arm("new", more, {"q1": 2.0, "q2": 2.0, "q3": -9.0, "q4": np.nan})

    np.testing.assert_array_equal(half.profiles, whole.profiles)


@pytest.mark.parametrize("name", ["", " "])
def test_an_added_arm_has_a_name(router, name):
    with pytest.raises(InvalidRoutingTable, match="no name"):
        router.with_arm(name, {"q1": 1.0}, {"q1": 1.0})


@pytest.mark.parametrize("weight", [-1e-9, -5.0, np.nan, np.inf, -np.inf])
def test_a_price_is_a_number_from_0_on(router, weight):
    asked, _ = example(5, 2)

    with pytest.raises(InvalidRoutingTable, match="a price is a number from 0 on"):
        router.route(asked, weight)


def broken(asked):
    vectors = asked.vectors.copy()
    vectors[1, 2] = np.nan
    yield asked._replace(vectors=vectors), "no number"
    yield asked._replace(vectors=vectors * np.inf), "no number"
    yield asked._replace(texts=asked.texts[:-1]), "4 texts and 5 vectors"
    yield asked._replace(texts=()), "0 texts and 5 vectors"
    yield asked._replace(vectors=asked.vectors[:-1]), "5 texts and 4 vectors"
    has = np.array([True] * 5)
    yield asked._replace(image=vectors, has_image=has), "no number"
    yield asked._replace(image=asked.vectors[:-1], has_image=has), "5 texts and 4 vectors"
    yield asked._replace(image=asked.vectors, has_image=has[:-1]), "5 texts and 4 vectors"


@pytest.mark.parametrize("case", range(8))
def test_questions_that_are_not_whole_are_told(router, case):
    asked, told = list(broken(example(5, 2).asked))[case]

    with pytest.raises(InvalidRoutingTable, match=told) as error:
        router.route(asked)
    assert "\n" not in str(error.value)


def test_no_questions_have_no_answers(router):
    nothing = Asked((), np.empty((0, 6), np.float32))

    assert router.route(nothing) == []
    assert router.predict(nothing, np.ones((0, 3), bool)).shape == (0, 3)
    with pytest.raises(InvalidRoutingTable, match="5 questions and 3 arms"):
        router.predict(example(5, 2).asked, np.ones((5, 2), bool))


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
    (tmp_path / "text").write_text("no router", "utf-8")
    save_file({"x": np.zeros(1)}, tmp_path / "other")

    for name in ("text", "other", "nowhere"):
        with pytest.raises(ForethoughtError, match=name):
            load_router(tmp_path / name)


def tampered(tmp_path, router, facts=None, **arrays):
    """A kept router with other facts (a value, or those that differ), or with other arrays (None: without them)."""
    path = tmp_path / "router"
    router.save(path)
    with safe_open(path, "numpy") as file:
        told = json.loads(file.metadata()["router"])
        kept = {name: file.get_tensor(name) for name in file.keys()}
    told = told | facts if isinstance(facts, dict) else facts or told
    kept |= {name.replace("__", "."): one for name, one in arrays.items()}
    whole = {name: one for name, one in kept.items() if one is not None}
    save_file(whole, path, {"router": told if isinstance(told, str) else json.dumps(told)})
    return path


@pytest.mark.parametrize(
    "facts",
    [
        [1], "[" * 100_000, "{", "null",
        {"arms": None}, {"arms": [1, 2, 3]}, {"arms": []}, {"arms": ["a"]}, {"arms": ["a", "b", "c", "d"]},
        {"arms": ["a", "a", "b"]}, {"arms": ["a", "", "b"]}, {"arms": "abc"}, {"arms": {"a": 1}},
        {"ids": ["x"]}, {"ids": 5}, {"ids": None}, {"embedder": None}, {"embedder": 3},
        {"networks": 0}, {"networks": -1}, {"networks": 2}, {"networks": "1"}, {"networks": None},
        {"networks": 10**9}, {"networks": 10**400}, {"networks": 1.5}, {"networks": True},
        {"slices": "2"}, {"slices": 1}, {"slices": 3}, {"regions": None}, {"regions": -1},
        {"shape": None}, {"shape": []}, {"shape": {"nothing": 1}}, {"shape": {}},
        *({"shape": {"width": 16, "query_tokens": 2, "capsules": 3, "layers": 1, "heads": 2, "dropout": 0.0} | one}
          for one in ({"width": 17}, {"width": 18}, {"width": "16"}, {"width": 0}, {"width": 1 << 15}, {"heads": 3}, {"heads": 0},
                      {"layers": 2}, {"layers": 60_000}, {"capsules": 4}, {"query_tokens": 2.5}, {"dropout": 2.0},
                      {"dropout": None}, {"temperature": 0}, {"temperature": "1"}, {"bound": [1]})),
    ],
)  # fmt: skip
def test_a_file_with_other_facts_than_its_weights_is_told_in_one_line(tmp_path, router, facts):
    path = tampered(tmp_path, router, facts)

    with pytest.raises(ForethoughtError, match=str(path)) as error:
        load_router(path)
    assert "\n" not in str(error.value) and len(str(error.value)) < len(str(path)) + 300


@pytest.mark.parametrize("change", ["no number", "other size", "other type", "gone", "no axis"])
def test_a_file_with_an_array_that_no_router_has_is_told_in_one_line(tmp_path, router, change):
    router.save(tmp_path / "router")
    with safe_open(tmp_path / "router", "numpy") as file:
        kept = {name: file.get_tensor(name) for name in file.keys()}
    for name, array in kept.items():
        if change == "no number" and array.dtype.kind != "f":
            continue
        other = {
            "no number": lambda one: np.full_like(one, np.inf),
            "other size": lambda one: np.concatenate([one, one]),
            "other type": lambda one: one.astype(np.complex64),
            "gone": lambda one: None,
            "no axis": lambda one: np.ones((), one.dtype),
        }[change](array)
        path = tampered(tmp_path, router, **{name.replace(".", "__"): other})

        with pytest.raises(ForethoughtError, match=str(path)) as error:
            load_router(path)
        assert "\n" not in str(error.value), name


def test_a_file_with_places_outside_of_its_groups_is_told(tmp_path, router):
    for name in ("slice", "region"):
        for place in (-1, 99):
            array = np.full_like(getattr(router.pool, name), place)
            with pytest.raises(ForethoughtError, match=f"pool.{name} holds"):
                load_router(tampered(tmp_path, router, **{f"pool__{name}": array}))


def test_a_router_takes_the_place_of_files_alone(tmp_path, router):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")

    for name in ("folder", "pipe", "link"):
        with pytest.raises(ForethoughtError, match="a folder or a device"):
            router.save(tmp_path / name)
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    assert (tmp_path / "link").is_symlink()
    assert not list(tmp_path.glob(".*.partial"))


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
