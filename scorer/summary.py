"""An audit's records to its report: every metric of every set, paired differences, and the curve over set size.

Needs nothing but the records, the sets' ids and expected actions, and facts that others measured (coverage of masked
thoughts, leakage, latency). Figures are over *test* turns; routes and constants are chosen on *choose* turns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.identity import Split
from . import recovery as policy
from .audit import CALIBRATIONS
from .metrics import Estimate, Resampler, recovery
from .recovery import Gains, Record, SetView

Json = dict[str, Any]
NOTHING = Estimate(None, None, None, 0).as_json()


@dataclass(frozen=True)
class Trial:
    """The *test* and *choose* records of an audit with its resampler, and what every figure divides by."""

    test: Sequence[Record]
    choose: Sequence[Record]
    resampler: Resampler
    free: Gains
    seed: int

    def recovery(self, gains: Gains) -> Json:
        return recovery(gains, self.free, self.resampler)


@dataclass(frozen=True)
class Facts:
    """What is known of a set without a language model; each an Estimate's JSON."""

    semantic_coverage: Json = field(default_factory=lambda: dict(NOTHING))
    reuse: Json = field(default_factory=lambda: dict(NOTHING))
    leakage: Json = field(default_factory=lambda: dict(NOTHING))
    redundancy: Json = field(default_factory=lambda: dict(NOTHING))


def trial(records: Sequence[Record], seed: int = 0) -> Trial:
    """Splits `records` and fixes the resamples."""
    test = [record for record in records if record["split"] == Split.TEST]
    choose = [record for record in records if record["split"] == Split.CHOOSE]
    return trial_of(test, choose, seed)


def trial_of(test: Sequence[Record], choose: Sequence[Record], seed: int = 0) -> Trial:
    """Figures over `test`, what was chosen chosen on `choose`; `test` may be a part of the test turns."""
    return Trial(test, choose, Resampler(test, seed), policy.free_gains(test), seed)


def summarise(
    run: Trial, views: Sequence[SetView], facts: Mapping[str, Facts], latency: Json
) -> Json:
    """The report of the first set, with every other set's figures and its paired differences beside it."""
    main, *others = views
    sets = {view.name: set_figures(run, view, facts.get(view.name, Facts())) for view in views}
    every_id = list(dict.fromkeys(id for view in views for id in view.ids))
    constant = constant_figures(run, every_id)
    return {
        "set": main.name,
        **sets[main.name],
        "constant_recovery": constant,
        "latency": latency,
        "free_gain": run.resampler.mean(run.free.total).as_json(),
        "free_kind_nats": run.resampler.mean(run.free.kind).as_json(),
        "turns": {"test": len(run.test), "choose": len(run.choose)},
        "sets": sets,
        "differences": {view.name: differences(run, main, view) for view in others},
        "difference_from_constant": constant_difference(run, main, every_id),
    }


def set_figures(run: Trial, view: SetView, facts: Facts) -> Json:
    """Every metric of one set."""
    return {
        "size": len(view.ids),
        **policy_figures(run, view),
        **_oracle(run, view),
        "semantic_coverage": facts.semantic_coverage,
        "reuse": facts.reuse,
        "leakage": facts.leakage,
        "redundancy": facts.redundancy,
        "use": policy.use_by_kind(run.test, policy.assigned_choice(run.test, view.name)),
    }


def policy_figures(run: Trial, view: SetView) -> Json:
    """What injecting one set's candidates is worth by each policy, and how they are used."""
    assigned = policy.assigned_choice(run.test, view.name)
    routed = policy.routed_choice(run.test, run.choose, view.ids)
    selected = {c: policy.selected_choice(run.test, view.ids, c) for c in CALIBRATIONS}
    return {
        "assigned_recovery": run.recovery(policy.gains_of(run.test, assigned)),
        "routed_recovery": run.recovery(policy.gains_of(run.test, routed)),
        "selected_recovery": {
            c: run.recovery(policy.gains_of(run.test, choice)) for c, choice in selected.items()
        },
        "collapse": _collapse(run, view, selected["raw"])
        | {c: _collapse(run, view, selected[c]) for c in CALIBRATIONS[1:]},
        "action_agreement": _agreement(run, view, selected["raw"])
        | {c: _agreement(run, view, selected[c]) for c in CALIBRATIONS[1:]}
        | {"assigned": _agreement(run, view, assigned)},
        "escape": run.resampler.mean(np.array([float(id is None) for id in assigned])).as_json(),
    }


def constant_figures(run: Trial, ids: Sequence[str]) -> Json:
    """The floor: the one text, of all sets in the table, that was best on *choose*."""
    if not run.choose:
        return dict(NOTHING)
    best = policy.best_constant(run.choose, ids)
    return run.recovery(policy.gains_of(run.test, [best] * len(run.test))) | {"id": best}


def differences(run: Trial, first: SetView, second: SetView) -> Json:
    """`first` less `second`, paired, in recovery: assigned, routed and selected."""
    found = {}
    for name, pick in _policies(run).items():
        pair = (policy.gains_of(run.test, pick(view)) for view in (first, second))
        found[name] = _difference(run, *pair)
    return found


def _policies(run: Trial) -> dict[str, Callable[[SetView], policy.Choice]]:
    """What each policy injects on the test turns, by the figure's name."""

    def selected(calibration: str) -> Callable[[SetView], policy.Choice]:
        return lambda view: policy.selected_choice(run.test, view.ids, calibration)

    return {
        "assigned_recovery": lambda view: policy.assigned_choice(run.test, view.name),
        "routed_recovery": lambda view: policy.routed_choice(run.test, run.choose, view.ids),
        **{f"selected_recovery_{c}": selected(c) for c in CALIBRATIONS},
    }


def constant_difference(run: Trial, view: SetView, ids: Sequence[str]) -> Json:
    """A set's assigned and routed recovery less the best constant's, paired."""
    if not run.choose:
        return {}
    best = [policy.best_constant(run.choose, ids)] * len(run.test)
    constant = policy.gains_of(run.test, best)
    assigned = policy.gains_of(run.test, policy.assigned_choice(run.test, view.name))
    routed = policy.gains_of(run.test, policy.routed_choice(run.test, run.choose, view.ids))
    return {
        "assigned_recovery": _difference(run, assigned, constant),
        "routed_recovery": _difference(run, routed, constant),
    }


def _difference(run: Trial, first: Gains, second: Gains) -> Json:
    estimate = run.resampler.difference(first.total, second.total, run.free.total)
    nats = run.resampler.mean(first.total - second.total)
    kind = run.resampler.mean(first.kind - second.kind)
    return {**estimate.as_json(), "nats": nats.value, "kind_nats": kind.value}


def _oracle(run: Trial, view: SetView) -> Json:
    """The upper bound, only ever beside the mean of random sets of the same size; neither without the pool."""
    if not run.test or not run.test[0]["lp"]["pool"]:
        return {"oracle_recovery": dict(NOTHING), "oracle_random": dict(NOTHING)}
    looked = policy.gains_of(run.test, policy.oracle_choice(run.test, view.ids))
    random = policy.random_oracle_gains(run.test, len(view.ids), run.seed)
    return {"oracle_recovery": run.recovery(looked), "oracle_random": run.recovery(random)}


def _collapse(run: Trial, view: SetView, choice: Sequence[str]) -> Json:
    found = run.resampler.collapse(choice, view.ids)
    return {name: estimate.as_json() for name, estimate in found.items()}


def _agreement(run: Trial, view: SetView, choice: Sequence[str | None]) -> Json:
    hits = [
        float(id is not None and view.expects(id, record["kind"]))
        for record, id in zip(run.test, choice, strict=True)
    ]
    return run.resampler.mean(np.array(hits)).as_json()
