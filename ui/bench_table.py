"""A bench's report as a terminal shows it: success and latency by mode and by benchmark, what selecting saves, how runs end."""

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from . import bench_rows as rows
from .bench_rows import Against, Agreement, Part, Told
from .bench_settings import router_told
from .terminal import OUT, plain, print_json

Json = Mapping[str, Any]


def show_bench(report: Json, *, as_json: bool) -> None:
    if as_json:
        return print_json(report)
    every, parts = rows.pooled(report), rows.parts(report)
    if not every.modes:
        OUT.print("nothing was played")
    elif every.is_floor:
        OUT.print(
            "floor: no claim: every mode succeeds on less than a tenth of the questions, too few to tell modes apart"
        )
    for part in parts:
        if part.agreement:
            _show_agreement(part.agreement)
    OUT.print(_modes(every))
    if len(parts) > 1:
        OUT.print(_benchmarks(parts, rows.mean_success(report)))
    for one in every.against:
        _show_against(every.first, one)
    _show_ends(every)
    _show_router(report)
    for part in parts:
        _show_left_out(part)


def _modes(part: Part) -> Table:
    heads = ("mode", "n", "failed", "success %", "F1", "reasoning ms", "p95", "model s", "turns")
    table = Table(*heads, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for row in part.modes:
        table.add_row(
            plain(row.mode),
            str(row.n) if not row.without_truth else f"{row.success.n} of {row.n}",
            f"{row.failed}" + f"\n+{row.unjudged} unjudged" * bool(row.unjudged),
            _narrow(row.success),
            rows.plain(row.f1, 2),
            rows.plain(row.reasoning.p50, 0),
            rows.plain(row.reasoning.p95, 0),
            rows.plain(row.model.mean, 2),
            rows.plain(row.turns),
        )
    return table


def _benchmarks(parts: tuple[Part, ...], mean: Mapping[str, float | None]) -> Table:
    """Success of every mode on each benchmark; the mean counts each once."""
    modes = rows.modes_of(parts)
    table = Table("success %", "metric", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for mode in modes:
        table.add_column(plain(mode))
    for part in parts:
        found = [part.mode(mode) for mode in modes]
        cells = [_points(row.success.value) if row else "" for row in found]
        table.add_row(plain(part.name), plain(part.metric), *cells)
    table.add_section()
    table.add_row("mean", "", *(_points(mean.get(mode)) for mode in modes))
    return table


def _show_against(first: str, one: Against) -> None:
    asked = rows.questions(one.n)
    if one.difference.n < one.n:
        asked += f", {one.difference.n} of them with a truth"
    clauses = [f"success {rows.points(one.difference)} points", *rows.spared(one)]
    _say(f"{first} against {one.mode}, {asked}: {', '.join(clauses)}")


def _show_ends(part: Part) -> None:
    for row in part.modes:
        _say(f"{row.mode} ends: {_counts(row.stops)}")
    for mode, what, counts in rows.sent(part):
        _say(f"{mode} sent {what} to: {_counts(counts)}")


def _show_router(report: Json) -> None:
    told = router_told(report)
    if told.withdrawn:
        _say(f"the router's arms that cannot be played here: {', '.join(told.withdrawn)}")
    if told.trained_on:
        _say(
            f"the router has learned from {rows.questions(told.trained_on)} of these: no fair test"
        )


def _show_left_out(part: Part) -> None:
    if part.metric != part.own_metric:
        _say(f"{part.name}: {part.metric} match, not its own metric ({part.own_metric})")
    if part.left_out:
        _say(f"{part.name}: not asked: {_counts(part.left_out)}")
    if part.verdicts:
        _say(f"{part.name}: the judge said: {_counts(part.verdicts)}")


def _show_agreement(agreed: Agreement) -> None:
    told = ", ".join(f"{mode} {_interval(found)}" for mode, found in agreed.modes.items())
    _say(
        f"action as recorded under the recorded history, {rows.counted(agreed.turns, 'turn')}: {told}; the most frequent alone "
        f"{rows.percent(agreed.constant)}"
    )


def _say(text: str) -> None:
    OUT.print(plain(text))


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in found.items())


def _points(share: float | None) -> str:
    return rows.plain(None if share is None else 100 * share)


def _narrow(told: Told) -> str:
    """In whole points, for a table's column."""
    if told.value is None or told.low is None or told.high is None:
        return rows.percent(told.value)
    return f"{100 * told.value:.1f} ({100 * told.low:.0f}–{100 * told.high:.0f})"


def _interval(told: Told) -> str:
    return f"{rows.percent(told.value)} {rows.range_of(told)}".strip()
