"""Whose traces an export holds, and under which licence they may be passed on, where that is known.

Known are the files that ship with Forethought (NOTICE). Of any other source only its user can know.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import NamedTuple

from ..traces import Trace

UNKNOWN = "unknown"


class Licence(NamedTuple):
    """`name` as SPDX writes it; `terms` is what else holds."""

    name: str
    terms: str = ""


FIREACT = Licence(
    "MIT",
    "FireAct (GitHub anchen1011/FireAct), Copyright (c) 2023 Baian Chen. The questions come from HotpotQA, CC BY-SA-4.0: whoever "
    "passes them on does so under that licence. The observations are snippets of web pages, property of their authors.",
)
SHIPPED = {
    "fireact-gpt-3.5.json.gz": FIREACT,
    "fireact-llama-2-7b.json.gz": FIREACT,
    "fireact-llama-2-13b.json.gz": FIREACT,
}
ELSEWHERE = Licence(UNKNOWN, "Ask whoever made these traces before they are passed on.")


def licence_of(files: Iterable[str]) -> Licence:
    """The licence of a source with these files: known where all of them are."""
    known = {SHIPPED.get(PurePath(file).name, ELSEWHERE) for file in files}
    return known.pop() if len(known) == 1 else ELSEWHERE


def sources_json(traces: Iterable[Trace]) -> list[dict[str, object]]:
    """Each source of these traces, by name: how many they are, and their licence."""
    found: dict[str, list[str]] = {}
    for trace in traces:
        found.setdefault(trace.source, []).append(trace.file)
    told = {source: licence_of(files) for source, files in sorted(found.items())}
    return [
        {"source": source, "traces": len(found[source]), "licence": one.name, "terms": one.terms}
        for source, one in told.items()
    ]
