"""Growing as a service: what the store's traces have brought since a set was mined joins it, or is proposed behind it."""

from collections.abc import Callable
from dataclasses import replace

from ..data.candidates import CandidateSet
from ..data.identity import content_id
from ..data.store import Store
from ..miner.embed import Embedder
from ..miner.incremental import Growth, grow
from ..miner.mine import MinerSettings
from .masking import rules_of

READ = "mined-traces"  # documents: the ids of the traces that a set was mined or grown from


def grow_set(
    store: Store,
    name: str,
    embedder: Embedder,
    budget: int,
    progress: Callable[[str], None] = lambda stage: None,
) -> Growth:
    """Grows and stores the set `name` by at most `budget` candidates, out of traces of the source it was mined from.

    What a person has touched stays as it is; NotFound where there is no such set. Without new traces nothing is stored.
    """
    before = store.candidate_set(name)
    source = before.manifest.get("source")
    known = _known(store, before)
    progress("read")
    traces = list(store.traces(str(source) if source is not None else None))
    progress("grow")
    settings = MinerSettings(budget=budget)
    growth = grow(before, traces, known, embedder, settings, rules_of(before))
    if growth.num_new:
        read = sorted(trace.id for trace in traces)
        told = {"traces": content_id("traces", read), "growth": growth.as_json()}
        manifest = {**growth.candidate_set.manifest, **told}
        store.save_set(replace(growth.candidate_set, manifest=manifest), reason="grown")
        store.put(READ, name, {"ids": read})
    return growth


def _known(store: Store, candidate_set: CandidateSet) -> set[str]:
    """As it was written down when the set was mined; of a set that was not, the traces that its candidates name."""
    document = store.document(READ, candidate_set.name)
    if document is not None:
        return set(document["ids"])
    return {turn.rpartition(":")[0] for one in candidate_set.candidates for turn in one.support}
