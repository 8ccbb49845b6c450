"""An audit's report as one HTML file that needs nothing else: no network, no script, every picture inside.

All text is untrusted: the template escapes whatever it prints, and the page's own policy forbids scripts and loading.
Figures come from the report's dictionary (scorer/summary.py); nothing is computed here but what a table needs.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..data.candidates import CandidateSet
from . import charts
from .pictures import latency_picture, recovery_picture, use_picture
from .result_file import write_whole

Json = Mapping[str, Any]
Row = dict[str, Any]  # one line of a table, as the template prints it

CALIBRATIONS = ("raw", "pmi", "batch")
SPLITS = {
    "test": "every figure is over these",
    "choose": "routes and the best constant were chosen on these",
}


def write_report(
    path: str | Path, report: Json, candidate_set: CandidateSet, command: str = ""
) -> None:
    """Writes `report_html` to `path`, whole or not at all; ForethoughtError where it cannot be written."""
    write_whole(Path(path), report_html(report, candidate_set, command))


def report_html(report: Json, candidate_set: CandidateSet, command: str = "") -> str:
    """The page for an audit of `candidate_set`; `command`, if told, is named as the one that makes the figures."""
    template = page_environment().get_template("report.html")
    constant = report.get("constant_recovery") or {}
    use = charts.use_by_action(report)
    return template.render(
        name=candidate_set.name,
        note=candidate_set.note,
        command=command,
        report=report,
        candidates=candidate_set.active,
        told=charts.is_told(report),
        turns=report.get("turns") or {},
        settings=_settings(report),
        splits=SPLITS,
        headlines=_headlines(report),
        sets=[_row(n, f) for n, f in _sets(report) if not charts.is_nested(n, _name(report))],
        sizes=[_row(n, f) for n, f in _sets(report) if charts.is_nested(n, _name(report))],
        calibrations=CALIBRATIONS,
        constant_text=(report.get("texts") or {}).get(constant.get("id", "")),
        differences=_differences(report),
        slices=_slices(report),
        recovery_svg=Markup(
            recovery_picture(
                charts.recovery_curve(report), charts.comparison(report), constant.get("value")
            )
        ),
        has_recovery=bool(charts.comparison(report)),
        use=use,
        use_svg=Markup(use_picture(use)),
        latencies=charts.latencies(report),
        latency_conditions=charts.latency_conditions(report),
        latency_svg=Markup(latency_picture(charts.latencies(report))),
    )


def page_environment() -> Environment:
    """For a page that shows any text letter by letter."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        figure=charts.figure,
        interval=charts.interval,
        percent=charts.percent,
        milliseconds=charts.milliseconds,
        shortened=charts.shortened,
    )
    environment.tests["clear"] = charts.excludes_zero
    return environment


def _printed(value: object) -> object:
    """What the template prints: text with every character made one that a page can carry."""
    return charts.legible(value) if type(value) is str else value


def _name(report: Json) -> str:
    return report.get("set", "")


def _sets(report: Json) -> list[tuple[str, Json]]:
    return list((report.get("sets") or {}).items())


def _settings(report: Json) -> dict[str, str]:
    """Name and value of each setting as the page lists them."""
    listed = {}
    for key, value in (report.get("settings") or {}).items():
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        listed[key.replace("_", " ")] = text
    return listed


def _headlines(report: Json) -> list[Row]:
    """The figures that stand on top: what, its value, and what it says."""
    selected = (report.get("selected_recovery") or {}).get("raw") or {}
    recoveries = {
        "assigned recovery": (
            report.get("assigned_recovery"),
            "what a perfect imitator would get from this set",
        ),
        "routed recovery": (
            report.get("routed_recovery"),
            "knowing only the kind of the next move",
        ),
        "selected recovery, raw": (selected, "what this model gets now, by likelihood"),
        "best constant": (
            report.get("constant_recovery"),
            "one sentence for every turn: the floor",
        ),
    }
    rows: list[Row] = [
        {
            "what": what,
            "value": charts.figure((e or {}).get("value")),
            "range": charts.interval(e) or _nats(e),
            "says": says,
        }
        for what, (e, says) in recoveries.items()
    ]
    for row in charts.latencies(report):
        if row.saved is not None and row.mode == charts.MODES["think"]:
            says = "less reasoning time a turn, median, against generating the thought"
            rows.append(
                {
                    "what": "time saved",
                    "value": charts.percent(row.saved),
                    "range": "",
                    "says": says,
                }
            )
    return rows


def _nats(estimate: Json | None) -> str:
    """What stands for a recovery that is not told."""
    nats = (estimate or {}).get("nats")
    return "" if nats is None else f"{charts.figure(nats)} nat"


def _row(name: str, figures: Json) -> Row:
    """One set as a line of the table, every key there."""
    assigned = figures.get("assigned_recovery") or {}
    selected = figures.get("selected_recovery") or {}
    return {
        "name": name,
        "size": figures.get("size"),
        "assigned": assigned,
        "routed": figures.get("routed_recovery") or {},
        "selected": {c: selected.get(c) or {} for c in CALIBRATIONS},
        "most_used": ((figures.get("collapse") or {}).get("top_share") or {}).get("value"),
        "escape": (figures.get("escape") or {}).get("value"),
    }


def _differences(report: Json) -> list[Row]:
    """The audited set less each other one; nested sizes are left to the curve."""
    rows = []
    for name, found in (report.get("differences") or {}).items():
        if not charts.is_nested(name, _name(report)):
            selected = [found.get(f"selected_recovery_{c}") or {} for c in CALIBRATIONS]
            both = [found.get("assigned_recovery") or {}, found.get("routed_recovery") or {}]
            rows.append({"name": name, "estimates": [*both, *selected]})
    constant = report.get("difference_from_constant") or {}
    if constant:
        both = [constant.get("assigned_recovery") or {}, constant.get("routed_recovery") or {}]
        rows.append({"name": "best constant", "estimates": [*both, {}, {}, {}]})
    return rows


def _slices(report: Json) -> dict[str, list[Row]]:
    """For each kind of slice a line a slice; no figures where there were too few questions. One slice alone tells nothing."""
    return {
        by: [
            _row(name, found)
            | {
                "turns": found["turns"],
                "questions": found["questions"],
                "coverage": (found.get("semantic_coverage") or {}).get("value"),
                "measured": "assigned_recovery" in found,
            }
            for name, found in parts.items()
        ]
        for by, parts in (report.get("slices") or {}).items()
        if len(parts) > 1
    }
