"""HotpotQA over recorded runs: questions nobody mined from, tools that replay what those runs saw, a worked example before each.

A benchmark that needs no network and no GPU: it shows what a mode costs and whether it keeps success on the machine at hand.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..data.benchmarks.question import Question
from ..data.benchmarks.recorded_runs import questions_of_traces, truths_of_fireact
from ..data.errors import NothingToDo
from ..data.identity import Split
from ..data.render import render_context, worked_example
from ..data.store import Store
from ..data.traces import ANSWER, turn_id
from ..scorer.agent.recordings import RecordedSearch, Recordings
from ..scorer.agent.tools import Tool
from .agreeing import RecordedTurn
from .held_out import PickedTurn, held_out

NAME = "hotpotqa-replay"
TOOL = "search"
BEGINNINGS = {TOOL: '<tool_call>{"name": "search", "arguments": {"input": "', ANSWER: "<answer>"}
RECORDED_TURNS = 60  # whose actions modes are compared with
SAMPLES = Path(__file__).parent.parent / "data" / "samples"


class Replay(NamedTuple):
    """What a bench over recorded runs needs."""

    questions: tuple[Question, ...]
    tools: Mapping[str, Tool]
    preamble: str
    beginnings: tuple[str, ...]  # of the actions there are
    turns: tuple[RecordedTurn, ...]  # of *test* questions, as they were recorded


def replay_of(store: Store, source: str | None, limit: int | None) -> Replay:
    """The *test* questions of a source (None: all), in the order of their ids, whose answer FireAct's files tell.

    NothingToDo where there are none.
    """
    traces = list(store.traces(source))
    asked = [trace for trace in traces if trace.split is Split.TEST]
    found = questions_of_traces(asked, truths_of_fireact(SAMPLES), NAME)
    if not found.questions:
        raise NothingToDo(
            f"no test question of {source or 'this store'} has a known answer; import data/samples, whose runs are asked again"
        )
    return Replay(
        tuple(sorted(found.questions, key=lambda question: question.id))[:limit],
        {TOOL: RecordedSearch(Recordings.of(traces), TOOL)},
        worked_example(traces),
        tuple(BEGINNINGS.values()),
        tuple(map(_recorded, held_out(traces, Split.TEST, RECORDED_TURNS))),
    )


def _recorded(turn: PickedTurn) -> RecordedTurn:
    kind = turn.trace.turns[turn.index].actions[0].kind
    return RecordedTurn(
        turn_id(turn.trace.id, turn.index),
        render_context(turn.trace, turn.index),
        list(BEGINNINGS).index(kind),
    )
