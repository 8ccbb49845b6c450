"""How a trace becomes a row of the store, and a row a trace again."""

from typing import Any

from .tables import TraceRow, storable
from .traces import Action, Outcome, Trace, Turn


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
        for turn in trace.turns
    ]
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
        "body": {"question": trace.question, "turns": turns},
    }


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
            )
            for turn in row.body["turns"]
        ),
        outcome=outcome_of(row.outcome),
        source=row.source,
        format=row.format,
        file=row.file,
        position=row.position,
    )
