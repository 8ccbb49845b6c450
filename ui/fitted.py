"""What is fitted on the traces that a set was mined from: the mask, and mask and assignment rule together. Kept as long as no trace joins.

On many traces either takes from seconds to minutes, so that screens ask for it as a `Computation` and go on without it.
What is fitted with (scikit-learn, torch) is imported only there, since the first page must not wait for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from ..data.candidates import CandidateSet
from ..data.errors import NothingToDo
from ..data.store import Store
from ..data.traces import Trace
from ..miner.embed import Embedder
from ..miner.mask import Mask
from ..miner.mask_rules import MaskRules
from .beside import Beside
from .computations import PROCESS, Computation, Report
from .masking import rules_of
from .wiring import make_embedder_beside

if TYPE_CHECKING:
    from .corpus import Corpus


BESIDE = Beside()
BESIDE_FROM = 2000  # traces: fewer take less time than a process takes to start
RECOUNT = 10  # seconds after which new traces are seen


class Basis(NamedTuple):
    """What a fit depends on: which traces, and the rules that they are masked by."""

    location: str
    num_traces: int
    source: str | None
    rules: str


def basis_of(store: Store, set_name: str) -> Basis:
    """The traces of the source that the set was mined from; all, where it does not say or has none."""
    named = store.manifest(set_name).get("source")
    traces = _counted(store, int(time.monotonic() // RECOUNT))
    source = named if isinstance(named, str) and named in traces.sources else None
    return Basis(store.database.location, traces.number, source, _rules(store, set_name).digest)


def mask_of(store: Store, set_name: str) -> Computation[Mask | None]:
    """The mask of the set's traces; None where no thought can be mined."""

    def fit(report: Report) -> Mask | None:
        whole = PROCESS.look(("corpus", basis))
        if whole is not None and whole.value is not None:
            return cast("Corpus", whole.value).mask
        report(f"fitting the mask on {basis.num_traces:,} traces")
        rules = _rules(store, set_name)
        if basis.num_traces < BESIDE_FROM:
            return _mask(store, basis.source, rules)
        return BESIDE.call(_mask_of_stored, store.database.address, basis.source, rules)

    basis = basis_of(store, set_name)
    return PROCESS.ask(("mask", basis), fit)


def corpus_of(
    store: Store, set_name: str, make: Callable[[], Embedder] | None = None
) -> Computation[Corpus]:
    """Mask and assignment rule; NothingToDo where there is no thought to fit them on."""

    def fit(report: Report) -> Corpus:
        report("reading the traces")
        traces = _traces(store, basis)
        report(f"fitting the assignment rule on {len(traces):,} traces")
        from .corpus import Corpus

        return Corpus.of(traces, (make or embedder)(), _rules(store, set_name))

    basis = basis_of(store, set_name)
    return PROCESS.ask(("corpus", basis), fit)


def corpus_asked_for(store: Store, set_name: str) -> Computation[Corpus] | None:
    """The same, but only where someone has asked for it already."""
    return PROCESS.look(("corpus", basis_of(store, set_name)))


@lru_cache(maxsize=1)
def embedder() -> Embedder:
    """The embedder that the app measures likeness by."""
    return make_embedder_beside()


class _Traces(NamedTuple):
    number: int
    sources: frozenset[str]


@lru_cache(maxsize=8)
def _counted(store: Store, moment: int) -> _Traces:
    """The store's traces, counted again at the next `moment`: of very many that takes longer than a key press may."""
    return _Traces(store.counts().traces, frozenset(store.sources()))


def _rules(store: Store, set_name: str) -> MaskRules:
    return rules_of(CandidateSet(set_name, (), manifest=store.manifest(set_name)))


def _mask(store: Store, source: str | None, rules: MaskRules) -> Mask | None:
    from ..miner.mine import mineable

    try:
        return Mask.fit(mineable(list(store.traces(source))), rules)
    except NothingToDo:
        return None


def _mask_of_stored(address: str, source: str | None, rules: MaskRules) -> Mask | None:
    store = Store.open(address)
    try:
        return _mask(store, source, rules)
    finally:
        store.close()


def _traces(store: Store, basis: Basis) -> list[Trace]:
    return list(store.traces(basis.source))
