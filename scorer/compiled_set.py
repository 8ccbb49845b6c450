"""A candidate set made ready for one model: token ids, lengths, and everything that would make its scores lie.

Candidate k is `<thinking>TEXT</thinking>` tokenised alone and joined to the context as ids, as in SSR; where the tokenizer
has the delimiters as single tokens, as those. The context's
keys and values are read by all candidates, so its last tokens cannot depend on which candidate follows: joining
ids is the only definition that can be shared, and the one that an agent lives by, whose context is ids
already. Whoever tokenises context and candidate as one string (a trainer that is given text) may get other
tokens where the two meet. That is no error of the set, and moving characters from one side to the other would only move
it; so it is told (`seams`), and the remedy is a context that ends in a single newline or a special token.

The trie is compiled, and remembered, by trie.py when the set is scored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..data.candidates import check_text
from ..data.errors import InvalidCandidate, NothingToDo
from ..data.identity import canonical
from ..data.render import render_thought
from .model import LanguageModel
from .selection import Normalisation
from .tokenizer import special_tokens
from .trie import Ids

# What render_context ends with: a question, an observation, an action, each with its newline. White space before
# that newline (an empty observation, say) merges with it in most tokenizers; ask `seams` about a context at hand.
TAILS = ("Question: Who?\n", "Observation: It was 1984.\n", '"}}</tool_call>\n')
MOST_REMEMBERED = 32  # sets a model


@dataclass(frozen=True, eq=False)
class CompiledSet:
    """The candidates' tokens, delimiters included, in the set's order; no two alike, none the beginning of another.

    `seams` are the places of candidates that would be tokenised otherwise together with the end of a
    rendered context.
    """

    texts: tuple[str, ...]
    ids: tuple[Ids, ...]
    num_tokens: np.ndarray  # (candidates,)
    num_bytes: np.ndarray  # (candidates,) UTF-8, delimiters included
    seams: tuple[int, ...]

    def divisors(self, normalisation: Normalisation) -> np.ndarray:
        """(candidates,) what turns summed log-probabilities into scores."""
        return normalisation.divisors(self.num_tokens, self.num_bytes)


def compile_set(model: LanguageModel, texts: Sequence[str]) -> CompiledSet:
    """The set, compiled once for each model and remembered.

    NothingToDo for an empty one. InvalidCandidate, which names the candidate, for reserved tags, special tokens
    written as text, characters the tokenizer has no token for, and two candidates of which one is, or begins, the other.
    """
    remembered = _REMEMBERED.setdefault(model, {})
    key = tuple(texts)
    if key not in remembered:
        compiled = _compile(model, key)
        while len(remembered) >= MOST_REMEMBERED:
            del remembered[next(iter(remembered))]
        remembered[key] = compiled
    return remembered[key]


def candidate_ids(model: LanguageModel, texts: Sequence[str]) -> tuple[Ids, ...]:
    """The tokens of each text, delimiters included; nothing is checked, so any thought may stand there."""
    return tuple(tuple(model.encode(render_thought(text))) for text in texts)


def candidate_bytes(texts: Sequence[str]) -> tuple[int, ...]:
    """UTF-8 bytes of each text, delimiters included."""
    return tuple(len(render_thought(text).encode("utf-8", "replace")) for text in texts)


def seams(model: LanguageModel, tail: str, texts: Sequence[str]) -> tuple[int, ...]:
    """Places of the texts that `tail` + candidate, tokenised as one string, gives other ids for than one by one."""
    before = model.encode(tail)
    return tuple(
        place
        for place, text in enumerate(texts)
        if model.encode(tail + (own := render_thought(text))) != before + model.encode(own)
    )


_REMEMBERED: WeakKeyDictionary[LanguageModel, dict[tuple[str, ...], CompiledSet]] = (
    WeakKeyDictionary()
)


def _compile(model: LanguageModel, texts: tuple[str, ...]) -> CompiledSet:
    if not texts:
        raise NothingToDo("the set has no candidate to score; accept, write or mine some")
    special = special_tokens(model.tokenizer)
    for text in texts:
        _require_plain(text, special)
    ids = candidate_ids(model, texts)
    for text, own in zip(texts, ids, strict=True):
        _require_known(model.tokenizer, text, own)
    _require_apart(texts, ids)
    return CompiledSet(
        texts=texts,
        ids=ids,
        num_tokens=np.array([*map(len, ids)]),
        num_bytes=np.array(candidate_bytes(texts)),
        seams=tuple(sorted({place for tail in TAILS for place in seams(model, tail, texts)})),
    )


def _require_plain(text: str, special: Sequence[str]) -> None:
    check_text(text)
    for token in special:
        if token in text:
            raise InvalidCandidate(
                f"a candidate holds {token!r}, a special token of this model: {_short(text)}; reword it"
            )


def _require_known(tokenizer: Any, text: str, ids: Ids) -> None:
    unknown = getattr(tokenizer, "unk_token_id", None)
    if unknown in ids:
        raise InvalidCandidate(
            f"this model's tokenizer has no token for something in {_short(text)}; reword it"
        )


def _require_apart(texts: Sequence[str], ids: Sequence[Ids]) -> None:
    """No two alike, and none that begins another: what lies between the two in sorted order begins with it too."""
    order = sorted(range(len(ids)), key=lambda place: ids[place])
    for one, other in _pairs(order):
        if ids[one] == ids[other]:
            raise InvalidCandidate(
                f"two candidates are the same tokens: {_short(texts[one])} and {_short(texts[other])}; drop one"
            )
        if ids[other][: len(ids[one])] == ids[one]:
            raise InvalidCandidate(
                f"the tokens of {_short(texts[one])} begin those of {_short(texts[other])}: "
                "this tokenizer loses the end marker"
            )


def _pairs(order: Sequence[int]) -> Iterator[tuple[int, int]]:
    return zip(order, order[1:], strict=False)


def _short(text: str) -> str:
    return repr(canonical(text)[:80])
