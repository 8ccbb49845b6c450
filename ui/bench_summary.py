"""What sums a bench up: the figures that stand on top of its page, and which candidates were taken where. Draws nothing."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from . import bench_rows as rows
from .bench_rows import AT, SELECT, THINK, Against, Agreement, ModeRow

Json = Mapping[str, Any]
LEAST_QUESTIONS = 30  # of a mode, for a claim
SURE = 0.05  # a p below is more than chance explains, where no interval tells
AGREEMENT = "Agreement is, under a recorded run's own history, how often the next action is of the recorded kind."
DASH = "A dash (–) is a figure that was not told or cannot be reckoned; for a candidate, that it was not on offer."
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
    """Columns are benchmarks where `select` played several, else the modes that chose; a candidate that a mode could not take has None.

    `coverage` is of turns that are covered from `least_log_z`, in nats.
    """

    columns: tuple[str, ...]
    rows: tuple[Share, ...]
    announced: tuple[float | None, ...]
    coverage: tuple[float | None, ...]
    least_log_z: float | None


def metric(name: str) -> str:
    """A metric in words."""
    return METRICS.get(name, name)


def coverage_told(least_log_z: float | None) -> str:
    """What coverage is, in a sentence."""
    least = "" if least_log_z is None else f" (log Z of at least {rows.plain(least_log_z, 0)} nats)"
    return (
        f"Coverage is the share of selected turns in which the set as a whole is likely enough{least} that hybrid would have "
        "selected too."
    )


def claim(report: Json) -> str:
    """What the run may be said to show, in sentences of our own words and numbers."""
    part = rows.pooled(report)
    if not part.modes:
        return "Nothing was played."
    asked = max(row.success.n for row in part.modes)
    if asked < LEAST_QUESTIONS:
        return " ".join([_too_few(asked), *_agreeing(report)])
    if part.is_floor:
        floor = (
            "Floor: no claim. Every mode succeeds on less than a tenth of the questions, too few to tell modes apart, and time "
            "that is saved is saved at nothing."
        )
        return " ".join([floor, *_agreeing(report)])
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
            found += [_time(what, share, per) for what, share, per in saved if share is not None]
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
    played = list(columns.values())
    plan = report.get("plan")
    return ShareTable(
        tuple(columns),
        tuple(
            Share(text, tuple(_share(row, id, place) for row in played))
            for place, (id, text) in enumerate(texts.items())
        ),
        tuple(row.announced if row else None for row in played),
        tuple(row.coverage.value if row else None for row in played),
        rows.number(plan.get("least_log_z")) if isinstance(plan, Mapping) else None,
    )


def _share(row: ModeRow | None, id: str, place: int) -> float | None:
    """None of a candidate that the mode, which selects from the set's first few, could not take."""
    if row is None:
        return None
    size = row.mode.partition(AT)[2]
    is_offered = not size.isdecimal() or place < int(size)
    return row.shares.get(id, 0.0 if is_offered else None)


def _time(what: str, saved: float, per: str) -> Card:
    says = f"{per}, mean, against think"
    if saved >= 0:
        return Card(f"{what} time saved", rows.percent(saved), "", says)
    return Card(f"{what} time", rows.times(saved), "", says)


def _too_few(asked: int) -> str:
    return f"Too few questions to claim anything: {asked}."


def _agreements(report: Json) -> Iterable[Card]:
    for part in rows.parts(report):
        if part.agreement is None:
            continue
        for mode in (SELECT, THINK):
            if told := part.agreement.modes.get(mode):
                says = f"of {rows.counted(part.agreement.turns, 'recorded turn')}: takes the recorded kind of action"
                yield Card(f"{mode} agrees", rows.percent(told.value), rows.range_of(told), says)
        constant = rows.percent(part.agreement.constant)
        yield Card("most frequent action", constant, "", "what taking it always would agree")


def _agreeing(report: Json) -> Iterable[str]:
    for part in rows.parts(report):
        if part.agreement and part.agreement.turns >= LEAST_QUESTIONS:
            yield _agreement(part.agreement)


def _agreement(found: Agreement) -> str:
    told = ", ".join(f"{mode} on {rows.percent(one.value)}" for mode, one in found.modes.items())
    return (
        f"What can be compared is agreement, how often the next action under a recorded run's own history is of the recorded "
        f"kind: {told}; the most frequent action alone on {rows.percent(found.constant)}."
    )


def _sentence(one: Against) -> str:
    asked = one.difference.n
    if asked < LEAST_QUESTIONS:
        return f"Selecting less {one.mode}: {_too_few(asked)[0].lower()}{_too_few(asked)[1:]}"
    chance = "more than chance explains" if _is_sure(one) else "which may be chance"
    told = f"success {rows.points(one.difference)} points on {rows.questions(asked)}, {chance}"
    spared = " and ".join(rows.spared(one))
    return f"Selecting less {one.mode}: {told}{f'; it {spared}' if spared else ''}."


def _is_sure(one: Against) -> bool:
    """By the interval; by the exact test where all questions differ alike and there is none."""
    if one.difference.low is None:
        return one.p is not None and one.p < SURE
    return rows.is_clear(one.difference)
