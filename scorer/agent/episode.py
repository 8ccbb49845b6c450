"""One question, played: think, act, observe, until an answer or a stop. What the session knows is kept over all turns.

Knows the thinker, the dialogue and the tools it is handed; judges nothing.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...data.errors import ContextTooLong, PictureMismatch
from ...data.render import answer_text
from ...data.traces import ANSWER, Action, kind_of
from ..generate import Decoding
from ..model import LanguageModel
from ..plain import totals
from ..vision import Picture
from .action_text import ENDS, Fault, Invalid, ParsedAction, parse_action
from .dialogue import Dialogue, Plain
from .session import LocalSession, Scores, Session
from .thinking import Thinker, Thought
from .tools import Observation, Situation, Tool, failed
from .transcript import prepared, shortened, write

if TYPE_CHECKING:
    from ..visual_budget import VisualBudget


class Stop(StrEnum):
    """How a run ends, in the words of SSR's harness."""

    ANSWER = "answer"
    INVALID_OUTPUT = "invalid-output"
    TOOL_ERROR = "tool-error"  # a tool that there is not
    TOOL_DISABLED = "tool-disabled"
    CONTEXT_LIMIT = "context-limit"
    TURN_LIMIT = "turn-limit"
    MEDIA_ERROR = (
        "media-error"  # the question's picture cannot be shown; SSR's harness has no word for it
    )


@dataclass(frozen=True)
class Limits:
    """Turns, and tokens that a free thought, an action (its beginning, where it is given, apart), an observation and the whole context may take."""

    turns: int = 4
    thought_tokens: int = 64
    action_tokens: int = 32
    observation_tokens: int = 200
    context_tokens: int = 4096


class Spent(NamedTuple):
    """Seconds of one turn. `media` cuts pictures into patches; `prefill` looks at them and computes what came since the last turn."""

    media: float = 0.0
    prefill: float = 0.0
    reasoning: float = 0.0
    action: float = 0.0
    tool: float = 0.0


@dataclass(frozen=True)
class TurnRecord:
    """One turn as it went; `prefilled` of the context's `context_tokens` were new."""

    context_tokens: int
    prefilled: int
    thought: Thought
    action_text: str
    action_tokens: int
    action: ParsedAction | None
    fault: Fault | None
    observation: Observation | None
    seconds: Spent


@dataclass(frozen=True)
class Episode:
    """A whole run. `answer` where there is one; `detail` says what exactly stopped it; `prompt` are the tokens before the first thought.

    With pictures tokens do not tell what was seen, so there are none.
    """

    turns: tuple[TurnRecord, ...]
    stop: Stop
    answer: str | None = None
    detail: str = ""
    prompt: tuple[int, ...] = ()


class _Shown(NamedTuple):
    observation: Observation
    pictures: tuple[Picture, ...]


@dataclass
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - started


@dataclass(frozen=True)
class Agent:
    """A model with a way to think and tools by the kind of action they carry out; `disabled` kinds are refused.

    The dialogue's opening stands before every question and is computed once. With `beginnings` an action
    begins with the likeliest of them and is decoded from there: small models write no action otherwise. With a `budget` the
    layers behind one look at a part of the pictures.
    """

    model: LanguageModel
    thinker: Thinker
    tools: Mapping[str, Tool]
    limits: Limits = Limits()
    disabled: frozenset[str] = frozenset()
    dialogue: Dialogue = Plain()
    beginnings: tuple[tuple[int, ...], ...] | None = (
        None  # their tokens, none the beginning of another
    )
    budget: "VisualBudget | None" = None

    def start(self, session: Session | None = None) -> Session:
        """A session (None: an empty one of the model's own) with the opening in it; hand it to `play` again and again."""
        if session is None:
            session = LocalSession(self.model, (), self.limits.context_tokens, self.budget)
        write(session, self.dialogue.opening())
        if session.length:
            session.settle()
        return session

    def play(self, session: Session, situation: Situation, seed: int = 0) -> Episode:
        """One question after what `session` holds, which it holds again at the end."""
        before, clock = session.length, _Clock()
        try:
            with clock("media"):
                pictures = prepared(self.model, situation.pictures)
            write(session, self.dialogue.question(situation.question, len(pictures)), pictures)
            prompt = () if pictures else session.ids
            return replace(self._turns(session, situation, seed, clock), prompt=prompt)
        except PictureMismatch as error:
            return Episode((), Stop.MEDIA_ERROR, detail=str(error))
        except ContextTooLong as error:
            return Episode((), Stop.CONTEXT_LIMIT, detail=str(error))
        finally:
            session.rollback(before)

    def decide(self, session: Session, history: str, seed: int = 0) -> tuple[Thought, int]:
        """A thought after `history`, and the place of the action's likeliest beginning after it; needs `beginnings`."""
        assert self.beginnings is not None, "an action that may begin as it likes is no place"
        before = session.length
        try:
            session.append_text(self.model.encode(history))
            session.settle()
            return self._think(session, seed), self._likeliest(session)[1]
        finally:
            session.rollback(before)

    def _turns(self, session: Session, situation: Situation, seed: int, clock: "_Clock") -> Episode:
        turns: list[TurnRecord] = []
        for number in range(self.limits.turns):
            try:
                self._require_room(session)
                turn, stop = self._turn(session, situation, seed + number, clock)
                known = turns[-1].context_tokens if turns else 0
                assert turn.prefilled <= turn.context_tokens - known, "a turn computes what is new"
                turns.append(turn)
                clock = _Clock()
                if turn.observation is not None:
                    shown = self._shown(turn.observation, clock)
                    turns[-1] = replace(turn, observation=shown.observation)
                    situation = self._observe(session, shown, situation)
            except ContextTooLong as error:
                return Episode(tuple(turns), Stop.CONTEXT_LIMIT, detail=str(error))
            if stop is not None:
                answer = turn.action.answer if turn.action else None
                return Episode(tuple(turns), stop, answer, turn.fault or "")
        return Episode(tuple(turns), Stop.TURN_LIMIT)

    def _turn(
        self, session: Session, situation: Situation, seed: int, clock: "_Clock"
    ) -> tuple[TurnRecord, Stop | None]:
        length, new = session.length, session.length - session.computed
        with clock("prefill"):
            session.settle()
        with clock("reasoning"):
            thought = self._think(session, seed)
        with clock("action"):
            text, tokens = self._act(session)
        parsed = _as_answer(parse_action(text))
        action = None if isinstance(parsed, Invalid) else parsed
        observation: Observation | None = None
        stop: Stop | None = Stop.INVALID_OUTPUT
        if action is not None:
            with clock("tool"):
                observation, stop = self._carry_out(action, situation)
        record = TurnRecord(
            context_tokens=length,
            prefilled=new,
            thought=thought,
            action_text=text,
            action_tokens=tokens,
            action=action,
            fault=parsed.fault if isinstance(parsed, Invalid) else None,
            observation=observation,
            seconds=Spent(**clock.seconds),
        )
        return record, stop

    def _think(self, session: Session, seed: int) -> Thought:
        """A thought, and what the dialogue puts behind it."""
        length = session.length
        thought = self.thinker.think(session, seed)
        if session.length > length:
            session.append_text(self.model.encode(self.dialogue.after_thought))
        return thought

    def _act(self, session: Session) -> tuple[str, int]:
        """The text up to the end of its action, and how many tokens were decoded for it."""
        beginning = self._begin(session)
        decoded = session.decode(Decoding(self.limits.action_tokens, ENDS))
        text = self.model.decode((*beginning, *decoded.ids))
        ends = [text.find(end) + len(end) for end in ENDS if end in text]
        return text[: min(ends)] if ends else text, len(beginning) + len(decoded.ids)

    def _begin(self, session: Session) -> tuple[int, ...]:
        """The tokens that the action begins with, put in; none where it may begin as it likes."""
        if self.beginnings is None:
            return ()
        scores, best = self._likeliest(session)
        session.commit(scores.continuation(best))
        return self.beginnings[best]

    def _likeliest(self, session: Session) -> tuple[Scores, int]:
        assert self.beginnings is not None
        scores = session.score(self.beginnings)
        return scores, int(np.argmax(totals(scores.log_probs)))

    def _carry_out(
        self, action: ParsedAction, situation: Situation
    ) -> tuple[Observation | None, Stop | None]:
        if action.name == ANSWER:
            return None, Stop.ANSWER
        kind = kind_of(action.name)
        if kind in self.disabled:
            return None, Stop.TOOL_DISABLED
        if kind not in self.tools:
            return None, Stop.TOOL_ERROR
        return self.tools[kind].call(action.arguments, situation), None

    def _shown(self, observation: Observation, clock: "_Clock") -> "_Shown":
        """The observation with its pictures as the model takes them, or in words that it cannot."""
        try:
            with clock("media"):
                return _Shown(observation, prepared(self.model, observation.pictures))
        except PictureMismatch as error:
            return _Shown(failed(str(error)), ())

    def _observe(self, session: Session, shown: "_Shown", situation: Situation) -> Situation:
        """Writes it down; what is seen from then on."""
        text = shortened(self.model, shown.observation.text, self.limits.observation_tokens)
        write(session, self.dialogue.observation(text), shown.pictures)
        return replace(situation, pictures=(*situation.pictures, *shown.observation.pictures))

    def _require_room(self, session: Session) -> None:
        if session.length > self.limits.context_tokens:
            raise ContextTooLong(
                f"{session.length} tokens of context; at most {self.limits.context_tokens} are allowed"
            )


def _as_answer(parsed: ParsedAction | Invalid) -> ParsedAction | Invalid:
    """A tool that means the answer, as `finish`, is one."""
    if isinstance(parsed, Invalid) or kind_of(parsed.name) != ANSWER or parsed.name == ANSWER:
        return parsed
    return ParsedAction(ANSWER, {"answer": answer_text(Action(parsed.name, parsed.arguments))})


def turn_json(turn: TurnRecord) -> dict[str, Any]:
    """A turn as a record holds it, in the shape of SSR's own run records: token counts of injected and made thoughts apart."""
    observation = turn.observation
    return {
        "context_tokens": turn.context_tokens,
        "prefilled_tokens": turn.prefilled,
        "reasoning": turn.thought.text,
        "injected_tokens": turn.thought.injected,
        "generated_tokens": turn.thought.generated,
        "capped": turn.thought.is_capped,
        "scores": list(turn.thought.scores),
        "probabilities": list(turn.thought.probabilities),
        "chosen": turn.thought.chosen,
        "log_z": turn.thought.log_z,
        "route": turn.thought.route,
        "signal": turn.thought.signal,
        "action_text": turn.action_text,
        "action_tokens": turn.action_tokens,
        "action": None if turn.action is None else dict(turn.action._asdict()),
        "fault": turn.fault,
        "observation": None if observation is None else observation.text,
        "match": None if observation is None else observation.match,
        "tool_failure": "" if observation is None else observation.failure,
        "seconds": turn.seconds._asdict(),
    }
