"""A benchmark's questions played in several modes by the same model with the same tools: one record a question and mode.

Records are kept as they come, so that a killed run goes on where it stopped. Imports no interface.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

from ...data.benchmarks.question import Question
from ...data.errors import BrokenPicture
from ...data.traces import Action, Outcome, Trace, Turn
from ...scorer.agent.answers import exact_match, relaxed_match, token_f1
from ...scorer.agent.episode import Agent, Episode, Stop, turn_json
from ...scorer.agent.session import Session
from ...scorer.agent.tools import Situation
from .dispatch import EACH_ITS_OWN, Dispatch
from .plan import BenchPlan
from .records import Records

Json = dict[str, Any]
Progress = Callable[[int, int], None]
PLAYED = "bench"  # the format of its traces


class Task(NamedTuple):
    """A question to be played in a mode; of `arm` where somebody decided who plays it."""

    label: str
    question: Question
    arm: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.label, self.question.id

    @property
    def player(self) -> str:
        return self.arm or self.label


class Played(NamedTuple):
    """A task, and how it went."""

    task: Task
    record: Json


Playing = Generator[Played, None, None]


class Players(Protocol):
    """Whoever plays tasks: this process, others, or servers. The records do not depend on it."""

    def play(self, tasks: Sequence[Task]) -> Playing:
        """All of them, in any order; closed before its end, it leaves nobody at work."""


@dataclass
class Alone:
    """One after the other with one session a mode, whose opening is computed once."""

    agents: Mapping[str, Agent]
    seed: int
    start: Callable[[Agent], Session] = Agent.start
    _sessions: dict[str, Session] = field(default_factory=dict)

    def play(self, tasks: Sequence[Task]) -> Playing:
        for task in tasks:
            agent = self.agents[task.player]
            if task.player not in self._sessions:
                self._sessions[task.player] = self.start(agent)
            episode = asked(agent, self._sessions[task.player], task.question, self.seed)
            yield Played(task, record_of(task.question, episode))


def tasks_of(
    plan: BenchPlan,
    labels: Sequence[str],
    questions: Sequence[Question],
    dispatch: Dispatch = EACH_ITS_OWN,
) -> list[Task]:
    """The modes take turns question by question, so that a machine's moods meet all of them."""
    return [
        Task(label, question, dispatch.arm(label, question.text))
        for place, question in enumerate(questions)
        for label in labels
        if plan.asks(label, place)
    ]


def play_all(
    tasks: Sequence[Task],
    players: Players,
    records: Records,
    progress: Progress = lambda done, total: None,
    deciding: float = 0.0,
) -> list[Json]:
    """The records of all tasks, in their order; what `records` holds already is not played again.

    `deciding` are the seconds that it took to tell who plays a question.
    """
    missing = [task for task in tasks if records.get(task.key, task.arm) is None]
    done = len(tasks) - len(missing)
    progress(done, len(tasks))
    with closing(players.play(missing)) as playing:
        for task, record in playing:
            decided = {"arm": task.arm, "deciding_s": deciding} if task.arm else {}
            records.add(task.key, record | decided)
            done += 1
            progress(done, len(tasks))
    found = [records.get(task.key, task.arm) for task in tasks]
    return [record for record in found if record is not None]


def asked(agent: Agent, session: Session, question: Question, seed: int) -> Episode:
    """How the question goes; a picture of it that is missing or broken is an end, too."""
    try:
        pictures = tuple(source.open() for source in question.images)
        digest = sha256(question.images[0].read()).hexdigest() if question.images else ""
    except BrokenPicture as error:
        return Episode((), Stop.MEDIA_ERROR, detail=str(error))
    situation = Situation(question.text, pictures, digest, question.image_results)
    return agent.play(session, situation, seed)


def record_of(question: Question, episode: Episode) -> Json:
    """One question as it went."""
    answer = episode.answer
    return {
        "question": question.text,
        "answers": list(question.answers),
        "facts": dict(question.facts),
        "answer": answer,
        "stop": episode.stop.value,
        "detail": episode.detail,
        **by_words(answer, question),
        "prompt": list(episode.prompt),
        "turns": [turn_json(turn) for turn in episode.turns],
    }


def by_words(answer: str | None, question: Question) -> Json:
    """What the words of an answer tell, without a judge; None is never right."""
    return {
        "exact": answer is not None and exact_match(answer, question.answers),
        "relaxed": answer is not None and relaxed_match(answer, question.answers),
        "f1": 0.0 if answer is None else token_f1(answer, question.answers),
    }


def traces_of(records: Iterable[Json], source: str) -> list[Trace]:
    """Runs as traces to mine, with their outcome."""
    return [
        Trace(
            question=one["question"],
            turns=tuple(map(_turn_of, one["turns"])),
            outcome=Outcome.SUCCESS if one["success"] else Outcome.FAILURE,
            source=source,
            file=source,
            position=number,
            format=PLAYED,
        )
        for number, one in enumerate(records)
        if one["turns"]
    ]


def _turn_of(turn: Json) -> Turn:
    action = turn["action"]
    actions = (Action(action["name"], action["arguments"]),) if action else ()
    observations = (turn["observation"],) if turn["observation"] is not None else ()
    thoughts = (turn["reasoning"].strip(),) if turn["reasoning"].strip() else ()
    return Turn(thoughts, actions, observations)
