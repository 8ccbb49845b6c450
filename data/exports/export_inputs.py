"""What is handed to an export. Values only: labels come from whoever gave them, traces from the store, tokens from a tokenizer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..candidates import CandidateSet
from ..traces import Trace
from .conversation import Form
from .labelled import TurnScope


@dataclass(frozen=True)
class TokenizedSet:
    """The ids of each candidate by its id, delimiters included, and whose tokenizer made them; `sha256` names it whole."""

    name: str
    revision: str
    sha256: str
    ids: Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class ExportInputs:
    """What is exported. `labels`: turn_id -> id of its candidate, or None; `labelled_by` says who gave them.

    `form` (None: the target's usual one) and `system`, the words before a question, say how a trace is written down;
    `pictures` is the folder that an import kept them in. `allows_findings`: what looks like a secret may go to a hub.
    """

    candidate_set: CandidateSet
    traces: Iterable[Trace] = ()
    labels: Mapping[str, str | None] = field(default_factory=dict)
    options: TurnScope = TurnScope()
    labelled_by: str = "assigned"
    form: Form | None = None
    system: Callable[[Trace], str] = lambda trace: ""
    pictures: Path | None = None
    seed: int = 0
    tokens: TokenizedSet | None = None
    allows_findings: bool = False
