"""Growing as a service: what the store's traces have brought since a set was mined joins it, or is proposed behind it."""

from collections.abc import Callable
from dataclasses import replace

from ..data.candidates import CandidateSet
from ..data.identity import content_id
from ..data.store import Store
from ..miner.embed import Embedder
from ..miner.incremental import Growth, grow
from ..miner.lint import LintSettings
from ..miner.mine import MinerSettings
from ..miner.vectors import CheckedEmbedder
from ..miner.wishes import Wishes
from .linting import Linted, lint_candidates, problems_json, tools_of, without_blocked
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
    embedder = CheckedEmbedder(embedder)
    source = before.manifest.get("source")
    known = _known(store, before)
    progress("read")
    traces = list(store.traces(str(source) if source is not None else None))
    progress("grow")
    settings = MinerSettings(budget=budget)
    lint, rules = LintSettings(tools_of(traces)), rules_of(before)

    def grown(refused: tuple[str, ...]) -> Growth:
        wanted = replace(settings, wishes=Wishes(banned=refused))
        return grow(before, traces, known, embedder, wanted, rules)

    def added(growth: Growth) -> list[Linted]:
        new = {one.id for one in growth.added}
        return [o for o in lint_candidates(growth.candidate_set, lint, embedder) if o.id in new]

    growth, refused = without_blocked(grown, added)
    if growth.num_new:
        read = sorted(trace.id for trace in traces)
        flags = lint_candidates(growth.candidate_set, lint, embedder)
        told = {
            "traces": content_id("traces", read),
            "growth": growth.as_json(),
            "refused": problems_json(refused),
            "flags": problems_json(flags),
        }
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
