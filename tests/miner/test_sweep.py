"""One setting at a time: every point is the set that mining gives, and steps are told that lose half."""

from dataclasses import replace

from embedders import CountingEmbedder, HashingEmbedder
from runs import runs

from forethought.miner.mine import MinerSettings, mine
from forethought.miner.stability import Recipe
from forethought.miner.sweep import STEPS, Point, Sweep, sweep

EMBEDDER = HashingEmbedder()
TRACES = runs(24)


def sizes(*counts: int) -> Sweep:
    return Sweep("budget", 1, tuple(Point(n, count, 1.0, 1.0) for n, count in enumerate(counts)))


def test_a_cliff_is_a_step_between_a_set_and_less_than_half_of_it():
    assert sizes(4, 6, 8, 12, 16).cliffs == ()
    assert sizes(3, 6, 5, 3).cliffs == ()
    assert sizes(53, 3).cliffs == ((0, 1),)
    assert sizes(12, 5, 4, 9).cliffs == ((0, 1), (2, 3))
    assert sizes(0, 1).cliffs == ((0, 1),)
    assert sizes(0, 0).cliffs == sizes(5).cliffs == sizes().cliffs == ()


def test_points_are_what_mining_gives_and_hold_the_own_value():
    settings = MinerSettings(budget=3)
    swept = {one.setting: one for one in sweep(TRACES, EMBEDDER, Recipe(settings))}

    assert list(swept) == list(STEPS)
    for name, one in swept.items():
        assert [point.value for point in one.points] == sorted({*STEPS[name], one.own})
        assert one.own == getattr(settings, name)
    for point in swept["budget"].points[:1]:
        made = mine(TRACES, EMBEDDER, "x", replace(settings, budget=int(point.value)))
        assert point.num_candidates == len(made.candidate_set.candidates)
        assert point.coverage == round(made.coverage[-1], 4)
        assert point.assigned == round(made.assigned_share, 4)


def test_every_step_is_told_and_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("forethought.miner.sweep.STEPS", {"budget": (4, 6)})
    steps = []
    sweep(TRACES, CountingEmbedder(), progress=steps.append)

    assert steps == ["budget 4", "budget 6", "budget 12"]
    assert list(tmp_path.iterdir()) == []
