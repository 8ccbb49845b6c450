"""ReAct runs in chat turns: FireAct's gpt runs (`traj`) and its `messages` lines.

One turn an assistant message, whatever number of thoughts and actions it holds. A message that goes on
without waiting keeps all of them; what the environment then says answers the first action.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..traces import Trace
from .chat import LISTS, Message, listed, messages_in, num_pictures, text_of
from .outcomes import outcome_in
from .parts import NO_PICTURE
from .prompt import question_in
from .react import LABEL, Run, pieces

ROLES = {"system", "developer", "user", "assistant"}
STARTS = re.compile(r"\s*(Thought|Action)(?: \d+)?:")
ACTS = re.compile(r"^Action(?: \d+)?:\s*[\w.-]+\s*\[", re.MULTILINE)


def is_react_chat(document: Any) -> bool:
    """Whether an assistant's message is labelled, and none uses tools the other way."""
    if not _may_be(document):
        return False
    messages = messages_in(document)
    are_plain = all(m["role"] in ROLES and not m.get("tool_calls") for m in messages)
    return are_plain and any(
        m["role"] == "assistant" and _is_labelled(text_of(m)) for m in messages
    )


def _may_be(document: Any) -> bool:
    """Whether no message calls a tool: a look that costs little, since most documents are another row's."""
    lists = [document.get(name) for name in LISTS] if isinstance(document, dict) else []
    messages = next((one for one in lists if isinstance(one, list)), [])
    return bool(messages) and not any(isinstance(m, dict) and m.get("tool_calls") for m in messages)


def read_react_chat(document: Mapping[str, Any]) -> Trace:
    messages = listed(document)
    start = _question_index(messages)
    if start is None:
        return Trace("", ())
    run = Run()
    for message in messages[start + 1 :]:
        if message["role"] == "assistant":
            _take_message(run, text_of(message))
        elif message["role"] == "user":
            run.observe(_observation(text_of(message)))
    question = question_in(text_of(messages[start]))
    unread = (NO_PICTURE,) * sum(map(num_pictures, messages[start:]))
    return Trace(question, run.turns, outcome_in(document) or run.closing, repairs=unread)


def _question_index(messages: Sequence[Message]) -> int | None:
    """Where the run's question stands: examples given as chat turns come before the last label."""
    users = [i for i, message in enumerate(messages) if message["role"] == "user"]
    labelled = [i for i in users if text_of(messages[i]).startswith("Question:")]
    if labelled:
        return labelled[-1]
    first = users[0] if users else None
    is_question = first is not None and not _is_observation(text_of(messages[first]))
    return first if is_question else None


def _take_message(run: Run, text: str) -> None:
    if not _is_observation(text):  # some assistant turns are nothing but an observation
        run.begin()
    for piece in pieces(text):
        run.take(piece)


def _observation(text: str) -> str:
    """The text without its label; labels further down are the text's own."""
    return LABEL.sub("", text.strip(), count=1).strip() if _is_observation(text) else text.strip()


def _is_observation(text: str) -> bool:
    label = LABEL.match(text.strip())
    return label is not None and label[1] == "Observation"


def _is_labelled(text: str) -> bool:
    return STARTS.match(text) is not None or ACTS.search(text) is not None
