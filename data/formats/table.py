"""The formats that are read, one row each; the first row that detects a document reads it.

A new format is a file with a detector and a reader, a row here, and a sample in tests/data/samples. Stricter rows stand
before those that take more.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from ..errors import UnknownTraceFormat
from ..traces import Trace
from .agent_files import (
    is_atif,
    is_browsecomp,
    is_mini_swe,
    is_smolagents,
    is_ssr_run,
    read_atif,
    read_browsecomp,
    read_mini_swe,
    read_smolagents,
    read_ssr_run,
)
from .chat_rows import is_anthropic, is_chat, is_langchain, is_sharegpt, is_typed, read_chat
from .exchanges import (
    is_anthropic_exchange,
    is_choices,
    is_responses,
    read_anthropic_exchange,
    read_choices,
    read_responses,
)
from .inspect_log import is_inspect_log, read_inspect_log
from .knowagent import (
    is_knowagent_alfworld,
    is_knowagent_hotpotqa,
    read_knowagent_alfworld,
    read_knowagent_hotpotqa,
)
from .labelled_chat import is_sketchpad, is_webvoyager, read_sketchpad, read_webvoyager
from .openai_chat import is_openai_chat, read_openai_chat
from .react_chat import is_react_chat, read_react_chat
from .react_text import is_react_text, read_react_text
from .response_chains import is_chain, read_chain
from .sessions import (
    is_claude,
    is_session,
    is_verifiers,
    read_claude,
    read_session,
    read_verifiers,
)
from .spans import SPANS, spans_named
from .swe_agent import is_swe_agent, read_swe_agent
from .text_logs import is_arft_log, is_reflexion_log, read_arft_log, read_reflexion_log
from .toolbench import (
    is_toolbench_chain,
    is_toolbench_tree,
    read_toolbench_chain,
    read_toolbench_tree,
)
from .transcripts import (
    is_completion,
    is_mars_row,
    is_tagged_text,
    is_verl_rollout,
    read_rollout,
)

PLUG_INS = "forethought.formats"


@dataclass(frozen=True)
class TraceFormat:
    """`detects` takes any document (a JSON value, or a text file's whole text) and never raises; `reads` takes what it
    detected and gives one trace, or several where runs fork or a document holds many.

    A trace comes back without source, file, position and format, and may lack a question or turns.
    """

    name: str
    detects: Callable[[Any], bool]
    reads: Callable[[Any], Trace | Iterable[Trace]]

    def traces(self, document: Any) -> tuple[Trace, ...]:
        """All traces of a document that the row detected."""
        read = self.reads(document)
        return (read,) if isinstance(read, Trace) else tuple(read)


FORMATS = (
    TraceFormat("react-text", is_react_text, read_react_text),
    TraceFormat("webvoyager", is_webvoyager, read_webvoyager),
    TraceFormat("react-chat", is_react_chat, read_react_chat),
    TraceFormat("visual-sketchpad", is_sketchpad, read_sketchpad),
    TraceFormat("swe-agent", is_swe_agent, read_swe_agent),
    TraceFormat("mini-swe-agent", is_mini_swe, read_mini_swe),
    TraceFormat("openai-response", is_choices, read_choices),
    TraceFormat("openai-responses", is_responses, read_responses),
    TraceFormat("response-chain", is_chain, read_chain),
    TraceFormat("anthropic-response", is_anthropic_exchange, read_anthropic_exchange),
    TraceFormat("openai-chat", is_openai_chat, read_openai_chat),
    TraceFormat("knowagent-hotpotqa", is_knowagent_hotpotqa, read_knowagent_hotpotqa),
    TraceFormat("knowagent-alfworld", is_knowagent_alfworld, read_knowagent_alfworld),
    TraceFormat("ssr-run", is_ssr_run, read_ssr_run),
    TraceFormat("sensenova-mars", is_mars_row, read_rollout),
    TraceFormat("verl-rollout", is_verl_rollout, read_rollout),
    TraceFormat("completion", is_completion, read_rollout),
    TraceFormat("tagged-text", is_tagged_text, read_rollout),
    TraceFormat("anthropic", is_anthropic, read_chat),
    TraceFormat("langchain", is_langchain, read_chat),
    TraceFormat("llamafactory", is_typed, read_chat),
    TraceFormat("sharegpt", is_sharegpt, read_chat),
    TraceFormat("chat", is_chat, read_chat),
    TraceFormat("smolagents", is_smolagents, read_smolagents),
    TraceFormat("atif", is_atif, read_atif),
    TraceFormat("browsecomp-plus", is_browsecomp, read_browsecomp),
    TraceFormat("verifiers", is_verifiers, read_verifiers),
    TraceFormat("session-trace", is_session, read_session),
    TraceFormat("claude-code", is_claude, read_claude),
    *(TraceFormat(name, *spans_named(name)) for name in SPANS),
    TraceFormat("inspect", is_inspect_log, read_inspect_log),
    TraceFormat("toolbench-tree", is_toolbench_tree, read_toolbench_tree),
    TraceFormat("toolbench-chain", is_toolbench_chain, read_toolbench_chain),
    TraceFormat("reflexion-log", is_reflexion_log, read_reflexion_log),
    TraceFormat("visual-arft-log", is_arft_log, read_arft_log),
)


def formats_named(name: str | None) -> tuple[TraceFormat, ...]:
    """The row of that name, or all rows for None; UnknownTraceFormat where there is no such row.

    Rows of plug-ins come first: who installs one for a format wants it read so.
    """
    known = (*plugged_in(), *FORMATS)
    rows = tuple(row for row in known if name in (None, row.name))
    if not rows:
        names = ", ".join(row.name for row in known)
        raise UnknownTraceFormat(f"{name!r} is no trace format; choose one of {names}")
    return rows


def plugged_in() -> tuple[TraceFormat, ...]:
    """The rows that installed packages add, each an entry point of the group: a TraceFormat, or several."""
    rows: list[TraceFormat] = []
    for entry in entry_points(group=PLUG_INS):
        try:
            found = entry.load()
        except (ImportError, AttributeError) as error:
            raise UnknownTraceFormat(
                f"plug-in {entry.name!r} ({entry.value}) cannot be loaded: {error}"
            ) from error
        added = [found] if isinstance(found, TraceFormat) else found
        if not isinstance(added, list | tuple) or not all(
            isinstance(row, TraceFormat) for row in added
        ):
            raise UnknownTraceFormat(f"plug-in {entry.name!r} ({entry.value}) is no TraceFormat")
        rows += added
    return tuple(rows)
