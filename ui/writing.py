"""Mined sentences put into a model's words, where the checks find those better; the evidence goes to the manifest."""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..data.candidates import Candidate, CandidateSet
from ..data.errors import ForethoughtError
from ..data.library import builtin
from ..data.store import Store
from ..miner.answer_cache import AnswerCache
from ..miner.chat_writer import ChatWriter, WriterSettings
from ..miner.endpoint import KEY_VARIABLE, Endpoint
from ..miner.lint import LintSettings
from ..miner.local_chat import LocalChat
from ..miner.mine import MinerSettings, supported
from ..miner.quotes import examples_of, gather
from ..miner.rephrase import Checks, rephrase
from ..miner.writer import ChatModel, Evidence, Quote, Writer
from ..scorer.cache import cache_folder
from .corpus import Corpus
from .linting import tools_of
from .wiring import BUILTIN


def make_writer(place: str, name: str | None, most_calls: int | None) -> ChatWriter:
    """The writer at an OpenAI-compatible URL, which needs a model's name, or in a local folder or hub id."""
    model: ChatModel
    if place.startswith(("http://", "https://")):
        if not name:
            raise ForethoughtError(f"{place} serves models by name; add --writer-model NAME")
        model = Endpoint(place, name, os.environ.get(KEY_VARIABLE))
    else:
        model = LocalChat(place, name)
    settings = WriterSettings(max_calls=most_calls)
    return ChatWriter(model, AnswerCache(cache_folder() / "writer"), settings)


@dataclass(frozen=True)
class Reworder:
    """Puts a mined set into the writer's words; texts in `kept` (a person's own) stay as they are."""

    corpus: Corpus
    store: Store
    writer: Writer
    kept: Collection[str] = ()

    def reword(
        self, candidate_set: CandidateSet, settings: MinerSettings
    ) -> tuple[CandidateSet, list[dict[str, Any]]]:
        """The set with the words that pass the checks, and what became of each text."""
        asked = [c for c in candidate_set.candidates if c.support and c.text not in self.kept]
        checks = Checks(self.corpus.embedder, LintSettings(tools_of(self.corpus.traces)))
        found = rephrase(self._evidence(asked), self.writer, checks)
        words = {c.text: result.text for c, result in zip(asked, found, strict=True)}
        texts = [words.get(c.text, c.text) for c in candidate_set.candidates]
        candidates = supported(texts, self.corpus.thoughts, self.corpus.assigner, settings)
        told = [
            {
                "mined": candidate.text,
                "text": result.text,
                "reason": result.reason,
                "provenance": result.provenance.json() if result.provenance else None,
            }
            for candidate, result in zip(asked, found, strict=True)
        ]
        return replace(candidate_set, candidates=candidates), told

    def _evidence(self, candidates: Sequence[Candidate]) -> list[Evidence]:
        mask = self.corpus.mask
        quotes = [
            Quote(t.turn, t.text, mask.apply(t.text, t.owned).text) for t in self.corpus.thoughts
        ]
        general = self.corpus.assigner.general
        vectors = self.corpus.embedder.embed([general.say(t) for t in self.corpus.thoughts])
        row_of = {quote.turn: row for row, quote in enumerate(quotes)}
        own = [self.store.candidate_set(name) for name in self.store.set_names()]
        examples = examples_of(own, map(builtin, BUILTIN))
        return [
            gather(
                quotes,
                vectors,
                [row_of[turn] for turn in candidate.support],
                candidate.text,
                candidate.expected_actions,
                examples,
            )
            for candidate in candidates
        ]
