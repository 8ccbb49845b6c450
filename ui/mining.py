"""Mining as a service: the store's traces to a stored set, with the run's manifest."""

from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from ..data.errors import ForethoughtError, NotFound
from ..data.identity import content_id
from ..data.store import Store
from ..miner.embed import Embedder
from ..miner.mine import MinerSettings, MiningResult, mine
from .wiring import BUILTIN

LONGEST_NAME = 100
VERSIONS = ("forethought", "hdbscan", "numpy", "scikit-learn", "sentence-transformers")


def mine_set(
    store: Store,
    name: str,
    embedder: Embedder,
    budget: int,
    source: str | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> MiningResult:
    """Mines and stores the set `name`. What a person has touched under that name stays as it is."""
    check_name(name)
    if source is not None and source not in store.sources():
        known = ", ".join(store.sources()) or "none; import some traces"
        raise NotFound(f"no traces of source {source!r}; there are: {known}")
    settings = MinerSettings(budget=budget)
    traces = list(store.traces(source))
    result = mine(traces, embedder, name, settings, progress)
    manifest = {
        "traces": content_id("traces", sorted(trace.id for trace in traces)),
        "source": source,
        "embedder": embedder.name,
        "settings": vars(settings),
        "versions": {package: version(package) for package in VERSIONS},
        **figures(result),
    }
    store.save_set(replace(result.candidate_set, manifest=manifest), reason="mined")
    return result


def check_name(name: str) -> None:
    """ForethoughtError for a name that could not be told from a built-in set, an audit's rows or white space."""
    if name in BUILTIN:
        raise ForethoughtError(f"{name!r} is a built-in set; choose another --name")
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME or "[" in name:
        raise ForethoughtError(
            f"{name[:LONGEST_NAME]!r} is no name for a set: up to {LONGEST_NAME} printable characters, no brackets"
        )


def figures(result: MiningResult) -> dict[str, Any]:
    """The counts of a mining run, as the manifest and `mine --json` carry them."""
    return {
        "thoughts": result.num_thoughts,
        "distinct": result.num_distinct,
        "clusters": result.num_clusters,
        "noise": result.noise_share,
        "phrases": result.num_phrases,
        "assigned": result.assigned_share,
        "coverage": list(result.coverage),
    }
