"""The ways to have a thought after what was said: select one, make one freely, shortly or of a set length, or have none.

Each takes a session whose end is computed and leaves it grown by the thought, `<thinking>` and `</thinking>` included. What it
cost is told in tokens, injected and generated apart; the clock is read by whoever asks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...data.render import CLOSING, OPENING, render_thought
from ..compiled_set import CompiledSet, compile_set
from ..generate import Decoding
from ..latency import PAPER_TOKENS
from ..model import LanguageModel
from ..plain import totals
from ..selection import Normalisation, log_z, select, sum_noise
from .session import Scores, Session

DRAFT_TOKENS = 24  # Chain-of-Draft: at most five words a step
LEAST_LOG_Z = -40.0  # nats


class Mode(StrEnum):
    """How an agent comes to its thought before each action."""

    SELECT = "select"  # SSR: the likeliest candidate, put in whole
    THINK = "think"  # freely, up to a cap
    THINK_65 = "think-65"  # freely, exactly the paper's mean length
    NONE = "none"  # the action alone
    DRAFT = "draft"  # freely, in few words
    INDEX = "index"  # the likeliest candidate's number; its text is put in
    HYBRID = "hybrid"  # select, but think where no candidate fits


class Thought(NamedTuple):
    """What was thought. `scores` and `probabilities` by candidate where one was selected, `chosen` its place.

    `injected` tokens were put in whole, `generated` were decoded one by one; `is_capped`: cut off at the most allowed.
    `route` is what a routed turn was sent to, because of its `signal`; None where every turn goes one way.
    """

    text: str
    injected: int = 0
    generated: int = 0
    is_capped: bool = False
    scores: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    chosen: int | None = None
    log_z: float | None = None
    route: str | None = None
    signal: float | None = None


class Thinker(Protocol):
    """One way to think."""

    def think(self, session: Session, seed: int) -> Thought: ...


@dataclass(frozen=True)
class Library:
    """The texts to select from, compiled for a model, with what is subtracted from each one's score.

    `offsets` (candidates,) are a calibration's: the premise of PMI, the means of batch calibration; zero for raw scores.
    """

    texts: tuple[str, ...]
    compiled: CompiledSet
    normalisation: Normalisation = Normalisation()
    offsets: np.ndarray | float = 0.0
    tau: float = 0.0  # 0 takes the best, above it is drawn
    numbers: tuple[int, ...] = ()  # by which a prompt lists them; () in their own order, from 0

    @classmethod
    def of(cls, model: LanguageModel, texts: Sequence[str], **options: Any) -> "Library":
        return cls(tuple(texts), compile_set(model, tuple(texts)), **options)


def take(session: Session, library: Library, seed: int) -> tuple[Scores, Thought]:
    """The likeliest text after the session, or one drawn; the session stays as it is."""
    compiled = library.compiled
    scored = session.score(compiled.ids)
    sums = totals(scored.log_probs)
    scores = sums / compiled.divisors(library.normalisation) - library.offsets
    choice = select(scores, library.tau)
    chosen = choice.selected
    if library.tau > 0:
        chosen = int(np.random.default_rng(seed).choice(len(scores), p=choice.probabilities))
    noise = sum_noise(str(session.model.dtype).removeprefix("torch."), compiled.num_tokens)
    return scored, Thought(
        library.texts[chosen],
        injected=len(compiled.ids[chosen]),
        scores=tuple(scores.tolist()),
        probabilities=tuple(choice.probabilities.tolist()),
        chosen=chosen,
        log_z=log_z(sums, float(noise.max())),
    )


@dataclass(frozen=True)
class Selecting:
    """The likeliest text, put in with the keys and values that it was scored with."""

    library: Library

    def think(self, session: Session, seed: int) -> Thought:
        scored, thought = take(session, self.library, seed)
        assert thought.chosen is not None
        session.commit(scored.continuation(thought.chosen))
        return thought


@dataclass(frozen=True)
class Generating:
    """Decode a thought of at most `tokens`; `is_exact`: of just so many. It is closed where it was cut off."""

    tokens: int
    is_exact: bool = False
    hint: str = ""  # put before each thought
    temperature: float = 0.0

    def think(self, session: Session, seed: int) -> Thought:
        model = session.model
        opening = model.encode(self.hint + OPENING)
        session.append_text(opening)
        stop = None if self.is_exact else CLOSING
        decoded = session.decode(Decoding(self.tokens, stop, self.temperature, seed))
        closing = [] if CLOSING in decoded.text else model.encode(CLOSING)
        session.append_text(closing)
        is_capped = not self.is_exact and not decoded.is_complete
        injected = len(opening) + len(closing)
        return Thought(
            decoded.text.partition(CLOSING)[0], injected, len(decoded.ids), is_capped=is_capped
        )


@dataclass(frozen=True)
class Indexing:
    """Score the candidates' numbers, as the prompt lists them, and put the chosen one's text in."""

    library: Library
    numbers: Library = field(repr=False)

    @classmethod
    def of(cls, model: LanguageModel, library: Library) -> "Indexing":
        own = library.numbers or range(len(library.texts))
        return cls(library, Library.of(model, [f"[{number}]" for number in own]))

    def think(self, session: Session, seed: int) -> Thought:
        _, found = take(session, self.numbers, seed)
        assert found.chosen is not None
        text = self.library.texts[found.chosen]
        ids = session.model.encode(render_thought(text))
        session.append_text(ids)
        return found._replace(text=text, injected=len(ids))


@dataclass(frozen=True)
class Falling:
    """Select, but think freely where the set as a whole is less likely than `least_log_z`, or its best leads by less than `least_margin`."""

    library: Library
    otherwise: Generating
    least_log_z: float = -float("inf")
    least_margin: float = 0.0

    def think(self, session: Session, seed: int) -> Thought:
        scored, found = take(session, self.library, seed)
        first, second = (*sorted(found.scores, reverse=True), -float("inf"))[:2]
        assert found.chosen is not None
        assert found.log_z is not None
        if found.log_z >= self.least_log_z and first - second >= self.least_margin:
            session.commit(scored.continuation(found.chosen))
            return found
        return self.otherwise.think(session, seed)._replace(
            scores=found.scores, probabilities=found.probabilities, log_z=found.log_z
        )


class Silent:
    """No thought."""

    def think(self, session: Session, seed: int) -> Thought:
        return Thought("")


@dataclass(frozen=True)
class Freedom:
    """How a free thought is made, and when `hybrid` makes one: where the set is less likely than `least_log_z` nats."""

    tokens: int = 64
    temperature: float = 0.0
    least_log_z: float = LEAST_LOG_Z


def thinker_of(mode: Mode, library: Library, model: LanguageModel, freedom: Freedom) -> Thinker:
    temperature = freedom.temperature
    free = Generating(freedom.tokens, temperature=temperature)
    if mode is Mode.SELECT:
        return Selecting(library)
    if mode is Mode.INDEX:
        return Indexing.of(model, library)
    if mode is Mode.HYBRID:
        return Falling(library, free, freedom.least_log_z)
    if mode is Mode.THINK_65:
        return Generating(PAPER_TOKENS, is_exact=True, temperature=temperature)
    if mode is Mode.DRAFT:
        hint = "(a draft of at most five words) "
        return Generating(DRAFT_TOKENS, hint=hint, temperature=temperature)
    return Silent() if mode is Mode.NONE else free
