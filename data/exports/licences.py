"""Whose traces an export holds, and under which licence they may be passed on, where that is known.

Known are the files that ship with Forethought (NOTICE). Of any other source only its user can know.
"""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import NamedTuple

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


def sources_json(
    counts: Mapping[str, int], files: Mapping[str, Iterable[str]]
) -> list[dict[str, object]]:
    """Each source with its traces and its licence, by name."""
    told = {source: licence_of(files[source]) for source in sorted(counts)}
    return [
        {"source": source, "traces": counts[source], "licence": one.name, "terms": one.terms}
        for source, one in told.items()
    ]
