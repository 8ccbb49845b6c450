"""The dialect table of conversational rows: what each trainer calls a message, where pictures go, which turns it trains.

A tool call stands in the text, `<tool_call>{"name", "arguments"}</tool_call>`, as the agent writes it, and so does its thought
(`<thinking>`): no column holds arguments, whose types would differ from row to row, and no chat template drops a thought.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .conversation import Conversation, Message, Role

IMAGES = "images"  # the column, and the folder
SHAREGPT = {Role.USER: "human", Role.ASSISTANT: "gpt", Role.SYSTEM: "system"}


class Unit(StrEnum):
    """What a row trains: one labelled turn, what precedes it masked; or every turn of a trace, where a trainer masks none."""

    TURN = "turn"
    TRACE = "trace"


class Container(StrEnum):
    """What kind of file rows are in."""

    JSONL = "jsonl"
    PARQUET = "parquet"


class Pictures(StrEnum):
    """Where a picture stands in a message: as a part of a list, or as `<image>` in the text; or nowhere: it is not read."""

    PARTS = "parts"
    PLACES = "places"
    NONE = "none"


@dataclass(frozen=True)
class RowShape:
    """One row of the table.

    `messages` is the key of the list, `completion` that of a list of its own for the last message, `system` that of a column for
    the system's words (None: they are the first message). `trained` is a key of the agent's messages: whether they are trained.
    `picture`: in the column of pictures one is {this key: path}, else a path; `part`: it has no column, and its part says the path
    under this key. `is_asked`: the row is a prompt alone. `loss` says in words what keeps earlier turns from being trained.
    """

    unit: Unit = Unit.TURN
    container: Container = Container.JSONL
    messages: str = "messages"
    completion: str | None = None
    role: str = "role"
    content: str = "content"
    names: Mapping[Role, str] = field(default_factory=dict)
    system: str | None = None
    trained: str | None = None
    pictures: Pictures = Pictures.PLACES
    picture: str | None = None
    part: str | None = None
    is_asked: bool = False
    loss: str = ""

    def row(self, conversation: Conversation, *, with_pictures: bool) -> dict[str, Any]:
        """The conversation's columns. `with_pictures`: whether some row of the file has one, since a column has one type."""
        messages = list(conversation.messages)
        row: dict[str, Any] = {}
        if self.system is not None:
            is_told = messages[0].role is Role.SYSTEM
            row[self.system] = messages.pop(0).text if is_told else ""
        if self.completion is None:
            row[self.messages] = self.written(messages, with_pictures=with_pictures)
        else:
            row[self.messages] = self.written(messages[:-1], with_pictures=with_pictures)
            row[self.completion] = self.written(messages[-1:], with_pictures=with_pictures)
        if with_pictures and self.part is None:
            row[IMAGES] = [self._picture(name) for name in conversation.pictures]
        return row

    def written(self, messages: Sequence[Message], *, with_pictures: bool) -> list[dict[str, Any]]:
        """The messages in the trainer's words; the last of them is trained, and others only where the unit is a trace."""
        written = []
        for number, message in enumerate(messages, start=1):
            one: dict[str, Any] = {
                self.role: self.names.get(message.role, message.role.value),
                self.content: self._content(message, with_pictures=with_pictures),
            }
            if self.trained is not None and message.role is Role.ASSISTANT:
                one[self.trained] = number == len(messages)
            written.append(one)
        return written

    def _content(self, message: Message, *, with_pictures: bool) -> str | list[dict[str, Any]]:
        if self.pictures is not Pictures.PARTS or not with_pictures:
            return message.text
        names = iter(message.pictures)
        parts: list[dict[str, Any]] = []
        for part in message.parts():
            if part is not None:
                parts.append({"type": "text", "text": part})
            elif self.part is None:
                parts.append({"type": "image"})
            else:
                parts.append({"type": "image", self.part: path_of(next(names))})
        return parts

    def _picture(self, name: str) -> str | dict[str, str]:
        return path_of(name) if self.picture is None else {self.picture: path_of(name)}


def path_of(picture: str) -> str:
    """Where an exported picture lies, from its export's folder."""
    return f"{IMAGES}/{picture}"


PROMPT_COMPLETION = RowShape(
    messages="prompt",
    completion="completion",
    pictures=Pictures.PARTS,
    loss="TRL trains the completion alone",
)
SHAPES = {
    "trl-sft": PROMPT_COMPLETION,
    "trl-dpo": RowShape(
        messages="prompt",
        completion="chosen",
        pictures=Pictures.PARTS,
        loss="TRL compares the two completions alone",
    ),
    "trl-grpo": RowShape(
        messages="prompt",
        pictures=Pictures.PARTS,
        is_asked=True,
        loss="the model is trained on what it generates",
    ),
    "verl-sft": RowShape(
        unit=Unit.TRACE,
        container=Container.PARQUET,
        picture="image",
        loss="verl trains every assistant message, so a trace is one row",
    ),
    "hub": RowShape(
        container=Container.PARQUET,
        messages="prompt",
        completion="completion",
        loss="the prompt is apart from the completion",
    ),
    "verl-rl": RowShape(
        container=Container.PARQUET,
        messages="prompt",
        picture="image",
        is_asked=True,
        loss="the model is trained on what it generates",
    ),
    "llamafactory": RowShape(
        messages="conversations",
        role="from",
        content="value",
        names=SHAREGPT,
        system="system",
        loss="`mask_history: true` masks all but the last turn",
    ),
    "swift": RowShape(trained="loss", loss="`loss` of each message"),
    "openrlhf": RowShape(
        pictures=Pictures.NONE,
        loss="without `--data.multiturn` OpenRLHF trains the last message alone",
    ),
    "axolotl": RowShape(
        trained="train",
        pictures=Pictures.PARTS,
        part="path",
        loss="`message_field_training: train` trains the messages that say so",
    ),
    "nemo-rl": RowShape(
        unit=Unit.TRACE,
        pictures=Pictures.PARTS,
        part="image",
        loss="NeMo-RL trains every assistant message, so a trace is one row",
    ),
}
