"""Slices, coverage, confusable pairs, drift and transfer as tables in the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from .audit_table import interval
from .terminal import OUT, plain, print_json, printable

Json = Mapping[str, Any]
SHOWN_TURNS = 10
SHOWN_TEXT = 100  # characters
CHANGES = {
    "assigned": "share with a candidate assigned",
    "covered": "share near a candidate",
    "distribution": "which candidates (Jensen-Shannon, bits)",
    "groups": "share with the new group that grew most",
}


def show_slices(report: Json, by: str) -> None:
    """The audited set's figures by slices of one kind; counts alone where there are few questions."""
    columns = ("turns", "questions", "assigned", "routed", "raw", "coverage", "most used", "agrees")
    table = _table(f"{report['set']} by {by}", by, *columns)
    for name, found in report["slices"][by].items():
        counts = [str(found["turns"]), str(found["questions"])]
        table.add_row(plain(name), *counts, *(_slice(found) if "collapse" in found else ()))
    OUT.print(table)


def _slice(found: Json) -> list[str]:
    return [
        interval(found["assigned_recovery"]),
        interval(found["routed_recovery"]),
        interval(found["selected_recovery"]["raw"]),
        _share(found["semantic_coverage"]),
        _share(found["collapse"]["top_share"]),
        _share(found["action_agreement"]),
    ]


def show_coverage(report: Json, *, as_json: bool) -> None:
    if as_json:
        return print_json(report)
    coverage, uncovered = report["semantic_coverage"], report["uncovered"]
    OUT.print(
        plain(
            f"{report['set']} covers {interval(coverage)} of {coverage['n']} held-out thoughts (cosine {coverage['threshold']:.2f}); "
            f"some candidate is assigned to {interval(report['assigned'])}"
        )
    )
    show_calibration(report["calibration"])
    table = _table(f"{len(uncovered)} are uncovered; the most typical", "turn", "cosine", "thought")
    for one in uncovered[:SHOWN_TURNS]:
        turn = f"{one['trace']}:{one['turn']}"
        table.add_row(plain(turn), f"{one['cosine']:.2f}", _shortened(one["text"]))
    OUT.print(table)


def show_calibration(found: Json | None) -> None:
    if found is None:
        OUT.print("the threshold is the default; `--judged` takes one from judged pairs")
        return
    held_out = found["held_out"]
    OUT.print(
        f"threshold {found['threshold']:.2f} from {found['train']['n']} judged pairs; on {held_out['n']} others "
        f"precision {interval(held_out['precision'])}, recall {interval(held_out['recall'])}"
    )


def show_pairs(report: Json, *, as_json: bool) -> None:
    if as_json:
        return print_json(report)
    table = _table(
        f"Confusable pairs of {report['set']}",
        *("first", "second", "cosine", "assigned between", "selected between", "do"),
    )
    for pair in report["pairs"]:
        table.add_row(
            plain(pair["first_text"]),
            plain(pair["second_text"]),
            f"{pair['similarity']:.2f}",
            _contest(pair["assignment"]),
            _contest(pair["selection"]),
            pair["suggestion"],
        )
    OUT.print(table if report["pairs"] else "no two candidates are taken for each other")


def show_drift(report: Json, *, as_json: bool) -> None:
    if as_json:
        return print_json(report)
    questions = report["questions"]
    title = f"{report['set']}: {questions['old']} old questions, {questions['new']} new"
    table = _table(title, "what", "old", "new", "p", "")
    for name, change in report["changes"].items():
        drifts = "drift" if change["drifts"] else ""
        figures = (f"{change[key]:.3f}" for key in ("old", "new", "p"))
        table.add_row(CHANGES[name], *figures, drifts)
    OUT.print(table)
    for group in report["groups"][:SHOWN_TURNS] if report["drift"] else ():
        OUT.print(
            plain(
                f"uncovered on {group['new_questions']} new and {group['old_questions']} old questions: "
                f"{printable(group['text'])[:SHOWN_TEXT]}"
            )
        )
    OUT.print("the new runs drifted" if report["drift"] else "no drift")


def show_transfer(matrix: Json, *, as_json: bool) -> None:
    if as_json:
        return print_json(matrix)
    cells = {(cell["mined"], cell["audited"]): cell for cell in matrix["cells"]}
    for title, key in (
        ("Share of turns with a candidate assigned", "assigned"),
        (f"Semantic coverage at {matrix['threshold']:.2f}", "semantic_coverage"),
        ("Assigned recovery", "assigned_recovery"),
    ):
        if any(cell[key] for cell in cells.values()):
            _show_matrix(title, key, matrix["sources"], cells)
    for failure in matrix["failures"]:
        OUT.print(plain(f"{failure['source']}: no {failure['part']}: {failure['reason']}"))


def _show_matrix(
    title: str, key: str, sources: list[str], cells: Mapping[tuple[str, str], Json]
) -> None:
    table = _table(title, "mined on, down; audited on, across", *map(printable, sources))
    for mined in sources:
        row = [cells.get((mined, audited)) for audited in sources]
        table.add_row(
            plain(mined), *(f"{interval(c[key])} n {c['turns']}" if c else "" for c in row)
        )
    OUT.print(table)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=plain(title), title_justify="left", box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(plain(column))
    return table


def _share(estimate: Json) -> str:
    return "not told" if estimate["value"] is None else f"{estimate['value']:.0%}"


def _contest(found: Json | None) -> str:
    return "" if found is None else f"{found['close']} of {found['turns']} turns"


def _shortened(text: str) -> str:
    line = printable(text)
    return line if len(line) <= SHOWN_TEXT else f"{line[: SHOWN_TEXT - 1]}…"
