"""The one renderer: how a trace becomes the text that a model reads, for audit, export and bench alike.

    Question: Q
    <thinking>T</thinking>
    <tool_call>{"name": "search", "arguments": {"input": "x"}}</tool_call>
    Observation: O
    <thinking>T</thinking>
    <answer>A</answer>

An action is rendered in two parts, its *beginning* (which fixes its kind) and the rest, so that a scorer can price
them apart. Knows no tokenizer: whoever needs a budget hands in a function that counts tokens.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from .identity import Split
from .traces import ANSWER, Action, Outcome, Trace, Turn

CONTEXT_TOKENS = 2048
OMITTED = "[omitted]"
OPENING, CLOSING = "<thinking>", "</thinking>"
NEUTRAL = (
    "Let me think about this for a moment before I continue.",
    "I will now take the next step in this task.",
    "Let me go on with the question.",
    "I should continue with what comes next.",
    "Okay, here is what I will do now.",
)


@dataclass(frozen=True)
class RenderedAction:
    """An action's text in two parts; `beginning + rest` is the whole."""

    beginning: str
    rest: str

    @property
    def text(self) -> str:
        return self.beginning + self.rest


def render_thought(text: str) -> str:
    """The thought as SSR's models write it, without a newline."""
    return f"{OPENING}{text}{CLOSING}"


def render_action(action: Action) -> RenderedAction:
    """`<answer>A</answer>` for an answer, else a `<tool_call>` with the tool's own name."""
    if action.kind == ANSWER:
        return RenderedAction("<answer>", f"{answer_text(action)}</answer>")
    name = json.dumps(action.name, ensure_ascii=False)
    arguments = json.dumps(dict(action.arguments), ensure_ascii=False)
    return RenderedAction(
        f'<tool_call>{{"name": {name}', f', "arguments": {arguments}}}</tool_call>'
    )


def render_context(
    trace: Trace,
    index: int,
    thoughts: Mapping[int, str] | None = None,
    count_tokens: Callable[[str], int] | None = None,
    budget: int = CONTEXT_TOKENS,
) -> str:
    """All that precedes the thought of turn `index`, ending in a newline.

    `thoughts` replaces the recorded thoughts of earlier turns (by turn index; a turn without one has none): labels on export.
    Over `budget` tokens, counted turn by turn, the oldest observations are omitted first, then the oldest turns.
    """
    head = f"Question: {trace.question}\n"
    turns = [_with_thought(turn, i, thoughts) for i, turn in enumerate(trace.turns[:index])]
    pieces = [_render_turn(turn) for turn in turns]
    if count_tokens is None:
        return head + "".join(pieces)
    size = count_tokens(head) + sum(map(count_tokens, pieces))
    for oldest, turn in enumerate(turns):
        if size <= budget:
            break
        shorter = _render_turn(_without_observations(turn))
        size += count_tokens(shorter) - count_tokens(pieces[oldest])
        pieces[oldest] = shorter
    while pieces and size > budget:
        size -= count_tokens(pieces.pop(0))
    return head + "".join(pieces)


def render_trace(trace: Trace) -> str:
    """The whole run, its last action included."""
    return f"Question: {trace.question}\n" + "".join(map(_render_turn, trace.turns))


def worked_example(traces: Iterable[Trace], number: int = 1, without: Iterable[str] = ()) -> str:
    """The shortest successful *mine* trace with at least two kinds of action, rendered; "" where there is none.

    Stands before the question of every audited turn of its source: an untrained model does not know the format otherwise.
    Of a higher `number` the shortest so many, a blank line between two. No thought of them repeats any of the texts `without`,
    whatever their case and last stop.
    """
    avoided = {_bare(text) for text in without}
    texts = {
        render_trace(trace)
        for trace in traces
        if trace.split is Split.MINE
        and trace.outcome is Outcome.SUCCESS
        and all(turn.is_plain for turn in trace.turns)
        and len({action.kind for turn in trace.turns for action in turn.actions}) > 1
        and not _repeats(trace, avoided)
    }
    return "\n".join(sorted(texts, key=lambda text: (len(text), text))[:number])


def kind_beginnings(traces: Iterable[Trace]) -> dict[str, str]:
    """The rendered beginning of every kind of action in `traces`, in its most frequent spelling."""
    spellings: dict[str, Counter[str]] = {}
    for action in (a for trace in traces for turn in trace.turns for a in turn.actions):
        spellings.setdefault(action.kind, Counter())[render_action(action).beginning] += 1
    return {
        kind: min(counts, key=lambda text: (-counts[text], text))
        for kind, counts in sorted(spellings.items())
    }


def _render_turn(turn: Turn) -> str:
    lines = [render_thought(thought) for thought in turn.thoughts]
    for i, action in enumerate(turn.actions):
        lines.append(render_action(action).text)
        if action.kind != ANSWER or turn.observations[i : i + 1] not in ((), ("",)):
            lines.append(
                f"Observation: {turn.observations[i] if i < len(turn.observations) else ''}"
            )
    return "".join(f"{line}\n" for line in lines)


def _repeats(trace: Trace, avoided: Iterable[str]) -> bool:
    thoughts = [_bare(thought) for turn in trace.turns for thought in turn.thoughts]
    return any(text in thought for text in avoided for thought in thoughts)


def _bare(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".!?")


def _with_thought(turn: Turn, index: int, thoughts: Mapping[int, str] | None) -> Turn:
    if thoughts is None:
        return turn
    return replace(turn, thoughts=(thoughts[index],) if index in thoughts else ())


def _without_observations(turn: Turn) -> Turn:
    return replace(turn, observations=tuple(OMITTED for _ in turn.observations))


def answer_text(action: Action) -> str:
    """What an action that answers says, whichever argument holds it."""
    for key in ("input", "answer", "content", "text"):
        if isinstance(action.arguments.get(key), str):
            return action.arguments[key]
    return json.dumps(dict(action.arguments), ensure_ascii=False) if action.arguments else ""
