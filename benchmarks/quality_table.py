"""The figures of benchmarks/miner_quality.py: every row on every source, pooled over sources, and paired differences, as Markdown.

Works on records, views and reports of audits; knows neither how a set was made nor a language model. Pooled figures are the
unweighted mean over sources of each source's figure, resampled by question within each source, independently.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from forethought.scorer import recovery as policies
from forethought.scorer.audit import CALIBRATIONS
from forethought.scorer.metrics import Estimate
from forethought.scorer.recovery import SetView
from forethought.scorer.summary import Trial
from forethought.ui.audit_table import interval, value

CONSTANT = "best constant"
COMPARED = ("assigned", "routed")
Json = Mapping[str, Any]


class Key(NamedTuple):
    """A row of the tables: a way to make a set, and the size asked of it."""

    way: str
    size: int


@dataclass(frozen=True, eq=False)
class Part:
    """One source audited. `seconds` to make a set by way, `checks` are lines on our own set."""

    source: str
    report: Json
    run: Trial
    views: Mapping[Key, SetView]
    seconds: Mapping[str, float]
    checks: Sequence[str] = ()

    @property
    def tells(self) -> bool:
        """Whether the free thought surely gains, so that recovery means something."""
        return self.run.resampler.tells(self.run.free.total)

    def choice(self, policy: str, key: Key | None) -> policies.Choice:
        """What is injected on each test turn; of no key the best constant."""
        if key is None:
            return [self.report["constant_recovery"]["id"]] * len(self.run.test)
        view = self.views[key]
        if policy == "assigned":
            return policies.assigned_choice(self.run.test, view.name)
        if policy == "routed":
            return policies.routed_choice(self.run.test, self.run.choose, view.ids)
        return policies.selected_choice(self.run.test, view.ids, policy)

    @cache  # noqa: B019 parts live as long as the program
    def gains(self, policy: str, key: Key | None) -> np.ndarray:
        """(test turns,) nats over neutral."""
        return policies.gains_of(self.run.test, self.choice(policy, key)).total


def pooled(parts: Sequence[Part], gains: Sequence[np.ndarray]) -> Estimate:
    """The mean over sources of recovery, or of a paired difference of gains; nothing where no source tells."""
    told = [(part, own) for part, own in zip(parts, gains, strict=True) if part.tells]
    n = sum(len(own) for _, own in told)
    if not told:
        return Estimate(None, None, None, n)
    ratios = np.mean([_ratios(part, own) for part, own in told], axis=0)
    low, high = np.nanpercentile(ratios[1:], [2.5, 97.5])
    return Estimate(float(ratios[0]), float(low), float(high), n)


def difference(parts: Sequence[Part], policy: str, first: Key, second: Key | None) -> Estimate:
    """`first` less `second` (None: the best constant), paired by turn."""
    return pooled(parts, [part.gains(policy, first) - part.gains(policy, second) for part in parts])


def source_table(part: Part, ways: Sequence[str], sizes: Sequence[int]) -> Iterator[str]:
    """Everything that is told of every set on one source."""
    told = part.report["turns"]
    free = part.report["free_gain"]
    constant = part.report["constant_recovery"]
    yield f"### {part.source}"
    yield ""
    yield (
        f"{told['test']} test turns of {_questions(part)} questions, {told['choose']} choose turns. The free thought gains "
        f"{interval(free)} nats over a neutral sentence. Best constant: {interval(constant)} "
        f'("{part.report["texts"][constant["id"]]}").'
    )
    yield ""
    has_oracle = part.report["oracle_recovery"]["value"] is not None
    yield from _header(
        *("set", "texts", "assigned", "routed", *CALIBRATIONS),
        *(["oracle (random)"] if has_oracle else []),
        *("most used, raw", "agreement, raw", "agreement, assigned", "reuse", "leakage"),
        *("redundancy", "unassigned", "seconds"),
    )
    for key in _keys(part, ways, sizes):
        found = part.report["sets"][part.views[key].name]
        selected, agreement = found["selected_recovery"], found["action_agreement"]
        oracle = f"{value(found['oracle_recovery'])} ({value(found['oracle_random'])})"
        yield _row(
            key.way,
            str(found["size"]),
            interval(found["assigned_recovery"]),
            interval(found["routed_recovery"]),
            *(value(selected[calibration]) for calibration in CALIBRATIONS),
            *([oracle] if has_oracle else []),
            value(found["collapse"]["top_share"]),
            value(agreement),
            value(agreement["assigned"]),
            *(value(found[fact]) for fact in ("reuse", "leakage", "redundancy", "escape")),
            f"{part.seconds[key.way]:.0f}" if key.way in part.seconds else "",
        )
    yield ""
    yield from part.checks
    yield ""


def pooled_table(parts: Sequence[Part], ways: Sequence[str], sizes: Sequence[int]) -> Iterator[str]:
    """Recovery by every policy, over the sources that tell."""
    told = [part.source for part in parts if part.tells]
    yield f"### Pooled over {', '.join(told)}"
    yield ""
    yield from _header("set", "size", "assigned", "routed", *CALIBRATIONS)
    for key in _shared_keys(parts, ways, sizes):
        cells = [
            interval(pooled(parts, [part.gains(policy, key) for part in parts]).as_json())
            for policy in (*COMPARED, *CALIBRATIONS)
        ]
        yield _row(key.way, str(key.size), *cells)
    constant = pooled(parts, [part.gains("", None) for part in parts]).as_json()
    yield _row(CONSTANT, "1", *[interval(constant)] * (len(COMPARED) + len(CALIBRATIONS)))
    yield ""


def difference_tables(
    parts: Sequence[Part], ours: str, ways: Sequence[str], sizes: Sequence[int]
) -> Iterator[str]:
    """Our set of each size less every other of that size, less the sets that have one size only, and less the constant."""
    keys = _shared_keys(parts, ways, sizes)
    fixed = {key for key in keys if sum(key.way == other.way for other in keys) == 1}
    groups = [("pooled", parts), *((part.source, [part]) for part in parts)]
    for size in sizes:
        yield f"### Ours of {size}, less"
        yield ""
        yield from _header("", *(f"{policy}, {name}" for name, _ in groups for policy in COMPARED))
        mine = Key(ours, size)
        others = [key for key in keys if key.way != ours and (key.size == size or key in fixed)]
        for other in [*others, None]:
            cells = [
                interval(difference(own, policy, mine, other).as_json())
                for _, own in groups
                for policy in COMPARED
            ]
            yield _row(f"{other.way}, {other.size}" if other else CONSTANT, *cells)
        yield ""


def _ratios(part: Part, gains: np.ndarray) -> np.ndarray:
    """(1 + resamples,): summed gains over the free thoughts', row 0 of the sample itself."""
    weights = part.run.resampler.weights
    return (weights @ gains) / (weights @ part.run.free.total)


def _keys(part: Part, ways: Sequence[str], sizes: Sequence[int]) -> list[Key]:
    keys = [Key(way, size) for size in sizes for way in ways]
    return [key for key in keys if key in part.views]


def _shared_keys(parts: Sequence[Part], ways: Sequence[str], sizes: Sequence[int]) -> list[Key]:
    """The rows that every source has."""
    return [key for key in _keys(parts[0], ways, sizes) if all(key in part.views for part in parts)]


def _questions(part: Part) -> int:
    return len({record["question"] for record in part.run.test})


def _header(*columns: str) -> Iterator[str]:
    yield _row(*columns)
    yield _row(*["---"] * len(columns))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
