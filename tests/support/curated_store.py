"""A small store with traces, a mined-like set and an audit's report, and texts that attack whatever shows them."""

from pathlib import Path
from typing import Any

from forethought.data.candidates import Candidate, CandidateSet
from forethought.data.identity import candidate_id
from forethought.data.store import Store
from forethought.data.traces import Action, Outcome, Trace, Turn, turn_id

HOSTILE = (
    "<img src=x onerror=alert(1)> ![p](http://127.0.0.1:9/p.png) [c](javascript:alert(1))",
    "</script><script>alert(1)</script></svg><!-- --> {{ 7 * 7 }} {% raw %}",
    "$x^2$ **bold** `code` :red[colour] :material/bolt: :smile: # heading",
    "\u202eright to left\u202c שלום مرحبا 👩‍👩‍👧 💩",
    "NUL \x00 bell \x07 escape \x1b[31m and delete \x7f",
    "I should look " + "very " * 1000 + "far.",
)
TEXTS = (
    ("I do not know this fact yet, so I should look it up first.", ("search",)),
    ("The results do not hold what I need, so I should search again.", ("search",)),
    ("What I found holds the answer, so I can give it.", ("answer",)),
)


def trace(question: str, thought: str = TEXTS[0][0], tool: str = "search") -> Trace:
    """Two turns that succeed: a search and an answer."""
    return Trace(
        question=question,
        turns=(
            Turn((thought,), (Action(tool, {"input": question}),), (f"About {question}: a page.",)),
            Turn((TEXTS[2][0],), (Action("finish", {"input": "Lisbon"}),)),
        ),
        outcome=Outcome.SUCCESS,
        source="made-up",
    )


def mined(
    name: str = "search-v1", texts: tuple = TEXTS, traces: tuple[Trace, ...] = ()
) -> CandidateSet:
    """A set whose every candidate is supported by the first turns of `traces`."""
    support = tuple(turn_id(trace.id, 0) for trace in traces)
    candidates = tuple(
        Candidate(candidate_id(text), text, kinds, support=support, questions=len(support))
        for text, kinds in texts
    )
    return CandidateSet(name, candidates)


def curated(path: Path, candidate_set: CandidateSet | None = None) -> Store:
    """A store with four traces and one set made from them."""
    traces = tuple(trace(f"Which town is number {number}?") for number in range(4))
    store = Store.open(path)
    store.add(traces)
    store.save_set(candidate_set or mined(traces=traces))
    return store


def estimate(value: float | None, spread: float = 0.1) -> dict[str, Any]:
    ends = (None, None) if value is None else (value - spread, value + spread)
    return {"value": value, "low": ends[0], "high": ends[1], "n": 24}


def recovery(value: float | None) -> dict[str, Any]:
    return estimate(value) | {
        "nats": 0.4,
        "kind_nats": 0.2,
        "kind_nats_low": -0.1,
        "kind_nats_high": 0.5,
        "arguments": value,
        "arguments_low": None if value is None else value - 0.2,
        "arguments_high": None if value is None else value + 0.2,
    }


def audit_report(candidate_set: CandidateSet, told: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002
    """What an audit stores for `candidate_set`, with made-up figures; none of them told unless `told`."""
    name, ids = candidate_set.name, [c.id for c in candidate_set.active]
    members = {f"{name}[:{k}]": ids[:k] for k in range(1, len(ids))}
    members = {name: ids, "ssr": ["s1", "s2"], **members, "random-6": ["r1"], "neutral": ["n1"]}
    sets = {s: _figures(held, 0.1 * len(held) if told else None) for s, held in members.items()}
    difference = estimate(0.2 if told else None, 0.3) | {"kind_nats": 0.1}
    parts = ["assigned_recovery", "routed_recovery", *(f"selected_recovery_{c}" for c in _MODES)]
    texts = {id: f"Text of {id}." for held in members.values() for id in held}
    return {
        "set": name,
        **sets[name],
        "constant_recovery": recovery(0.05 if told else None) | {"id": ids[0] if ids else "s1"},
        "latency": {
            "select": {"p50": 50.0, "p95": 70.0},
            "think": {"p50": 1000.0, "p95": 1500.0},
            "think_65": {"p50": 2000.0, "p95": 2100.0},
        },
        "free_gain": estimate(3.7 if told else 0.05, 0.7),
        "free_kind_nats": estimate(0.3, 0.2),
        "turns": {"test": 24, "choose": 16},
        "sets": sets,
        "differences": {s: {part: difference for part in parts} for s in members if s != name},
        "difference_from_constant": {part: difference for part in parts[:2]},
        "texts": texts | {c.id: c.text for c in candidate_set.active},
        "members": members,
        "settings": {"model": "tiny@0123", "seed": 0, "sources": ["made-up"]},
    }


_MODES = ("raw", "pmi", "batch")


def _figures(ids: list[str], value: float | None) -> dict[str, Any]:
    return {
        "size": len(ids),
        "assigned_recovery": recovery(value),
        "routed_recovery": recovery(value),
        "selected_recovery": {mode: recovery(value) for mode in _MODES},
        "collapse": {"top_share": estimate(0.8), "entropy": estimate(0.3)},
        "action_agreement": estimate(0.6),
        "escape": estimate(0.1),
        "use": {id: {"search": 5, "answer": 2} for id in ids} | {"unassigned": {"search": 1}},
    }
