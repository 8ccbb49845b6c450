"""A real network that says whole phrases, by what was said last: for agents whose every word is planned.

A phrase is one token; all else is written byte by byte. `after` maps what was last (a phrase or a character) to the phrase that follows it.
"""

import re
from types import SimpleNamespace

import torch
from scripted_models import scripted_model

from forethought.scorer.model import LanguageModel

BYTES = 256
CERTAIN = 800.0


class PhraseTokenizer:
    """Ids are UTF-8 bytes, and the phrases after them."""

    def __init__(self, phrases: list[str]) -> None:
        self.phrases = phrases
        self._parts = re.compile("|".join(map(re.escape, phrases)) + "|.", re.DOTALL)

    def __call__(self, text, **_options):
        ids: list[int] = []
        for part in self._parts.findall(text):
            known = part in self.phrases
            ids += [BYTES + self.phrases.index(part)] if known else part.encode()
        return SimpleNamespace(input_ids=ids)

    def decode(self, ids, **_options):
        parts = [self.phrases[i - BYTES].encode() if i >= BYTES else bytes([i]) for i in ids]
        return b"".join(parts).decode("utf-8", "replace")


def speaking_model(after: dict[str, str]) -> LanguageModel:
    """All that is not planned is equally likely."""
    phrases = sorted({*after.values(), *(last for last in after if len(last) > 1)})
    tokenizer = PhraseTokenizer(phrases)
    logits = torch.zeros(BYTES + len(phrases), BYTES + len(phrases))
    for last, following in after.items():
        (row,), (column,) = tokenizer(last).input_ids, tokenizer(following).input_ids
        logits[row, column] = CERTAIN
    return scripted_model(logits, tokenizer)
