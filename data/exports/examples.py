"""What is trained at a time: a labelled turn after all that precedes it, or the labelled turns of a trace together.

Makes conversations that fit: within a budget of tokens, and with every picture there. What does not fit is left out with the
reason. Knows no trainer.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..render import CONTEXT_TOKENS, render_context
from ..traces import Trace
from .conversation import (
    Conversation,
    Form,
    Message,
    Repair,
    Role,
    conversation_of,
    plain_conversation_of,
)
from .labelled import LabelledTrace, LabelledTraces, LeftOut, TurnScope
from .picture_files import PictureFolder
from .row_shape import Unit

CHAT_TOKENS = 8192  # of a whole conversation, unless the user says otherwise
MESSAGE_TOKENS = 8  # what a template writes around a message, at most


@dataclass(frozen=True)
class Example:
    """A conversation that ends with the last of `turns`, indices into its trace, all of them labelled."""

    labelled: LabelledTrace
    turns: tuple[int, ...]
    conversation: Conversation


@dataclass(frozen=True)
class Writing:
    """How a trace is written down: the form, the system's words in a chat, how long it may be, where its pictures are."""

    form: Form = Form.CHAT
    system: Callable[[Trace], str] = lambda trace: ""
    scope: TurnScope = TurnScope()
    pictures: PictureFolder = field(default_factory=PictureFolder)
    shows_pictures: bool = True  # to a trainer that reads them

    @property
    def budget(self) -> int:
        usual = CHAT_TOKENS if self.form is Form.CHAT else CONTEXT_TOKENS
        return usual if self.scope.budget is None else self.scope.budget

    def fitted(self, labelled: LabelledTrace, until: int) -> Conversation | LeftOut:
        """What ends with turn `until`; too long, it loses its oldest observations first."""
        if self.form is Form.PLAIN:
            return plain_conversation_of(labelled, until, self._context)
        system = self.system(labelled.trace)
        fitted = conversation_of(labelled, system, until)
        if (unseen := self._unseen(fitted)) is not None:
            return unseen
        omitted = 0
        while not self._fits(fitted):
            omitted += 1
            if omitted > until:
                return LeftOut.TOO_LONG
            fitted = conversation_of(labelled, system, until, omitted)
        return fitted

    def asked(self, labelled: LabelledTrace) -> Conversation | LeftOut:
        """What precedes the agent's first words."""
        if self.form is Form.PLAIN:
            text = render_context(labelled.trace, 0)
            return Conversation((Message(Role.USER, text),))
        whole = conversation_of(labelled, self.system(labelled.trace))
        roles = [one.role for one in whole.messages]
        start = roles.index(Role.ASSISTANT) if Role.ASSISTANT in roles else len(roles)
        asked = Conversation(whole.messages[:start], whole.repairs)
        if (unseen := self._unseen(asked)) is not None:
            return unseen
        return asked if self._fits(asked) else LeftOut.TOO_LONG

    def _unseen(self, conversation: Conversation) -> LeftOut | None:
        if conversation.pictures and not self.shows_pictures:
            return LeftOut.UNREAD
        is_whole = all(map(self.pictures.has, conversation.pictures))
        return None if is_whole else LeftOut.NO_PICTURE

    def _context(self, labelled: LabelledTrace, index: int) -> str:
        count = self.scope.count_tokens
        return render_context(labelled.trace, index, labelled.thoughts, count, self.budget)

    def _fits(self, conversation: Conversation) -> bool:
        count = self.scope.count_tokens
        if count is None:
            return True
        sizes = [count(one.text) + MESSAGE_TOKENS for one in conversation.messages]
        return sum(sizes) <= self.budget


@dataclass
class Examples:
    """`left_out` and the turns of `made` add up to the turns given."""

    made: list[Example] = field(default_factory=list)
    left_out: Counter[LeftOut] = field(default_factory=Counter)

    @property
    def repairs(self) -> Counter[Repair]:
        """Over all conversations: a text that stands in several counts in each."""
        return sum((one.conversation.repairs for one in self.made), Counter())

    @property
    def pictures(self) -> list[str]:
        names = (name for one in self.made for name in one.conversation.pictures)
        return list(dict.fromkeys(names))

    @property
    def num_turns(self) -> int:
        return sum(len(one.turns) for one in self.made)


def examples_of(labelled: LabelledTraces, unit: Unit, writing: Writing) -> Examples:
    """In the traces' order."""
    examples = Examples(left_out=Counter(labelled.left_out))
    for one in labelled.traces:
        if unit is Unit.TURN:
            _add_turns(one, writing, examples)
        else:
            _add_trace(one, writing, examples)
    return examples


def _add_turns(labelled: LabelledTrace, writing: Writing, examples: Examples) -> None:
    for index in labelled.labels:
        fitted = writing.fitted(labelled, index)
        if isinstance(fitted, LeftOut):
            examples.left_out[fitted] += 1
        else:
            examples.made.append(Example(labelled, (index,), fitted))


def _add_trace(labelled: LabelledTrace, writing: Writing, examples: Examples) -> None:
    """The longest beginning that can be used: whoever trains every message would train those without a label, too."""
    usable = list(_before_gap(labelled))
    examples.left_out[LeftOut.BEHIND] += len(labelled.labels) - len(usable)
    while usable:
        fitted = writing.fitted(labelled, usable[-1])
        if not isinstance(fitted, LeftOut):
            examples.made.append(Example(labelled, tuple(usable), fitted))
            break
        examples.left_out[fitted] += 1
        usable.pop()
    examples.left_out = +examples.left_out


def _before_gap(labelled: LabelledTrace) -> Iterator[int]:
    for index, turn in enumerate(labelled.trace.turns):
        if index in labelled.labels:
            yield index
        elif turn.actions:
            return
