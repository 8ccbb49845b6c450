"""Whether an answer is right by its words: exact match, token F1, and InfoSeek's relaxed numbers.

Normalisation is that of SQuAD v1.1's script, F1 that of HotpotQA's, numbers go by InfoSeek's (github.com/edchengg/infoseek_eval, commit
c8ef023). Knows no benchmark, no model and no judge. Without truths nothing is right.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

OPENING, CLOSING = "<answer>", "</answer>"
ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)
ALL_OR_NOTHING = frozenset({"yes", "no", "noanswer"})  # no partial credit for these

TOLERANCE = 0.1  # either side of a number that has no range of its own
OVERLAP = 0.5  # of two ranges: intersection over union
ROUNDING = 1e-12
# a sign after a digit is a dash: 9-10 are nine and ten
NUMBER = re.compile(r"(?:(?<!\d)[-+])?(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
BETWEEN = re.compile(r"\s*(?:-|\u2013|to)\s*")  # the two ends of a range
YEAR = re.compile(r"[12]\d{3}")


class Span(NamedTuple):
    """A truth that is a quantity: every number from `low` to `high`, both included."""

    low: float
    high: float


def last_answer(text: str) -> str | None:
    """What stands in the last whole <answer>...</answer> of `text`, stripped; None where there is none."""
    for part in reversed(text.split(CLOSING)[:-1]):
        _, opened, answer = part.rpartition(OPENING)
        if opened:
            return answer.strip()
    return None


def normalised(text: str) -> str:
    """Lower case, no ASCII punctuation, no English articles, single spaces: SQuAD v1.1's."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def exact_match(answer: str, truths: Sequence[str]) -> bool:
    """Whether `answer` is any of `truths` once both are normalised.

    Where nothing is left of one, as of the choice "A", both are compared unnormalised, but for case: an empty answer is not "A".
    """
    return any(_comparable(answer, truth) == _comparable(truth, answer) for truth in truths)


def token_f1(answer: str, truths: Sequence[str]) -> float:
    """The best F1 of `answer`'s words with those of any of `truths`, 0 to 1.

    "yes", "no" and "noanswer" match wholly or not at all, as in HotpotQA.
    """
    return max((_f1(normalised(answer), normalised(truth)) for truth in truths), default=0.0)


def relaxed_match(answer: str, truths: Sequence[str | Span]) -> bool:
    """Exact match, or the number in `answer` fits a truth that is one: within 10 % of it, or inside its range.

    An answer's first number counts, or its first two as a range where they ascend; a range fits if it lies inside the truth's, or if the
    two overlap by half of their union. A truth is a quantity if it is a Span, or nothing but a number or a range ("120-170").
    Bare years are none: InfoSeek compares times exactly, and its unified rows do not say which kind a question is of. Where InfoSeek's
    script takes an answer without numbers for zero, and lets nothing match a number below zero, this does neither.
    """
    if exact_match(answer, [truth for truth in truths if isinstance(truth, str)]):
        return True
    found = _first_numbers(answer)
    spans = [truth if isinstance(truth, Span) else _quantity(truth) for truth in truths]
    return found is not None and any(span and _fits(found, span) for span in spans)


def _comparable(text: str, other: str) -> str:
    is_normal = normalised(text) and normalised(other)
    return normalised(text) if is_normal else text.strip().lower()


def _f1(answer: str, truth: str) -> float:
    if answer != truth and ALL_OR_NOTHING & {answer, truth}:
        return 0.0
    words, expected = answer.split(), truth.split()
    common = (Counter(words) & Counter(expected)).total()
    return 2 * common / (len(words) + len(expected)) if common else 0.0


def _first_numbers(text: str) -> Span | None:
    """The first number, or the first two where they ascend."""
    numbers = [_number(found) for found in NUMBER.findall(text)[:2]]
    if not numbers:
        return None
    first, last = numbers[0], numbers[-1]
    return Span(first, last) if first <= last else Span(first, first)


def _quantity(truth: str) -> Span | None:
    """What a truth allows that is nothing but a number or a range; None for any other."""
    ends = [end.strip() for end in _ends(truth.strip())]
    if not all(NUMBER.fullmatch(end) for end in ends) or all(YEAR.fullmatch(end) for end in ends):
        return None
    low, high = min(map(_number, ends)), max(map(_number, ends))
    if len(ends) == 2:
        return Span(low, high)
    return Span(low - TOLERANCE * abs(low), low + TOLERANCE * abs(low))


def _ends(text: str) -> list[str]:
    """The two ends of a range, or `text` itself."""
    first = NUMBER.match(text)
    between = first and BETWEEN.match(text, first.end())
    return [text[: first.end()], text[between.end() :]] if first and between else [text]


def _fits(found: Span, span: Span) -> bool:
    if span.low <= found.low and found.high <= span.high:
        return True
    shared = max(0.0, min(found.high, span.high) - max(found.low, span.low))
    union = (found.high - found.low) + (span.high - span.low) - shared
    return union > 0 and shared / union >= OVERLAP - ROUNDING


def _number(text: str) -> float:
    return float(text.replace(",", ""))
