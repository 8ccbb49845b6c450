"""A bench's report as a terminal shows it: success and latency by mode, what selecting saves, how runs end."""

from typing import Any

from rich.table import Table

from .terminal import OUT, plain, print_json

Json = dict[str, Any]


def show_bench(report: Json, *, as_json: bool) -> None:
    if as_json:
        return print_json(report)
    if report["claim"]:
        OUT.print(f"{report['claim']}: no mode succeeds on a tenth of the questions")
    if agreed := report.get("agreement"):
        _show_agreement(agreed)
    table = Table("mode", "n", "failed", "success", "F1", "reasoning ms", "p95", "model s", "turns")
    for mode, found in report["modes"].items():
        success, reasoning = found["success"], found["reasoning_ms"]
        table.add_row(
            mode,
            str(found["n"]),
            str(found["failed"]),
            _interval(success),
            _number(found["f1"], "{:.2f}"),
            *(_number(reasoning[part], "{:,.0f}") for part in ("p50", "p95")),
            _number(found["model_s"], "{:.2f}"),
            _number(found["turns"], "{:.1f}"),
        )
    OUT.print(table)
    for mode, found in report["select_against"].items():
        difference = found["success_difference"]
        OUT.print(
            f"select against {mode}, {found['n']} questions: success {_number(difference['value'], '{:+.2f}')} "
            f"\\[{_number(difference['low'], '{:+.2f}')}, {_number(difference['high'], '{:+.2f}')}], reasoning "
            f"{_number(found['reasoning_saved'], '{:.1%}')} less a turn, model time {_number(found['model_saved'], '{:.1%}')} less a question"
        )
    for mode, found in report["modes"].items():
        ends = ", ".join(f"{stop} {count}" for stop, count in found["stops"].items())
        OUT.print(plain(f"{mode} ends: {ends}"))


def _show_agreement(agreed: Json) -> None:
    told = ", ".join(f"{mode} {_interval(found)}" for mode, found in agreed["modes"].items())
    OUT.print(
        f"action as recorded under the recorded history, {agreed['turns']} turns: {told}; the most frequent alone "
        f"{_number(agreed['constant'], '{:.2f}')}"
    )


def _interval(found: Json) -> str:
    low, high = (_number(found[end], "{:.2f}") for end in ("low", "high"))
    return f"{_number(found['value'], '{:.2f}')} \\[{low}, {high}]"


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)
