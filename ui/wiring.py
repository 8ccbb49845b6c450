"""Builds the real things out of what a user names: store, embedder, models, candidate sets.

Torch and transformers are imported only when a model is asked for, so that listing traces starts quickly.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError, NotFound
from ..data.exports.candidate_rows import SUFFIXES, read_candidates
from ..data.library import LIBRARIES, builtin, read_library
from ..data.store import Store
from ..miner.executor import PLAIN, Executor
from ..scorer.cache import cache_folder

if TYPE_CHECKING:
    from ..miner.embed import Embedder
    from ..scorer.agent.judge import Judge
    from ..scorer.audit import AuditModels
    from ..scorer.engines.engine import Engine
    from ..scorer.model import LanguageModel


class ServedModel(NamedTuple):
    """An engine, and the model that it serves: enough of it to tokenise with."""

    engine: Engine
    model: LanguageModel


class ExecutorKind(StrEnum):
    """Where the blocks of a stage are worked out."""

    PLAIN = "plain"
    RAY = "ray"


BUILTIN = tuple(sorted(path.stem for path in LIBRARIES.glob("*.json")))


def open_existing(url: str) -> Store:
    """The store at `url`; NotFound where a path names none yet, so that a typo makes no empty file."""
    store = open_if_there(url)
    if store is None:
        raise NotFound(f"{url}: no store there; fill one with `forethought import` or pass --store")
    return store


def open_if_there(url: str) -> Store | None:
    """The store at `url`, None where a path names none yet: built-in sets and files need no store."""
    return Store.open(url) if "://" in url or Path(url).exists() else None


def make_executor(kind: ExecutorKind) -> AbstractContextManager[Executor]:
    """An executor for as long as its `with` block; ExecutorError where Ray is asked for and not installed."""
    if kind is ExecutorKind.PLAIN:
        return nullcontext(PLAIN)
    from ..miner.ray_executor import RayExecutor

    return RayExecutor()


def make_embedder(spec: str | None, executor: Executor = PLAIN) -> Embedder:
    """The packaged MiniLM, or MODEL or MODEL::PROMPT, behind the cache on disk; a user's vectors for FILE.npz or .npy."""
    from ..miner.embed import CachedEmbedder, SentenceEmbedder
    from ..miner.vectors import NUMPY_FILES, OwnVectors

    if spec and spec.endswith(NUMPY_FILES):
        return OwnVectors(spec)
    path, _, prompt = (spec or "").partition("::")
    model = SentenceEmbedder(path or None, prompt)
    return CachedEmbedder(model, cache_folder() / "vectors", executor)


def make_embedder_beside() -> Embedder:
    """The packaged MiniLM behind the cache on disk, in a process of its own."""
    from ..miner.embed import CachedEmbedder, SentenceEmbedder
    from .beside import Beside, EmbedderBeside

    return CachedEmbedder(EmbedderBeside(Beside(), SentenceEmbedder()), cache_folder() / "vectors")


def make_model(path: str | None, dtype: str | None = "float32") -> LanguageModel:
    """The packaged SmolLM2, or the causal model at `path`, on a GPU where there is one; dtype None: what is usual there."""
    import torch

    from ..scorer.model import load_model

    device = "cuda" if torch.cuda.is_available() else "cpu"
    usual = "bfloat16" if device == "cuda" else "float32"
    return load_model(path, dtype or usual, device)


def make_engine(kind: str | None, url: str | None, model: str | None) -> ServedModel | None:
    """The engine at `url` with the model it must serve, tokenizer only; None where no engine is named."""
    if (kind is None) != (url is None):
        raise ForethoughtError(
            "--engine and --url go together: which program, and where it listens"
        )
    if kind is None or url is None:
        return None
    from ..scorer.engines.engine import expected_model
    from ..scorer.engines.served import load_served
    from ..scorer.engines.sglang import SGLangEngine
    from ..scorer.engines.transport import TOKEN_VARIABLE, Transport
    from ..scorer.engines.vllm import VLLMEngine

    connect = {"sglang": SGLangEngine, "vllm": VLLMEngine}[kind]
    served = load_served(model)
    transport = Transport(url, token=os.environ.get(TOKEN_VARIABLE))
    return ServedModel(connect(transport, expected_model(served)), served)


def make_engines(
    kind: str | None, urls: Sequence[str], model: str | None
) -> tuple[ServedModel, ...]:
    """`make_engine` at each address, all of one program and version; () where no engine is named."""
    made = [make_engine(kind, url, model) for url in dict.fromkeys(urls) or (None,)]
    found = tuple(one for one in made if one is not None)
    for one in found[1:]:
        if one.engine.program != found[0].engine.program:
            raise ForethoughtError(
                f"{found[0].engine.label} and {one.engine.label} are two programs, whose figures are not mixed; serve one version at all of them"
            )
    return found


def make_judge(url: str | None, name: str) -> Judge | None:
    """The judging model at `url`, its key from the environment; None where no judge is named."""
    if url is None:
        return None
    if not name.strip():
        raise ForethoughtError("--judge needs --judge-model: the name of the model that judges")
    from ..scorer.agent.judge import KEY_VARIABLE, Judge

    return Judge(url, name, os.environ.get(KEY_VARIABLE))


def make_models(model: str | None, reference: str | None, alpha: float = 1.0) -> AuditModels:
    """The audited and the reference model; one and the same object where both names are equal."""
    from ..scorer.audit import AuditModels

    audited = make_model(model)
    same = model == reference
    return AuditModels(audited if same else make_model(reference), audited, alpha)


def token_counter(model: LanguageModel) -> Callable[[str], int]:
    """Counts a text's tokens as `model` does; remembers, since every turn repeats its history."""

    @lru_cache(maxsize=20_000)
    def count_tokens(text: str) -> int:
        return len(model.encode(text))

    return count_tokens


def find_set(store: Store | None, name: str) -> CandidateSet:
    """The stored set of this name, else the built-in one, else the reasoning library or list (.csv, .jsonl) at this path."""
    stored = store.set_names() if store else []
    if store and name in stored:
        return store.candidate_set(name)
    if name in BUILTIN:
        return replace(builtin(name), name=name)
    if Path(name).is_file():
        return read_candidates(name) if name.endswith(SUFFIXES) else read_library(name)
    known = ", ".join([*stored, *BUILTIN])
    raise NotFound(
        f"no candidate set {name!r}: no such file, and no stored or built-in one ({known})"
    )


def require_source(store: Store, source: str | None) -> None:
    """NotFound for the name of a collection that the store has no traces of; None names all."""
    stored = store.sources()
    if source is not None and source not in stored:
        known = ", ".join(stored) or "none; import some traces"
        raise NotFound(f"no traces of source {source!r}; there are: {known}")
