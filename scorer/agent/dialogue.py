"""How a run is written down: as plain lines, or as the turns of a chat by the model's own template.

    Plain                                   Chat
    PREAMBLE                                <|im_start|>system  PREAMBLE <|im_end|>
    Question: <image> Q                     <|im_start|>user  Q <image> <|im_end|>
    <thinking>T</thinking>                  <|im_start|>assistant  <thinking>T</thinking><tool_call>{...}</tool_call> <|im_end|>
    <tool_call>{...}</tool_call>
    Observation: O                          <|im_start|>user <tool_response> O </tool_response> <|im_end|>

Chat is SSR's harness (GitHub zfy0314/ssr-unofficial, src/ssr/harness.py, commit 2d554730). Knows no model. What a template writes may hold special tokens; what anybody says is text, whatever it looks like.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from jinja2 import TemplateError

from ...data.errors import ModelUnavailable
from .tools import PICTURE, literal

SYSTEM, ASKED, SAID, SEEN = (f"\x1a{name}\x1a" for name in ("system", "asked", "said", "seen"))


class Piece(NamedTuple):
    """A part of a run's text; in `markup` special tokens are tokens, elsewhere PICTURE is a picture's place."""

    text: str
    is_markup: bool = False


Pieces = tuple[Piece, ...]


class Dialogue(Protocol):
    """Each method gives what is added to a run; a thought and an action come after a question or an observation.

    `after_thought` stands between the two.
    """

    @property
    def after_thought(self) -> str: ...

    def opening(self) -> Pieces:
        """What stands before every question, computed once."""

    def question(self, text: str, pictures: int = 0) -> Pieces: ...

    def observation(self, text: str) -> Pieces: ...


@dataclass(frozen=True)
class Plain:
    """Lines, as the renderer writes recorded runs: for models that were trained on none, behind a worked example."""

    preamble: str = ""
    after_thought: str = "\n"

    def opening(self) -> Pieces:
        return (Piece(self.preamble, is_markup=True),)

    def question(self, text: str, pictures: int = 0) -> Pieces:
        return (Piece(f"Question: {PICTURE * pictures}{literal(text)}\n"),)

    def observation(self, text: str) -> Pieces:
        return (Piece(f"\nObservation: {text}\n"),)


@dataclass(frozen=True)
class Chat:
    """The turns of a chat. Make one with `chat_of`; the fields are what the template writes between what is said."""

    system: str
    before_system: str
    before_question: str
    before_thought: str
    after_action: str
    after_observation: str
    after_thought: str = ""  # whatever should stand there, the model writes

    def opening(self) -> Pieces:
        return (
            Piece(self.before_system, is_markup=True),
            Piece(literal(self.system)),
            Piece(self.before_question, is_markup=True),
        )

    def question(self, text: str, pictures: int = 0) -> Pieces:
        asked = literal(text) + f"\n{PICTURE}" * pictures
        return (Piece(asked), Piece(self.before_thought, is_markup=True))

    def observation(self, text: str) -> Pieces:
        return (
            Piece(self.after_action, is_markup=True),
            Piece(f"<tool_response>\n{text}\n</tool_response>"),
            Piece(self.after_observation, is_markup=True),
        )


def chat_of(tokenizer: Any, system: str, name: str) -> Chat:
    """The chat of a tokenizer's own template. ModelUnavailable where it has none, or one that loses what is said."""
    if not getattr(tokenizer, "chat_template", None):
        raise ModelUnavailable(
            f"{name} has no chat template; take an instruct model, or ask plainly (--prompt plain)"
        )
    try:
        return _with_system(tokenizer, system)
    except (TemplateError, ValueError):
        pass
    try:
        return _without_system(tokenizer, system)
    except (TemplateError, ValueError) as error:
        raise ModelUnavailable(
            f"the chat template of {name} cannot be used ({error}); ask plainly (--prompt plain)"
        ) from error


def _with_system(tokenizer: Any, system: str) -> Chat:
    opening = [_message("system", SYSTEM), _message("user", ASKED)]
    before_system, before_question, before_thought = _between(tokenizer, opening, (SYSTEM, ASKED))
    return Chat(system, before_system, before_question, before_thought, *_turn(tokenizer, opening))


def _without_system(tokenizer: Any, system: str) -> Chat:
    """For templates that refuse a system's words: they stand at the head of the question."""
    opening = [_message("user", ASKED)]
    before, before_thought = _between(tokenizer, opening, (ASKED,))
    return Chat(system, before, "\n\n", before_thought, *_turn(tokenizer, opening))


def _turn(tokenizer: Any, opening: list[dict[str, str]]) -> tuple[str, str]:
    """What the template writes after an action, and after the observation that follows."""
    run = [*opening, _message("assistant", SAID), _message("user", SEEN)]
    _, after_action, after_observation = _between(tokenizer, run, (SAID, SEEN))
    return after_action, after_observation


def _between(
    tokenizer: Any, messages: list[dict[str, str]], said: Sequence[str]
) -> tuple[str, ...]:
    """What stands before, between and behind what is said. ValueError where something is not there once."""
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    parts = []
    for one in said:
        before, found, text = text.partition(one)
        if not found or one in text:
            raise ValueError("it does not repeat each message once")
        parts.append(before)
    return (*parts, text)


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}
