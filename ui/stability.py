"""Stability as a service: which candidates of a stored set mining would find again, and what other settings would make of it.

From the traces that the set was mined from, with the settings it was mined with.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError, NothingToDo
from ..data.identity import canonical
from ..data.store import Store
from ..data.traces import Trace
from ..miner.embed import Embedder
from ..miner.mine import MinerSettings
from ..miner.stability import FOUND_AT, Draws, Recipe, Stability, stability
from ..miner.sweep import Sweep, sweep
from ..miner.vectors import CheckedEmbedder
from ..miner.wishes import Wishes
from .growing import READ
from .masking import rules_of

Json = dict[str, Any]


def stability_report(
    store: Store,
    candidate_set: CandidateSet,
    embedder: Embedder,
    draws: Draws,
    progress: Callable[[str], None] = lambda step: None,
) -> Json:
    """The report as `stability --json` prints it; NothingToDo for a set that was not mined.

    ForethoughtError where it was mined with another embedder, whose groups would be others anyway.
    """
    origin = _origin(store, candidate_set, embedder)
    found = stability(
        candidate_set, origin.traces, CheckedEmbedder(embedder), origin.recipe, draws, progress
    )
    return _report(candidate_set, found, draws)


def sweep_report(
    store: Store,
    candidate_set: CandidateSet,
    embedder: Embedder,
    progress: Callable[[str], None] = lambda step: None,
) -> Json:
    """What stands under `sweep` in `stability --sweep --json`; refuses what `stability_report` does."""
    origin = _origin(store, candidate_set, embedder)
    return {
        swept.setting: _swept(swept)
        for swept in sweep(origin.traces, CheckedEmbedder(embedder), origin.recipe, progress)
    }


def _swept(swept: Sweep) -> Json:
    return {
        "own": swept.own,
        "cliffs": [list(cliff) for cliff in swept.cliffs],
        "points": [
            {
                "value": point.value,
                "candidates": point.num_candidates,
                "coverage": point.coverage,
                "assigned": point.assigned,
            }
            for point in swept.points
        ],
    }


class _Origin(NamedTuple):
    traces: list[Trace]
    recipe: Recipe


def _origin(store: Store, candidate_set: CandidateSet, embedder: Embedder) -> _Origin:
    """What the set was mined from and with; NothingToDo where it was not, ForethoughtError where by another embedder."""
    manifest: Mapping[str, Any] = candidate_set.manifest
    settings, mined_with = manifest.get("settings"), manifest.get("embedder")
    if not isinstance(settings, Mapping):
        raise NothingToDo(
            f"set {candidate_set.name!r} was not mined, so no mining can be repeated; mine one with `forethought mine`"
        )
    if mined_with != embedder.name:
        raise ForethoughtError(
            f"set {candidate_set.name!r} was mined with {mined_with}, not {embedder.name}; pass --embedder, or mine it again"
        )
    refused = tuple(row["text"] for row in manifest.get("refused", ()))
    recipe = Recipe(_settings(settings, refused), rules_of(candidate_set))
    return _Origin(_mined_traces(store, candidate_set), recipe)


def _mined_traces(store: Store, candidate_set: CandidateSet) -> list[Trace]:
    """The traces that the set was mined or grown from: what was imported since does not unsettle it."""
    source = candidate_set.manifest.get("source")
    document = store.document(READ, candidate_set.name)
    traces = store.traces(str(source) if source is not None else None)
    if document is None:
        return list(traces)
    read = set(document["ids"])
    return [trace for trace in traces if trace.id in read]


def _settings(stored: Mapping[str, Any], refused: tuple[str, ...]) -> MinerSettings:
    """As the manifest has them, and what the lint refused banned; what it does not name is as it ships."""
    known = {field.name for field in fields(MinerSettings)} - {"wishes", "resume"}
    wishes = {name: tuple(texts) for name, texts in stored.get("wishes", {}).items()}
    given = {name: value for name, value in stored.items() if name in known}
    wished = Wishes(**wishes)
    banned = (*wished.banned, *refused)
    return MinerSettings(**given, wishes=Wishes(wished.pinned, banned))


def _report(candidate_set: CandidateSet, found: Stability, draws: Draws) -> Json:
    row_of = {candidate.id: row for row, candidate in enumerate(found.candidates)}
    rows = [
        {"id": c.id, "text": c.text, **_row(found, row_of.get(c.id))} for c in candidate_set.active
    ]
    return {
        "set": candidate_set.name,
        "runs": draws.runs,
        "seed": draws.seed,
        "questions": found.num_questions,
        "shuffle": {"identical": found.is_order_free},
        "ari": spread([run.ari for run in found.bootstraps]),
        "sizes": [len(run.texts) for run in found.bootstraps],
        "shaky": sum(row["shaky"] is True for row in rows),
        "candidates": rows,
    }


def _row(found: Stability, row: int | None) -> Json:
    """Figures of candidate `row`; null for one without turns, which a person wrote."""
    if row is None:
        return dict.fromkeys(("found_again", "same_text", "jaccard", "cosine", "shaky", "matches"))
    jaccards = found.jaccards(row)
    text = canonical(found.candidates[row].text)
    matches = [run.matches[row] if run.matches else None for run in found.bootstraps]
    return {
        "found_again": sum(value >= FOUND_AT for value in jaccards),
        "same_text": sum(text in map(canonical, run.texts) for run in found.bootstraps),
        "jaccard": spread(jaccards),
        "cosine": spread([match.cosine if match else 0.0 for match in matches]),
        "shaky": found.is_shaky(row),
        "matches": [match and match._asdict() for match in matches],
    }


def spread(values: Sequence[float]) -> Json:
    """Over the runs."""
    return {
        "min": min(values),
        "mean": round(float(np.mean(values)), 4),
        "max": max(values),
    }
