"""How a trace becomes a row of the store, and a row a trace again.

What only some traces have stands in the body where it is, so that older rows read as they did.
"""

import re
from typing import Any

from .tables import TraceRow, storable
from .traces import Action, Outcome, Trace, Turn

KEPT_PICTURE = re.compile(r"[0-9a-f]{64}\.\w+")  # what an import calls a picture that it keeps


def is_kept_picture(name: str) -> bool:
    """Whether a turn's picture is named by what is in it: an import had it in hand."""
    return KEPT_PICTURE.fullmatch(name) is not None


def trace_columns(trace: Trace) -> dict[str, Any]:
    turns = [
        {
            "thoughts": list(turn.thoughts),
            "actions": [
                {"name": action.name, "arguments": dict(action.arguments)}
                for action in turn.actions
            ],
            "observations": list(turn.observations),
            "images": list(turn.images),
        }
        | _filled(is_cut=turn.is_cut, summaries=list(turn.summaries), redacted=turn.redacted)
        | ({} if turn.known_as is None else {"known_as": list(turn.known_as)})
        for turn in trace.turns
    ]
    told = _filled(model=trace.model, run=trace.run, repairs=list(trace.repairs))
    return {
        "id": trace.id,
        "question": storable(trace.question),
        "outcome": trace.outcome,
        "source": storable(trace.source),
        "format": trace.format,
        "file": storable(trace.file),
        "position": trace.position,
        "num_turns": len(trace.turns),
        "num_thoughts": trace.num_thoughts,
        "body": {"question": trace.question, "turns": turns} | told,
    }


def _filled(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}


def outcome_of(stored: str | None) -> Outcome | None:
    return Outcome(stored) if stored else None


def trace_value(row: TraceRow) -> Trace:
    return Trace(
        question=row.body["question"],
        turns=tuple(
            Turn(
                thoughts=tuple(turn["thoughts"]),
                actions=tuple(Action(a["name"], a["arguments"]) for a in turn["actions"]),
                observations=tuple(turn["observations"]),
                images=tuple(turn["images"]),
                is_cut=turn.get("is_cut", False),
                summaries=tuple(turn.get("summaries", ())),
                redacted=turn.get("redacted", 0),
                known_as=tuple(turn["known_as"]) if "known_as" in turn else None,
            )
            for turn in row.body["turns"]
        ),
        outcome=outcome_of(row.outcome),
        source=row.source,
        format=row.format,
        file=row.file,
        position=row.position,
        model=row.body.get("model", ""),
        run=row.body.get("run", ""),
        repairs=tuple(row.body.get("repairs", ())),
    )
