"""HotpotQA over recorded runs: questions nobody mined from, tools that replay what those runs saw, worked examples before each.

A benchmark that needs no network and no GPU: it shows what a mode costs and whether it keeps success on the machine at hand.
"""

from collections.abc import Sequence
from pathlib import Path

from ...data.benchmarks.recorded_runs import questions_of_traces, truths_of_fireact
from ...data.candidates import Candidate
from ...data.errors import NothingToDo
from ...data.identity import Split
from ...data.render import render_context, worked_example
from ...data.store import Store
from ...data.traces import ANSWER, turn_id
from ...scorer.agent.dialogue import Plain
from ...scorer.agent.prompt import listing
from ...scorer.agent.recordings import RecordedSearch, Recordings
from ...scorer.model import LanguageModel
from ..held_out import PickedTurn, held_out
from .arena import Arena, RecordedTurn
from .playing import PLAYED

NAME = "hotpotqa-replay"
TOOL = "search"
BEGINNINGS = {TOOL: '<tool_call>{"name": "search", "arguments": {"input": "', ANSWER: "<answer>"}
EXAMPLES = 3  # with one, the small model answers nearly every *choose* turn at once; with three it searches, too
RECORDED_TURNS = 240  # at most, whose actions modes may be compared with
FITTING_TURNS = 60  # to calibrate by
SAMPLES = Path(__file__).parents[2] / "data" / "samples"


def replay_of(
    store: Store, source: str | None, texts: Sequence[str], split: Split = Split.TEST
) -> Arena:
    """The questions of a source (None: all) in a split, in the order of their ids, whose answer FireAct's files tell.

    What a bench thought freely before is no recorded run, unless it is the source: a bench would depend on the one before it.
    None of `texts` stands in the worked examples: a model repeats what stands there; their questions are not asked. NothingToDo
    where there are no questions.
    """
    traces = [one for one in store.traces(source) if source or one.format != PLAYED]
    examples = worked_example(traces, EXAMPLES, texts)
    asked = [one for one in traces if one.split is split and one.question not in examples]
    found = questions_of_traces(asked, truths_of_fireact(SAMPLES), NAME)
    if not found.questions:
        raise NothingToDo(
            f"no {split} question of {source or 'this store'} has a known answer; import data/samples, whose runs are asked again"
        )

    def dialogue(model: LanguageModel, listed: Sequence[Candidate]) -> Plain:
        strategies = f"Available reasoning strategies:\n{listing(listed)}\n\n" if listed else ""
        return Plain(f"{strategies}{examples}\n")

    turns = held_out(traces, split, RECORDED_TURNS)
    others = held_out(traces, Split.CHOOSE, FITTING_TURNS)
    return Arena(
        NAME,
        tuple(sorted(found.questions, key=lambda question: question.id)),
        {TOOL: RecordedSearch(Recordings.of(traces), TOOL)},
        dialogue,
        beginnings=tuple(BEGINNINGS.values()),
        turns=tuple(_recorded(turn) for turn in turns if _kind(turn) in BEGINNINGS),
        is_guided=True,
        fitting=tuple(render_context(turn.trace, turn.index) for turn in others),
    )


def _recorded(turn: PickedTurn) -> RecordedTurn:
    return RecordedTurn(
        turn_id(turn.trace.id, turn.index),
        render_context(turn.trace, turn.index),
        list(BEGINNINGS).index(_kind(turn)),
        turn.trace.question,
    )


def _kind(turn: PickedTurn) -> str:
    return turn.trace.turns[turn.index].actions[0].kind
