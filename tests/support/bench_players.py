"""A bench of a few questions with tiny models, as processes can be handed it, and tools that end the process they are called in."""

import os
import signal
from functools import partial
from pathlib import Path

from forethought.data.benchmarks.question import Question
from forethought.scorer.agent.dialogue import Plain
from forethought.scorer.agent.episode import Agent, Limits
from forethought.scorer.agent.thinking import Freedom, Library, Mode, thinker_of
from forethought.scorer.agent.tools import Observation
from forethought.scorer.model import LanguageModel, load_model
from forethought.ui.bench.plan import BenchPlan, Place, run_id
from forethought.ui.bench.playing import Alone, Players, play_all, tasks_of
from forethought.ui.bench.records import Records

QUESTIONS = tuple(Question(f"q{n}", f"Which is number {n}?", ("Lisbon",), "b") for n in range(7))
MODES = (Mode.SELECT, Mode.THINK, Mode.NONE)
PLAN = BenchPlan((Place("b"),), MODES)
TEXTS = ("I do not know this yet.", "I have what I need.", "I should look again.")
SEARCH = '<tool_call>{"name": "search", "arguments": {"input": "a"}}</tool_call>'


class Search:
    """Ends its process where it is asked about `fatal`, unless the file `mended` is there."""

    name = "search"

    def __init__(self, fatal: str = "", mended: Path = Path("none")) -> None:
        self.fatal, self.mended = fatal, mended

    def call(self, arguments, situation):
        if situation.question == self.fatal and not self.mended.exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return Observation("It is Lisbon.")


def agents(model: LanguageModel, tool: Search | None = None) -> dict[str, Agent]:
    """Their first action is a whole search, whatever the model would say."""
    library = Library.of(model, TEXTS)
    return {
        mode.value: Agent(
            model,
            thinker_of(mode, library, model, Freedom(tokens=5)),
            {"search": tool or Search()},
            Limits(turns=2, action_tokens=len(SEARCH)),
            dialogue=Plain("Answer.\n"),
            beginnings=(tuple(model.encode(SEARCH)),),
        )
        for mode in MODES
    }


def loader(folder: Path) -> partial:
    return partial(load_model, str(folder))


def tasks() -> list:
    return tasks_of(PLAN, [mode.value for mode in MODES], QUESTIONS)


def played(path: Path, players: Players) -> list:
    """The records without their clock, scores to three places."""
    with Records(path, run_id(PLAN, {})) as records:
        return [without_clock(one) for one in play_all(tasks(), players, records)]


def alone(path: Path, model: LanguageModel) -> list:
    return played(path, Alone(agents(model), PLAN.seed))


def without_clock(record: dict) -> dict:
    turns = [{**turn} for turn in record["turns"]]
    for turn in turns:
        del turn["seconds"]
        turn["log_z"] = turn["log_z"] and round(turn["log_z"], 3)
        turn["scores"] = [round(score, 3) for score in turn["scores"]]
        turn["probabilities"] = [round(p, 3) for p in turn["probabilities"]]
    return record | {"turns": turns}
