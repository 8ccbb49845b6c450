"""Every signal beside every other over the same recorded outcomes: what routing by it is worth, and which form of it *choose* questions prefer.

A signal in several forms is called NAME: FORM; of them one is chosen where the others are measured, so that nothing is tuned to what is measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .probe import Probe
from .readings import Ratings, Readings
from .share_curve import Resampled, TwoArms, curve

Json = dict[str, Any]
Needs = Mapping[str, np.ndarray]
AT = (0.25, 0.5, 0.75)
HALF = 0.5
RANDOM, MARGIN, LOG_Z, ORACLE = "random", "margin", "log Z", "oracle"
RIVALS = {RANDOM: "less_random", MARGIN: "less_margin", LOG_Z: "less_log_z"}
UNTAUGHT, TAUGHT, PROBE = "rating, untaught", "rating, taught", "probe"


@dataclass(frozen=True)
class Probes:
    """`fails` tells that the cheap arm does, `gains` that only the stronger one does not; None where there was nothing to tell apart."""

    fails: Probe | None = None
    gains: Probe | None = None


def needs_of(
    read: Readings, untaught: Ratings, taught: Ratings, probes: Probes
) -> dict[str, np.ndarray]:
    """(n,) by signal and form."""
    needs = {RANDOM: np.zeros(len(read.margin)), MARGIN: read.margin, LOG_Z: read.log_z}
    needs["entropy"] = read.entropy
    for name, found in ((UNTAUGHT, untaught), (TAUGHT, taught)):
        needs[f"{name}: own"] = -found.own
        needs[f"{name}: joint"] = found.more - found.own
    for form, probe in (("fails", probes.fails), ("gains", probes.gains)):
        if probe is not None:
            needs[f"{PROBE}: {form}"] = probe.chances(read.state)
    return needs


def chosen_forms(needs: Needs, arms: TwoArms) -> dict[str, str]:
    """By signal, which of its forms has the largest area."""
    forms: dict[str, list[str]] = {}
    for name in needs:
        forms.setdefault(name.partition(":")[0], []).append(name)
    return {
        signal: max(own, key=lambda name: curve(arms, needs[name]).area)
        for signal, own in forms.items()
    }


def signal_table(arms: TwoArms, needs: Needs, chosen: Mapping[str, str], seed: int = 0) -> Json:
    """JSON: by signal its area and success at equal shares, cost at half, and what its area is above its rivals', paired."""
    resampled = Resampled(arms, seed)
    return {
        name: _row(resampled, name, need, needs) | {"chosen": _is_chosen(name, chosen)}
        for name, need in {**needs, ORACLE: arms.gain}.items()
    }


def _row(resampled: Resampled, name: str, need: np.ndarray, needs: Needs) -> Json:
    own = curve(resampled.arms, need)
    rivals = {
        key: resampled.compared(need, needs[rival]).area.as_json()
        for rival, key in RIVALS.items()
        if rival in needs and rival != name
    }
    return {
        "area": resampled.area(need).as_json(),
        "at": {f"{share:g}": own.at(share) for share in AT},
        "cost_at_half": float(np.interp(HALF, own.shares, own.cost)),
        **rivals,
    }


def _is_chosen(name: str, chosen: Mapping[str, str]) -> bool:
    return ":" in name and name in chosen.values()


def always(arms: TwoArms) -> list[Json]:
    """Success and cost of the cheap arm alone, and of the stronger."""
    return [
        {"success": float(success), "cost": float(cost)}
        for success, cost in zip(arms.success.mean(0), arms.cost.mean(0), strict=True)
    ]
