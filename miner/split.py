"""Splitting: the part of a long thought that states what is known or missing and what to do next.

Knows cues of English and Chinese, as data; of any other language only that a thought ends in its next step. No model.
The sentences are the thought's own, in its order; linear in its length. docs/mining.md tells the rule and its figures.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .sentences import Sentence, sentences

LONGEST = 300  # size of a core, and of a thought that stays whole: about 60 tokens
MOST_SENTENCES = 3
WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
WIDTH = 3  # a CJK character says as much, and takes as many tokens, as about three Latin ones
NEAR = 3  # sentences before the step in which its reason is looked for
TERSE = 80  # size of a step that says too little alone: "Let me do that."
CLAUSE_END = re.compile(r"[,;:](?=\s)|[，；：、]")
FULL_STOPS = "。！？"  # after which no blank is due
SPACE = re.compile(r"\s")

STEP = {
    "en": r"\b(?:let me|let['’]?s|let us|I['’]?ll|I will|I['’]m going to|I am going to|next(?: step)?,|next (?:\w+ )?step"
    r"|(?:I|we)(?: (?:now|also|first|then|still|would|may|might|just|therefore|can|could))* (?:should|need to|must|have to|ought to|want to"
    r"|will|can|could|try|like to|plan to|decide to|would)|we['’]ll|(?:it(?: would)? be|is) (?:best|better|prudent|necessary) to"
    r"|now I|now (?:we|to)|first,? I|(?:should|could|can) be (?:used|searched|checked)|action seems|be the (?:most )?(?:appropriate|best|right) \w+|my (?:\w+ )?plan is to|we are (?:ready|going) to)\b",
    "zh": r"让我|(?:我|我们|咱们)(?:现在|首先|先|还|也|就|应该|可以)*(?:需要|应该|必须|得|要|将|会|来|再|打算|准备|决定|可以|想|先)"
    r"|接下来|下一步|现在(?:开始|需要|创建|来)|首先|开始(?:创建|搜索|查)|先(?:查|看|搜|加载|读)",
}
DONE = {
    "en": r"\b(?:answer (?:is|should|must)|(?:task|question|goal) (?:is|has been|can be) (?:complete|completed|done|answered)"
    r"|no further actions?|(?:I|we)(?:['’]ve| have) (?:now )?(?:all|enough|completed|finished|found the answer)|give up)\b"
    r"|(?:^|\n)(?:therefore|thus|hence|so,? the|in conclusion)\b",
    "zh": r"答案(?:是|为)|因此|所以|综上|任务.{0,6}完成|已经(?:创建|完成)|可以回答",
}
STATE = {
    "en": r"\b(?:not|no|none|nothing|cannot|\w+n['’]t|unable|fail(?:s|ed|ure)?|unsuccessful|unclear|unknown|missing|lacks?|wrong|error|issue"
    r"|problem|invalid|disabled|unfortunately|still|know|known|found|find that|shows?|showed|reveal(?:s|ed)?|indicat(?:es|ed|ing)|provid(?:es|ed)"
    r"|contain(?:s|ed)|match(?:es|ed)?|confirm(?:s|ed)?|(?:I|we) see|successful(?:ly)?|already|appears?|seems?|looks like|has been|have been|now (?:have|has)"
    r"|(?:I|we)(?:['’]ve| have)|too|however|only|available|returned|requires?|required)\b",
    "zh": r"没有|不(?:知道|清楚|存在|能|是|够)|未|无法|找不到|缺少|模糊|澄清|已经?|知道|找到|发现|显示|看起来|似乎|可能|失败|错误|结果|奇怪",
}
LATER = {  # a step after the next one
    "en": r"^\W*(?:(?:and )?then|after (?:that|this)|afterwards|finally|once|also|additionally|alternatively|by \w+ing"
    r"|this (?:will|way|should|would))\b|\b(?:I|we)(?: will|['’]ll| can| could| should| would| might) (?:then|also|finally)\b",
    "zh": r"然后|之后|最后|同时",
}
IDLE = {  # announces nothing and states nothing: thinking aloud, and what is said to whoever reads
    "en": r"\blet['’]?s? (?:me )?(?:think|see|say|assume|recap|summari[sz]e|know|(?:do a )?reflect\w*)\b|\bI can (?:now )?(?:see|tell)\b"
    r"|\bwe (?:should|might|may|will) see\b|\b(?:execute|follow) (?:this|the|my) (?:new )?plan\b|\b(?:start|begin|proceed) with (?:step|this|that)\b|\bwould (?:have|be able)\b|\b(?:help|assist|tell|show) you\b|\byou(?:['’]d| would)? (?:like|have any)\b",
    "zh": r"让我(?:先)?(?:想|思考|考虑)|我可以看到|您",
}


def _any(cues: dict[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(cues.values()), re.IGNORECASE)


IS_STEP, IS_DONE, IS_STATE, IS_LATER, IS_IDLE = map(_any, (STEP, DONE, STATE, LATER, IDLE))


@dataclass(frozen=True)
class Core:
    """The part kept, and where it stood: from `start` to `stop` in the whole, less what was dropped in between."""

    text: str
    start: int
    stop: int


def split(text: str) -> Core:
    """The core of a thought: at most MOST_SENTENCES sentences and LONGEST in size; a short thought is its own core.

    Empty only for a thought that is blank. Splitting a core gives the core.
    """
    if len(text) <= LONGEST and size(text) <= LONGEST:
        return Core(text, 0, len(text))
    spans = [piece for sentence in sentences(text) for piece in _pieces(text, sentence)]
    if not spans:  # all code, or no letters: its end
        stop = len(text.rstrip())
        spans = [*_pieces(text, Sentence(max(0, stop - LONGEST), stop, 0, is_item=False))]
    if not spans:
        return Core("", 0, 0)
    kept = _Reading(text, spans).core()
    return Core(_joined(text, kept), kept[0].start, kept[-1].stop)


def size(text: str) -> int:
    """Characters, wide ones counted WIDTH times."""
    return len(text) + (WIDTH - 1) * sum(1 for _ in WIDE.finditer(text))


class _Reading:
    """The sentences of a thought, and what each of them does; rows are indices of `spans`."""

    def __init__(self, text: str, spans: Sequence[Sentence]) -> None:
        self.spans = spans
        self.said = [text[span.start : span.stop] for span in spans]

    def core(self) -> list[Sentence]:
        rows = range(len(self.spans))
        steps = [row for row in rows if self._does(row, IS_STEP) or self._does(row, IS_DONE)]
        states = [row for row in rows if self._is_prose(row) and self._does(row, IS_STATE)]
        if steps:
            kept = self._around(self._next(steps), steps, states)
        elif states:
            kept = self._if_it_fits([*states[-1:], *self._after(states[-1])], states[-1:])
        else:
            kept = self._ending()
        return [self.spans[row] for row in kept]

    def _does(self, row: int, cues: re.Pattern[str]) -> bool:
        said = self.said[row]
        return cues.search(said) is not None and IS_IDLE.search(said) is None

    def _next(self, steps: Sequence[int]) -> int:
        """The last announcement that is not for later; of a list of them the first item."""
        near = [row for row in steps if steps[-1] - row <= NEAR]
        soon = [row for row in near if IS_LATER.search(self.said[row]) is None]
        step = max(soon, default=steps[-1])
        announced = set(steps)
        while step - 1 in announced and not (self._is_prose(step) or self._is_prose(step - 1)):
            step -= 1
        return step

    def _around(self, step: int, steps: Sequence[int], states: Sequence[int]) -> list[int]:
        """The step; near before it what is known or missing; right after it what is for later; else what a terse step refers to."""
        kept = [step]
        reasons = [row for row in states if step - NEAR <= row <= step]
        if reasons:
            kept = self._from(reasons[-1], step)
        later = [row for row in self._after(step) if IS_LATER.search(self.said[row])]
        kept = self._if_it_fits([*kept, *later], kept)
        if len(kept) == 1 and size(self.said[step]) < TERSE:
            kept = self._with_referred(step, steps)
        return kept

    def _with_referred(self, step: int, steps: Sequence[int]) -> list[int]:
        """A terse step with the announcement near before it, or else with the sentence before it."""
        near = [row for row in steps if step - NEAR <= row < step]
        just_before = [row for row in (step - 1,) if row >= 0 and self._is_prose(row)]
        return self._from([step, *just_before, *near][-1], step)

    def _from(self, row: int, step: int) -> list[int]:
        """The sentence and the step, with what stands between if all fits, alone the step if the two do not."""
        pair = self._if_it_fits(sorted({row, step}), [step])
        return self._if_it_fits([*range(row, step + 1)], pair)

    def _ending(self) -> list[int]:
        """The last two sentences of the last paragraph that is no list."""
        rows = range(len(self.spans))
        last = max(filter(self._is_prose, rows), default=rows[-1])
        before = [row for row in rows[max(0, last - 1) : last] if last in self._after(row)]
        return self._if_it_fits([*before, last], [last])

    def _is_prose(self, row: int) -> bool:
        return not self.spans[row].is_item

    def _after(self, row: int) -> list[int]:
        """The next sentence, if it is of the same paragraph, no item, and says something."""
        return [
            other
            for other in range(row + 1, min(row + 2, len(self.spans)))
            if self._is_prose(other)
            and self.spans[other].paragraph == self.spans[row].paragraph
            and IS_IDLE.search(self.said[other]) is None
        ]

    def _if_it_fits(self, rows: list[int], otherwise: list[int]) -> list[int]:
        length = sum(size(self.said[row]) for row in rows) + 2 * (len(rows) - 1)
        return rows if len(rows) <= MOST_SENTENCES and length <= LONGEST else otherwise


def _joined(text: str, kept: Sequence[Sentence]) -> str:
    """The sentences with the white space that stood between them; a blank where there was more, or none after a letter's stop."""
    parts = [text[kept[0].start : kept[0].stop]]
    for one, other in pairwise(kept):
        gap = text[one.stop : other.start]
        is_kept = (gap.isspace() and len(gap) <= 2) or (
            not gap and text[one.stop - 1] in FULL_STOPS
        )
        parts += [gap if is_kept else " ", text[other.start : other.stop]]
    return "".join(parts)


def _pieces(text: str, sentence: Sentence) -> Iterator[Sentence]:
    """The sentence; in clauses, packed as full as they may be, where it is longer than a core."""
    start = sentence.start
    while start < sentence.stop:
        window = text[start : min(start + LONGEST, sentence.stop)]
        if size(window) > LONGEST:
            window = window[: LONGEST // WIDTH]
        stop = start + len(window)
        if stop < sentence.stop:
            ends = [end.end() for end in CLAUSE_END.finditer(window)] or [
                end.end() for end in SPACE.finditer(window)
            ]
            stop = start + max(ends, default=len(window))
        if part := text[start:stop].strip():
            begin = text.index(part, start)
            yield sentence._replace(start=begin, stop=begin + len(part))
        start = stop
