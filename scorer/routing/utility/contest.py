"""LatentRouter against every baseline on one table: learned on *mine* questions, chosen on *choose* ones, measured once on *test*.

All get the same features and choose by the same rule. Every difference is paired: the same resamples of questions for both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ....data.identity import Split, canonical
from ...metrics import Estimate, Resampler
from ..outcomes import InvalidRoutingTable
from . import baselines
from .baselines import Known
from .frontier import (
    LAMBDAS,
    CostRange,
    Frontier,
    choices,
    cost_range,
    frontier,
    nauc,
    own_range,
    peak,
    qnc,
    rank_score,
)
from .latent_router import Example, LatentRouter, Settings, train_router

Json = dict[str, Any]
LATENT, BEST_SINGLE = "latent router", "best single"
IN_VAIN = {
    Split.MINE: "no outcome on any training question, so there is nothing to learn of it",
    Split.TEST: "no outcome on any test question, so nothing of it can be measured",
}


class Contest(NamedTuple):
    """The report, JSON, and the router that was trained for it."""

    report: Json
    router: LatentRouter


@dataclass(frozen=True)
class Field:
    """Where all are measured: questions, the arms' normalised costs (A,), and weightings of the questions (W, Q)."""

    example: Example
    costs: np.ndarray
    weights: np.ndarray

    def frontier(self, predicted: np.ndarray) -> Frontier:
        return frontier(predicted, self.example.outcomes, self.costs, self.weights)

    @property
    def range(self) -> CostRange:
        return cost_range(self.example.outcomes, self.weights)


def contest(whole: Example, settings: Settings, embedder: str, seed: int = 0) -> Contest:
    """Trains on `whole`, a table with its features. InvalidRoutingTable where a split has no question."""
    train, choose, test = (part_of(whole, split) for split in Split)
    router = train_router(train, choose, settings, embedder)
    resampler = Resampler(
        [{"question": canonical(one).casefold()} for one in test.outcomes.questions], seed
    )
    ones = np.ones((1, len(choose.outcomes.ids)))
    fields = Field(choose, router.costs, ones), Field(test, router.costs, resampler.weights)
    predicted = _predictions(router, train, fields, seed)
    return Contest(_report(train, fields, predicted, resampler), router)


def part_of(whole: Example, split: Split) -> Example:
    """The questions of one split. InvalidRoutingTable where it has none, or an arm was never tried on training or *test* questions."""
    chosen = whole.outcomes.in_split(split)
    if not chosen.any():
        raise InvalidRoutingTable(
            f"none of {len(chosen)} questions falls to {split}; training, choosing and testing need some each, best hundreds"
        )
    part = Example(whole.asked.rows(chosen), whole.outcomes.rows(chosen))
    tried = np.asarray(part.outcomes.available.any(axis=0))
    idle = [arm for arm, is_tried in zip(part.outcomes.arms, tried, strict=True) if not is_tried]
    if idle and split in IN_VAIN:
        raise InvalidRoutingTable(f"{', '.join(idle)}: {IN_VAIN[split]}; leave the arm out")
    return part


def _predictions(
    router: LatentRouter, train: Example, fields: tuple[Field, Field], seed: int
) -> dict[str, list[np.ndarray]]:
    """By router, what it predicts on the *choose* and on the *test* questions."""
    vectors = [router.encoder(one.example.asked).joined for one in fields]
    known = Known(router.encoder(train.asked).joined, train.outcomes.quality)

    def tuned(make: Callable, among: tuple) -> baselines.Baseline:
        def worth(made: baselines.Baseline) -> float:
            choose = fields[0]
            found = choose.frontier(made(vectors[0]))
            return float(nauc(found, choose.range)[0])

        return baselines.tuned(make, known, among, worth)

    made = {
        BEST_SINGLE: baselines.constant(known),
        "cheapest": baselines.cheapest(router.costs),
        "random": baselines.chance(len(router.arms), seed),
        "kNN": tuned(baselines.nearest, baselines.NEIGHBOURS),
        "logistic regression": tuned(baselines.logistic, baselines.STRENGTHS),
        "gradient boosting": tuned(baselines.boosted, baselines.LEAVES),
    }
    found = {
        LATENT: [
            np.nan_to_num(router.predict(one.example.asked, one.example.outcomes.available))
            for one in fields
        ]
    }
    for name, predict in made.items():
        found[name] = [predict(one) for one in vectors]
    found["oracle"] = [np.nan_to_num(one.example.outcomes.quality) for one in fields]
    return found


def _report(
    train: Example,
    fields: tuple[Field, Field],
    predicted: Mapping[str, list[np.ndarray]],
    resampler: Resampler,
) -> Json:
    choose, test = fields
    outcomes = test.example.outcomes
    frontiers = {name: test.frontier(both[1]) for name, both in predicted.items()}
    areas = {name: nauc(found, test.range) for name, found in frontiers.items()}
    means = np.nanmean(train.outcomes.quality, axis=0, keepdims=True)
    best = choices(means, np.ones_like(means, dtype=bool), test.costs, 0.0)[0]
    single = Single(*(float(one[0, 0]) for one in frontiers[BEST_SINGLE]))
    measure = partial(_figures, test, single)
    routers = {}
    for name, (on_choose, on_test) in predicted.items():
        rank_at = _best_rank(choose, on_choose)
        routers[name] = measure(on_test, frontiers[name], rank_at) | {
            "nauc": resampler.estimate(areas[name]).as_json(),
            "nauc_choose": float(nauc(choose.frontier(on_choose), choose.range)[0]),
            "difference": _difference(resampler, areas[LATENT] - areas[name], name),
        }
    return {
        "arms": _arms(train, outcomes.arms, test),
        "questions": {
            split: len(one.outcomes.ids)
            for split, one in zip(Split, (train, choose.example, test.example), strict=True)
        },
        "best_single": {"arm": outcomes.arms[best], **single._asdict()},
        "same_cost": bool(test.range.is_point[0]),
        "lambdas": LAMBDAS.tolist(),
        "routers": routers,
    }


class Single(NamedTuple):
    """What the best single arm reaches at no price, the next best in its place where it is missing."""

    quality: float
    cost: float


def _arms(train: Example, arms: tuple[str, ...], test: Field) -> Json:
    return {
        arm: {
            "quality": float(np.nanmean(quality)),
            "cost": float(np.nanmean(cost)),
            "normalised_cost": float(normalised),
        }
        for arm, quality, cost, normalised in zip(
            arms, train.outcomes.quality.T, train.outcomes.cost.T, test.costs, strict=True
        )
    }


def _figures(
    test: Field, single: Single, predicted: np.ndarray, found: Frontier, rank_at: int
) -> Json:
    """Of the sample itself; the first weighting is it."""
    outcomes = test.example.outcomes
    taken = choices(predicted, outcomes.available, test.costs, 0.0)
    shares = np.bincount(taken, minlength=len(outcomes.arms)) / len(taken)
    quality, cost = found.quality[0], found.cost[0]
    sample = Frontier(found.quality[:1], found.cost[:1])
    low, high = (float(end[0]) for end in test.range)
    return {
        "peak": float(peak(sample)[0]),
        "qnc": qnc(found, single.quality, single.cost),
        "rank_score": rank_score(float(quality[rank_at]), float(cost[rank_at]), low, high),
        "rank_lambda": float(LAMBDAS[rank_at]),
        "nauc_own_range": float(nauc(sample, own_range(sample))[0]),
        "quality": float(quality[0]),
        "cost": float(cost[0]),
        "shares": dict(zip(outcomes.arms, shares.tolist(), strict=True)),
        "frontier": {"quality": quality.tolist(), "cost": cost.tolist()},
    }


def _best_rank(choose: Field, predicted: np.ndarray) -> int:
    """The place of the lambda whose Rank score is best on *choose* questions."""
    found = choose.frontier(predicted)
    low, high = (float(end[0]) for end in choose.range)
    points = zip(found.quality[0], found.cost[0], strict=True)
    return int(np.argmax([rank_score(float(q), float(c), low, high) for q, c in points]))


def _difference(resampler: Resampler, areas: np.ndarray, name: str) -> Json:
    """LatentRouter's nAUC less another's; nothing beside itself."""
    nothing = Estimate(None, None, None, resampler.n)
    return (nothing if name == LATENT else resampler.estimate(areas)).as_json()
