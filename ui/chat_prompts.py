"""The system's words before an exported chat: SSR's, with the set's texts and the tools that the traces of a source use.

SSR's own three tools have the signatures that its agents read. Of any other tool a signature is made of the calls there are.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..data.candidates import Candidate, CandidateSet
from ..data.traces import ANSWER, Action, Trace
from ..scorer.agent.prompt import system_prompt

END = "</tools>"
MOST_TOOLS = 32  # a source with more gives each question its own: there, a trace's own are told
TYPES = {bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
Calls = Mapping[str, Sequence[Action]]


@dataclass(frozen=True)
class ChatPrompts:
    """`calls` are those of each source by the tool's name."""

    listed: Sequence[Candidate]
    calls: Mapping[str, Calls]
    written: dict[str, str] = field(default_factory=dict)  # by source

    @classmethod
    def of(cls, traces: Iterable[Trace], candidate_set: CandidateSet) -> "ChatPrompts":
        by_source: dict[str, list[Trace]] = defaultdict(list)
        for trace in traces:
            by_source[trace.source].append(trace)
        calls = {source: _calls(own) for source, own in by_source.items()}
        return cls(candidate_set.active, calls)

    def system(self, trace: Trace) -> str:
        """What stands before the trace's question."""
        calls = self.calls.get(trace.source, {})
        if len(calls) > MOST_TOOLS:
            return self._prompt(_calls([trace]))
        if trace.source not in self.written:
            self.written[trace.source] = self._prompt(calls)
        return self.written[trace.source]

    def _prompt(self, calls: Calls) -> str:
        prompt = system_prompt(calls.keys(), self.listed)
        told = [name for name in calls if f'"name": {json.dumps(name)}' not in prompt]
        lines = "".join(f"{_signature(name, calls[name])}\n" for name in told)
        before, end, after = prompt.rpartition(END)  # the first stands in a sentence about it
        return before + lines + end + after


def _calls(traces: Iterable[Trace]) -> dict[str, list[Action]]:
    calls: dict[str, list[Action]] = defaultdict(list)
    for action in (a for trace in traces for turn in trace.turns for a in turn.actions):
        if action.kind != ANSWER:
            calls[action.name].append(action)
    return dict(sorted(calls.items()))


def _signature(name: str, calls: Sequence[Action]) -> str:
    """One line, as SSR's: every argument that was ever given, those of all calls as required."""
    given: dict[str, Any] = {}
    for call in calls:
        for argument, value in call.arguments.items():
            given.setdefault(argument, value)
    required = [one for one in given if all(one in call.arguments for call in calls)]
    properties = {one: {"type": TYPES.get(type(value), "object")} for one, value in given.items()}
    parameters = {"type": "object", "properties": properties, "required": required}
    function = {"name": name, "parameters": parameters}
    return json.dumps({"type": "function", "function": function}, ensure_ascii=False)
