"""The card of a dataset on a hub: what it holds, its parts, and under which terms. Knows no hub."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .licences import UNKNOWN
from .readme import left_out_line, listed, not_shown_line, source_line

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card(facts: Mapping[str, Any], splits: Sequence[str]) -> str:
    """`facts` as in the manifest; `splits` are those of the turns, a parquet file each."""
    return f"{_front_matter(facts, splits)}\n{_body(facts)}"


def _front_matter(facts: Mapping[str, Any], splits: Sequence[str]) -> str:
    """JSON is YAML: nothing in a name can break out of it. All parts are parquet: datasets read those of a folder by one reader."""
    turns = [{"split": split, "path": f"turns/{split}.parquet"} for split in splits]
    candidates = [{"split": "train", "path": "candidates.parquet"}]
    fields: dict[str, Any] = {
        "license": _licence(facts["sources"]),
        "pretty_name": f"Reasoning candidates {facts['set']['name']}",
        "tags": ["reasoning-candidates", "agent-traces", "ssr"],
        "size_categories": [_size(facts["rows"])],
        "configs": [
            {"config_name": "turns", "data_files": turns, "default": True},
            {"config_name": "candidates", "data_files": candidates},
        ],
    }
    lines = [f"{name}: {json.dumps(value, ensure_ascii=True)}" for name, value in fields.items()]
    return "\n".join(("---", *lines, "---"))


def _body(facts: Mapping[str, Any]) -> str:
    described = facts["set"]
    return f"""
# {described["name"]}

{described["candidates"]} reusable thoughts for agents (*candidates*), and {facts["turns"]} turns of recorded runs with the candidate that stands for the
turn's own thought. An agent selects such a thought by its likelihood instead of writing one (SSR, arXiv 2610.01892). Made with Forethought
{facts["forethought"]}; labels: {facts["inputs"]["labels"]}.

- `turns`: `prompt` and `completion` (messages), `candidate`, `kind` of the action, `trace`, `turn`, `set_hash`. The splits are by question: candidates were
  mined from `mine`, chosen by `choose`; nothing was chosen by `test`, which is here only if it was asked for.
- `candidates`: `id`, `text`, `expected_actions` and the turns that each was mined from.
- `reasoning_library.json`: the set as SSR's own code reads it, hash `{described["hash"]}`.

## Sources

{listed(map(source_line, facts["sources"]))}

## What was left out

{listed(map(left_out_line, facts["left_out"].items()))}

{not_shown_line(facts)}
"""


def _licence(sources: Sequence[Mapping[str, Any]]) -> str:
    """Of the whole: one that all have and that says all; else whoever publishes must say."""
    names = {source["licence"] for source in sources}
    has_terms = any(source["terms"] for source in sources)
    return (
        names.pop().lower()
        if len(names) == 1 and not has_terms and UNKNOWN not in names
        else "other"
    )


def _size(rows: int) -> str:
    return next((name for most, name in SIZES if rows < most), "n>1M")
