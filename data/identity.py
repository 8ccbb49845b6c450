"""Canonical text, content-based ids and the split of questions.

Ids depend on content only, so an import is idempotent and a set is the same on any machine and in
any row order. Splits are by question over all sources at once, since the same question stands in many files.
"""

import json
import unicodedata
from enum import StrEnum
from hashlib import blake2b
from typing import Any


class Split(StrEnum):
    """What a question may be used for. Mining, choosing and calibrating never read TEST."""

    MINE = "mine"
    CHOOSE = "choose"
    TEST = "test"


def canonical(text: str) -> str:
    """NFC with white space folded: texts that read the same compare equal."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def content_id(prefix: str, content: Any) -> str:
    """`prefix_` and 16 hex digits of the BLAKE2b hash of `content` (JSON with sorted keys)."""
    payload = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"{prefix}_{blake2b(payload.encode(), digest_size=8).hexdigest()}"


def candidate_id(text: str) -> str:
    """The id a candidate gets when it is first made; it keeps it when reworded."""
    return content_id("c", canonical(text))


def split_of(question: str) -> Split:
    """MINE for 50 % of questions, CHOOSE for 20 %, TEST for 30 %, by hash of the folded question."""
    digest = blake2b(canonical(question).casefold().encode("utf-8", "replace"), digest_size=8)
    share = int.from_bytes(digest.digest(), "big") / 2**64
    if share < 0.5:
        return Split.MINE
    return Split.CHOOSE if share < 0.7 else Split.TEST
