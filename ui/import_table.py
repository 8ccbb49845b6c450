"""What the terminal shows of an import, and of traces that were removed."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from ..data.formats import Skipped
from ..data.removal import Removed, Standing
from .importing import ImportReport, standing_json
from .terminal import OUT, SHOWN_PROBLEMS, plain, print_json

SHOWN_ALIKE = 3  # skipped files of one ending that have a line each


def show_import(report: ImportReport, *, as_json: bool) -> None:
    if as_json:
        return print_json(report.as_json())
    OUT.print(
        f"{report.traces} traces, {report.turns} turns, {report.thoughts} thoughts; "
        f"{report.duplicates} were known already, {report.quarantined} quarantined"
    )
    _show_changes(report)
    if report.without_thoughts:
        OUT.print(
            f"{report.without_thoughts} traces hold no thought, so nothing can be mined from them"
        )
    _show_counts("mended", report.repairs)
    _show_counts("reasoning", report.reasoning)
    if report.outcomes is not None:
        known = report.outcomes
        OUT.print(
            f"outcomes: {known.matched} matched, {known.traces_without} traces without a row, "
            f"{known.rows_without} rows without a trace"
        )
    _show_left(report)


def show_removal(removed: Removed, *, as_json: bool) -> None:
    if as_json:
        told = {"traces": removed.traces, "turns": removed.turns, "thoughts": removed.thoughts}
        return print_json({**told, "candidates": standing_json(removed.standing)})
    OUT.print(
        f"removed {removed.traces} traces, {removed.turns} turns, {removed.thoughts} thoughts"
    )
    _show_standing(removed.standing)


def _show_changes(report: ImportReport) -> None:
    """What known runs learned, and what went for those that were read anew."""
    if report.new_outcomes:
        OUT.print(f"of {report.new_outcomes} known traces we now know how they ended")
    if report.new_pictures:
        OUT.print(f"of {report.new_pictures} known traces pictures have turned up")
    if report.replaced is not None:
        OUT.print(f"{report.replaced.removed.traces} traces that their files tell no more removed")
        _show_standing(report.replaced.removed.standing)
        if report.replaced.kept:
            OUT.print(
                f"{report.replaced.kept} traces kept, whose place in the file could not be read"
            )


def _show_standing(standing: Sequence[Standing]) -> None:
    if standing:
        turns = sum(one.turns for one in standing)
        names = ", ".join(dict.fromkeys(one.set_name for one in standing))
        OUT.print(
            plain(f"{turns} turns that {len(standing)} candidates of {names} came from are gone")
        )


def _show_counts(title: str, counts: Mapping[str, int]) -> None:
    if counts:
        told = ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
        OUT.print(plain(f"{title}: {told}"))


def _show_left(report: ImportReport) -> None:
    """What was not imported: skipped files, many of one ending in one line, and what is in quarantine."""
    for line in skipped_lines(report.skipped):
        OUT.print(plain(line))
    for one in report.rejected[:SHOWN_PROBLEMS]:
        OUT.print(plain(f"quarantined {one.file}, {one.position}: {one.reason}"))
    if len(report.rejected) > SHOWN_PROBLEMS:
        OUT.print(f"... and {len(report.rejected) - SHOWN_PROBLEMS} more; `--json` lists them all")
    if report.tried:
        OUT.print(plain(f"formats tried: {', '.join(report.tried)}"))


def skipped_lines(skipped: Iterable[Skipped]) -> list[str]:
    """A line each file; of many that have one ending and one reason, one with their number and the first's name."""
    alike: dict[tuple[str, str], list[Skipped]] = {}
    for one in skipped:
        alike.setdefault((PurePath(one.file).suffix.lower(), one.reason), []).append(one)
    lines = []
    for (ending, reason), files in alike.items():
        if len(files) <= SHOWN_ALIKE:
            lines += [f"skipped {one.file}: {reason}" for one in files]
        else:
            kind = f"{ending} files" if ending else "files without an ending"
            lines.append(f"skipped {len(files)} {kind}, such as {files[0].file}: {reason}")
    return lines
