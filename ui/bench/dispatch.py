"""Which mode plays a question where a router of utilities decides, before anybody has begun on it. Plays nothing.

The router is imported by those alone who ask it.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.errors import ForethoughtError
from .plan import BenchPlan, Utility

if TYPE_CHECKING:
    from ...miner.embed import Embedder
    from ...scorer.routing.utility.latent_router import LatentRouter

Json = dict[str, Any]


@dataclass(frozen=True)
class Dispatch:
    """`arms` by label and a question's text; `seconds` a question to decide. A label that nobody decides for plays its own."""

    arms: Mapping[tuple[str, str], str] = field(default_factory=dict)
    seconds: float = 0.0

    def arm(self, label: str, question: str) -> str | None:
        """The label that plays the question in its place; None: itself."""
        return self.arms.get((label, question))


EACH_ITS_OWN = Dispatch()


@dataclass(frozen=True)
class Dispatcher:
    """A router, and what makes the vectors that it was trained with; `name` is where it lies."""

    router: "LatentRouter"
    embedder: "Embedder"
    name: str

    @classmethod
    def of(cls, path: Path, embedder: "Embedder") -> "Dispatcher":
        """ForethoughtError for what is no router, or one that was trained with another embedder."""
        from ...scorer.routing.utility.latent_router import load_router

        router = load_router(path)
        if router.embedder != embedder.name:
            raise ForethoughtError(
                f"{path}: trained with the embedder {router.embedder}, and this one is {embedder.name}; name the same by --embedder"
            )
        return cls(router, embedder, str(path))

    def dispatch(
        self, prices: Mapping[str, float], questions: Sequence[str], arms: Sequence[str]
    ) -> Dispatch:
        """The best of `arms` for each question, under each label at its price."""
        from ...scorer.routing.utility.features import Asked

        texts = tuple(dict.fromkeys(questions))
        if not texts or not prices:
            return EACH_ITS_OWN
        started = time.perf_counter()
        asked = Asked(texts, np.asarray(self.embedder.embed(texts)))
        decided = {
            (label, text): arm
            for label, price in prices.items()
            for text, arm in zip(texts, self.router.route(asked, price, arms), strict=True)
        }
        spent = time.perf_counter() - started
        return Dispatch(decided, spent / len(decided))


@dataclass(frozen=True)
class QuestionRouting:
    """A bench's utilities with the dispatcher that serves them, between the labels that are `playable`."""

    utilities: Sequence[Utility]
    dispatcher: Dispatcher | None
    playable: Sequence[str]

    @classmethod
    def of(
        cls, plan: BenchPlan, dispatcher: Dispatcher | None, candidates: int
    ) -> "QuestionRouting":
        return cls(plan.utilities, dispatcher, plan.playable(candidates))

    @property
    def arms(self) -> tuple[str, ...]:
        """Who may be sent a question; nobody where no utility asks. ForethoughtError where one does, in vain."""
        if not self.utilities:
            return ()
        router = self._serving.router
        found = tuple(arm for arm in router.arms if arm in self.playable)
        if not found:
            raise ForethoughtError(
                f"{self._serving.name}: none of its arms ({', '.join(router.arms)}) is a mode, a size or a policy of this bench"
            )
        return found

    def dispatch(self, questions: Sequence[str]) -> Dispatch:
        if not self.utilities:
            return EACH_ITS_OWN
        prices = {one.label: one.price for one in self.utilities}
        return self._serving.dispatch(prices, questions, self.arms)

    def facts(self, ids: Sequence[str]) -> Json:
        """For a report; `trained_on` counts those of the questions `ids`, as a table of records names them, that the router has learned from."""
        if not self.utilities:
            return {}
        router = self._serving.router
        return {
            "name": self._serving.name,
            "arms": list(self.arms),
            "withdrawn": [arm for arm in router.arms if arm not in self.playable],
            "trained_on": len(set(router.ids).intersection(ids)),
        }

    @property
    def _serving(self) -> Dispatcher:
        if self.dispatcher is None:
            raise ForethoughtError(
                "--policy utility needs --router FILE, which `forethought route TABLE --out FILE` trains (docs/routing.md)"
            )
        return self.dispatcher
