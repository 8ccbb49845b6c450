"""Commands that make, join and divide candidates: add, merge, split, each one command with its lineage.

A candidate that goes keeps its row and its history. Support is told to the turn; how the number of questions
follows from it is `count_questions`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlmodel import Session, col, select

from .candidate_sets import folded, set_row
from .candidates import MINED_AT, Candidate, Status, check_text
from .edits import Deed, Edit, carry_out, conflict, edited, end_of, member, order
from .errors import InvalidCandidate, NothingToDo
from .history import Author, Change
from .identity import candidate_id, canonical
from .store import Store
from .tables import CandidateRow, CommandType, LineageKind, LineageRow, TraceRow, candidate_row

PAGE = 500


@dataclass(frozen=True)
class NewCandidate:
    """A candidate to be: its text, the turns that support it (turn_id), the kinds of action it announces.

    As a part of a split, `expected_actions` None are those of the candidate that is split. `derived_from` is
    the id of the candidate that gave the idea.
    """

    text: str
    support: tuple[str, ...] = ()
    expected_actions: tuple[str, ...] | None = None
    derived_from: str | None = None


class _Kin(NamedTuple):
    from_id: str
    to_id: str
    kind: LineageKind


def add(store: Store, set_name: str, new: NewCandidate, actor: str, reason: str = "") -> Candidate:
    """Put a candidate that a person wrote at the end of the set; InvalidCandidate for a text that stands there."""
    with store.database.writing() as session:
        set_row(session, set_name)
        if new.derived_from is not None:
            member(session, set_name, new.derived_from)
        columns = _columns(session, new, ()) | {"position": end_of(session, set_name)}
        row = _row_for(session, set_name, new.text)
        deed = Deed(set_name, CommandType.ADD, {"candidate": row.id}, Author(actor, reason))
        command_id = carry_out(session, deed, [Change(row, columns)])
        if new.derived_from is not None:
            kin = _Kin(new.derived_from, row.id, LineageKind.DERIVED)
            _keep_lineage(session, set_name, command_id, [kin])
        return row.value()


def merge(
    store: Store,
    survivor: Edit,
    others: Sequence[Edit],
    text: str | None = None,
    excluded: Collection[str] = (),
) -> Candidate:
    """Join `others` into the survivor: their turns less the excluded, their actions, their texts as aliases.

    They leave the set's order. `text` rewords the survivor, also to one of theirs. StaleEdit if any of them was
    changed meanwhile; InvalidCandidate for an excluded turn that none of the others has.
    """
    _check_distinct_edits([survivor, *others])
    with store.database.writing() as session:
        gone = [edited(session, edit, {"position": None}) for edit in others]
        kept = member(session, survivor.set_name, survivor.candidate_id)
        columns = _merged(session, kept, gone, text, excluded)
        stale = conflict(session, kept, survivor, columns)
        if stale is not None:
            raise stale
        changes = [Change(kept, columns), *(Change(row, {"position": None}) for row in gone)]
        args = {"survivor": kept.id, "others": [row.id for row in gone]}
        deed = Deed(survivor.set_name, CommandType.MERGE, args, survivor.author)
        command_id = carry_out(session, deed, changes)
        kin = [_Kin(row.id, kept.id, LineageKind.MERGE) for row in gone]
        _keep_lineage(session, survivor.set_name, command_id, kin)
        return kept.value()


def split(
    store: Store, edit: Edit, parts: Sequence[NewCandidate], left_out: Collection[str] = ()
) -> tuple[Candidate, ...]:
    """Divide a candidate's turns among parts, which stand where it stood; the parts as they are stored.

    Every turn of it goes to exactly one part or is `left_out`. A part with the candidate's own text is that
    candidate from then on; where none is, the candidate is rejected.
    """
    with store.database.writing() as session:
        row = edited(session, edit, {})
        _check_parts(row, parts, left_out)
        changes = [*_part_changes(session, row, parts)]
        rows = [change.row for change in changes]
        if row not in rows:
            changes.append(Change(row, {"status": Status.REJECTED.value}))
        args = {"candidate": row.id, "parts": [part.id for part in rows]}
        deed = Deed(edit.set_name, CommandType.SPLIT, args, edit.author)
        command_id = carry_out(session, deed, changes)
        kin = [_Kin(row.id, part.id, LineageKind.SPLIT) for part in rows if part.id != row.id]
        _keep_lineage(session, edit.set_name, command_id, kin)
        return tuple(part.value() for part in rows)


def count_questions(session: Session, support: Iterable[str]) -> int:
    """How many distinct questions the turns belong to; a trace that the store lacks counts as one of its own."""
    traces = sorted({turn.rpartition(":")[0] for turn in support})
    questions: dict[str, str] = {}
    for start in range(0, len(traces), PAGE):
        page = traces[start : start + PAGE]
        rows = session.execute(
            select(TraceRow.id, TraceRow.question).where(col(TraceRow.id).in_(page))
        )
        questions |= {id: canonical(question).casefold() for id, question in rows}
    return len(set(questions.values())) + len(traces) - len(questions)


def _check_distinct_edits(edits: Sequence[Edit]) -> None:
    if len(edits) < 2:
        raise NothingToDo("one candidate alone cannot be merged; name another")
    if len({edit.candidate_id for edit in edits}) < len(edits):
        raise InvalidCandidate("a candidate cannot be merged with itself; name each once")
    if len({edit.set_name for edit in edits}) > 1:
        raise InvalidCandidate(
            "candidates of different sets cannot be merged; add one's text first"
        )


def _merged(
    session: Session,
    kept: CandidateRow,
    gone: Sequence[CandidateRow],
    text: str | None,
    excluded: Collection[str],
) -> dict[str, Any]:
    """The survivor's columns after a merge."""
    theirs = dict.fromkeys(turn for row in gone for turn in row.support)
    unknown = sorted(set(excluded) - theirs.keys())
    if unknown:
        raise InvalidCandidate(f"turn {unknown[0]} supports none of the candidates that are merged")
    support = [*kept.support, *(turn for turn in theirs if turn not in set(excluded))]
    support = list(dict.fromkeys(support))
    actions = dict.fromkeys(name for row in (kept, *gone) for name in row.expected_actions)
    surviving = kept.text if text is None else check_text(text)
    aliases: dict[str, str] = {}
    for name in (*kept.aliases, *(name for row in gone for name in (row.text, *row.aliases))):
        aliases.setdefault(folded(name), name)
    aliases.pop(folded(surviving), None)
    return {
        "text": surviving,
        "support": support,
        "questions": count_questions(session, support) if theirs else kept.questions,
        "expected_actions": list(actions),
        "aliases": list(aliases.values()),
    }


def _check_parts(
    row: CandidateRow, parts: Sequence[NewCandidate], left_out: Collection[str]
) -> None:
    if not parts or (len(parts) < 2 and not left_out):
        raise NothingToDo("one part is no split; name at least two, or leave turns out")
    texts = {folded(part.text) for part in parts}
    if len(texts) < len(parts):
        raise InvalidCandidate("two parts have the same text; word each differently")
    placed = [turn for part in parts for turn in part.support] + list(left_out)
    if twice := {turn for turn, count in Counter(placed).items() if count > 1}:
        raise InvalidCandidate(f"turn {min(twice)} stands in two parts; give it to one")
    if unknown := set(placed) - set(row.support):
        raise InvalidCandidate(f"turn {min(unknown)} is no support of candidate {row.id}")
    if forgotten := set(row.support) - set(placed):
        raise InvalidCandidate(
            f"{len(forgotten)} turns of candidate {row.id} stand in no part ({min(forgotten)}, ...); "
            "give each to one part or leave it out"
        )


def _part_changes(
    session: Session, row: CandidateRow, parts: Sequence[NewCandidate]
) -> Iterator[Change]:
    """One change a part; new ones stand between the candidate and the one that follows it."""
    places = order(session, row.set_name)
    here = next(place for place, stands in enumerate(places) if stands.id == row.id)
    low = places[here].position
    high = places[here + 1].position if here + 1 < len(places) else low + 1
    for number, part in enumerate(parts, 1):
        columns = _columns(session, part, row.expected_actions)
        if folded(part.text) == folded(row.text):
            its_own = ("support", "questions", "expected_actions")
            yield Change(row, {key: columns[key] for key in its_own})
            continue
        position = low + (high - low) * number / (len(parts) + 1)
        yield Change(_row_for(session, row.set_name, part.text), columns | {"position": position})


def _columns(session: Session, new: NewCandidate, actions: Sequence[str]) -> dict[str, Any]:
    """All columns of a new candidate but its place."""
    return {
        "text": check_text(new.text),
        "support": list(new.support),
        "questions": count_questions(session, new.support),
        "expected_actions": list(actions if new.expected_actions is None else new.expected_actions),
        "status": Status.PROPOSED.value,
        "aliases": [],
        "created_at": MINED_AT,
    }


def _row_for(session: Session, set_name: str, text: str) -> CandidateRow:
    """The row for a new candidate: its old one where it was in the set before, else one with an id of its own."""
    id, number = candidate_id(text), 1
    while (row := session.get(CandidateRow, (set_name, id))) is not None:
        if row.position is None and folded(row.text) == folded(text):
            return row
        number += 1
        id = candidate_id(f"{text} ({number})")
    return candidate_row(set_name, Candidate(id, text))


def _keep_lineage(session: Session, set_name: str, command_id: int, kin: Iterable[_Kin]) -> None:
    for from_id, to_id, kind in kin:
        session.add(
            LineageRow(
                set_name=set_name,
                from_id=from_id,
                to_id=to_id,
                kind=kind.value,
                command_id=command_id,
            )
        )
