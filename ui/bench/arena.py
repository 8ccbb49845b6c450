"""What a benchmark brings to a bench: questions, tools, how a run is written down, how an answer counts. Knows no mode."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...data.benchmarks.question import Question
from ...data.benchmarks.table import Metric
from ...data.candidates import Candidate
from ...scorer.agent.dialogue import Dialogue
from ...scorer.agent.episode import Limits
from ...scorer.agent.tools import Tool
from ...scorer.model import LanguageModel


@dataclass(frozen=True)
class RecordedTurn:
    """What preceded a turn, and what kind of action followed in the run: its place among the beginnings there are."""

    id: str
    context: str
    action: int
    question: str = ""


@dataclass(frozen=True)
class Arena:
    """`dialogue` is made for a model and the candidates that are listed in it, if any.

    `beginnings` are those of the actions there are, which guided actions begin with. `turns` are recorded ones to compare
    actions with, `fitting` what preceded others. `left_out` counts the rows that are not asked, by why.
    """

    name: str
    questions: tuple[Question, ...]
    tools: Mapping[str, Tool]
    dialogue: Callable[[LanguageModel, Sequence[Candidate]], Dialogue]
    metric: Metric = "exact"
    limits: Limits = Limits()
    beginnings: tuple[str, ...] = ()
    turns: tuple[RecordedTurn, ...] = ()
    fitting: tuple[str, ...] = ()
    is_listed: bool = False  # unless the plan says otherwise
    is_guided: bool = False  # likewise
    disabled: frozenset[str] = frozenset()  # kinds of action that there are, but not here
    left_out: Mapping[str, int] = field(default_factory=dict)
