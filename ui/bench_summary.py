"""What sums a bench up: the figures that stand on top of its page, and which candidates were taken where. Draws nothing."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from . import bench_rows as rows
from .bench_rows import SELECT, THINK, Against, Agreement

Json = Mapping[str, Any]
METRICS = {
    "judge": "a judge's word",
    "exact": "exact match",
    "relaxed": "relaxed match",
    "f1": "token F1",
}


class Card(NamedTuple):
    """A figure that stands on top."""

    what: str
    value: str
    range: str
    says: str


class Share(NamedTuple):
    """A candidate: its text and how often it was taken, a column each."""

    text: str
    shares: tuple[float | None, ...]


class ShareTable(NamedTuple):
    """Columns are benchmarks where `select` played several, else the modes that chose."""

    columns: tuple[str, ...]
    rows: tuple[Share, ...]
    announced: tuple[float | None, ...]


def metric(name: str) -> str:
    """A metric in words."""
    return METRICS.get(name, name)


def claim(report: Json) -> str:
    """What the run may be said to show, in sentences of our own words and numbers."""
    part = rows.pooled(report)
    if not part.modes:
        return "Nothing was played."
    if part.is_floor:
        floor = (
            "Floor: no claim. No mode succeeds on a tenth of the questions, so success cannot tell the modes apart, and time "
            "that is saved is saved at nothing."
        )
        return " ".join(
            [floor, *(_agreeing(one.agreement) for one in rows.parts(report) if one.agreement)]
        )
    floored = sum(one.is_floor for one in rows.parts(report))
    thinking = [one for one in part.against if one.mode.startswith(THINK)]
    told = [_sentence(one) for one in thinking or part.against[:1]]
    if floored:
        told.append(
            f"On {floored} of {len(rows.parts(report))} benchmarks no mode succeeds on a tenth: no claim there."
        )
    return " ".join(told) or "Selecting was not played beside another mode, so nothing is compared."


def cards(report: Json) -> list[Card]:
    """Agreement first where success tells nothing; else success and what selecting saves."""
    part = rows.pooled(report)
    found = list(_agreements(report)) if part.is_floor else []
    for mode in (SELECT, THINK):
        if row := part.mode(mode):
            told = rows.percent(row.success.value), rows.range_of(row.success)
            found.append(Card(f"success, {mode}", *told, f"of {rows.questions(row.success.n)}"))
    for one in part.against:
        if one.mode == THINK and not part.is_floor:  # there, time is saved at nothing
            saved = (
                ("reasoning", one.reasoning_saved, "a turn"),
                ("model", one.model_saved, "a question"),
            )
            found += [
                Card(f"{what} time saved", rows.percent(share), "", f"{per}, mean, against think")
                for what, share, per in saved
            ]
    return found


def share_table(report: Json) -> ShareTable:
    """How often each candidate was taken; those the report does not name come last, by their id."""
    parts = [part for part in rows.parts(report) if (row := part.mode(SELECT)) and row.shares]
    if len(parts) > 1:
        columns = {part.name: part.mode(SELECT) for part in parts}
    else:
        columns = {row.mode: row for row in rows.choosing(rows.pooled(report))}
    taken = {id for row in columns.values() if row for id in row.shares}
    texts = rows.texts(report)
    texts |= {id: id for id in sorted(taken - texts.keys())}
    return ShareTable(
        tuple(columns),
        tuple(
            Share(text, tuple(row.shares.get(id, 0.0) if row else None for row in columns.values()))
            for id, text in texts.items()
        ),
        tuple(row.announced if row else None for row in columns.values()),
    )


def _agreements(report: Json) -> Iterable[Card]:
    for part in rows.parts(report):
        if part.agreement is None:
            continue
        for mode in (SELECT, THINK):
            if told := part.agreement.modes.get(mode):
                says = f"takes the recorded action, {part.agreement.turns} turns"
                yield Card(f"{mode} agrees", rows.percent(told.value), rows.range_of(told), says)
        constant = rows.percent(part.agreement.constant)
        yield Card("most frequent action", constant, "", "what taking it always would agree")


def _agreeing(found: Agreement) -> str:
    told = ", ".join(f"{mode} on {rows.percent(one.value)}" for mode, one in found.modes.items())
    return (
        f"What can be compared is the next action under the recorded history: as recorded {told}; the most frequent action "
        f"alone on {rows.percent(found.constant)}."
    )


def _sentence(one: Against) -> str:
    saved = f"it saves {rows.percent(one.reasoning_saved)} of the reasoning time a turn and {rows.percent(one.model_saved)} of the model's time a question"
    chance = "more than chance explains" if rows.is_clear(one.difference) else "which may be chance"
    return f"Selecting less {one.mode}: success {rows.points(one.difference)} points on {rows.questions(one.n)}, {chance}; {saved}."
