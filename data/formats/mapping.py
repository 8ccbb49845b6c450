"""A format that a user describes: a JSON file that says where in a document things lie.

    {"question": "task.text", "steps": "log", "thought": "said", "action": "tool.name", "arguments": "tool.args",
     "observation": "result", "outcome": "ok"}

A path is keys and list places joined by dots; those of a step are looked up in the step. In place of `steps`,
`messages` names a list of chat messages.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import InvalidMapping
from ..traces import Trace
from .conversation import Conversation
from .dialects import said_of, words_of
from .outcomes import outcome_of
from .steps import Step, trace_of_steps
from .table import TraceFormat
from .window import Damage, parsed

WHOLE = ("question", "messages", "steps", "outcome", "model", "id")
STEP = ("thought", "action", "arguments", "observation", "images")
KNOWN = (*WHOLE, *STEP, "name")


@dataclass(frozen=True)
class Paths:
    """Where things lie, by what they are."""

    by_name: Mapping[str, str]

    def get(self, document: Any, name: str) -> Any:
        path = self.by_name.get(name)
        return at_path(document, path) if path else None

    def detects(self, document: Any) -> bool:
        """Whether there is a list where the turns should be."""
        found = self.get(document, "messages" if "messages" in self.by_name else "steps")
        return isinstance(found, list) and all(isinstance(one, dict) for one in found)

    def reads(self, document: Any) -> Trace:
        """What leads nowhere in this document is among the run's repairs, as `NAME_not_found`."""
        found = self._read(document)
        return replace(found, repairs=(*found.repairs, *self._astray(document)))

    def _astray(self, document: Any) -> list[str]:
        steps = self.get(document, "steps") or ()
        astray = []
        for name in self.by_name:
            places = steps if name in STEP else [document]
            if places and all(self.get(place, name) is None for place in places):
                astray.append(f"{name}_not_found")
        return astray

    def _read(self, document: Any) -> Trace:
        outcome = outcome_of(self.get(document, "outcome"))
        question = words_of(self.get(document, "question"))
        model, run = (words_of(self.get(document, name)) for name in ("model", "id"))
        if "messages" in self.by_name:
            messages = [said_of(one) for one in self.get(document, "messages")]
            asked = question if "question" in self.by_name else None
            return Conversation(messages, question=asked).trace(outcome, model, run)
        steps = [self._step(one) for one in self.get(document, "steps")]
        return trace_of_steps(question, steps, outcome, model, run)

    def _step(self, step: Any) -> Step:
        action = self.get(step, "action")
        images = self.get(step, "images")
        return Step(
            thought=words_of(self.get(step, "thought")),
            action=words_of(action) if action is not None else "",
            arguments=self.get(step, "arguments"),
            observation=words_of(self.get(step, "observation")),
            images=tuple(
                filter(None, map(words_of, images if isinstance(images, list) else [images]))
            ),
        )


def mapped_format(path: Path) -> TraceFormat:
    """The format in a mapping file; InvalidMapping where it is none."""
    try:
        mapping = parsed(path.read_text("utf-8-sig"))
    except (OSError, ValueError, Damage) as error:
        raise InvalidMapping(f"{path}: no mapping that can be read: {error}") from error
    if not isinstance(mapping, dict) or not all(isinstance(one, str) for one in mapping.values()):
        raise InvalidMapping(
            f'{path}: a mapping is an object of paths, such as {{"question": "task.text"}}'
        )
    if unknown := sorted(mapping.keys() - set(KNOWN)):
        raise InvalidMapping(
            f"{path}: unknown names {', '.join(unknown)}; known are {', '.join(KNOWN)}"
        )
    if ("messages" in mapping) == ("steps" in mapping):
        raise InvalidMapping(f"{path}: a mapping needs either 'steps' or 'messages'")
    if "steps" in mapping and not {"question", "action"} <= mapping.keys():
        raise InvalidMapping(f"{path}: with 'steps', 'question' and 'action' are needed too")
    paths = Paths({name: one for name, one in mapping.items() if name != "name"})
    return TraceFormat(mapping.get("name", path.stem), paths.detects, paths.reads)


def at_path(value: Any, path: str) -> Any:
    """What lies at `a.b.0`; None where there is nothing."""
    for key in path.split("."):
        if isinstance(value, dict):
            value = value.get(key)
        elif (
            isinstance(value, list)
            and key.lstrip("-").isdigit()
            and -len(value) <= int(key) < len(value)
        ):
            value = value[int(key)]
        else:
            return None
    return value
