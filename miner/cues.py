"""Cues, as data: the English words by which a sentence says what is known, what is missing, and what is done next.

Regular expressions, matched without regard to case at a word's beginning. They know no trace and no tool. Another
language is another table; until there is one, texts in it are told to be unchecked (`is_english`), never to be wrong.
"""

import re

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

KNOWN = (
    r"I (?:already |now )?(?:know|have|recogni[sz]e|understand|can (?:see|tell)|see|remember)",
    r"I(?:'ve| have)? (?:just )?(?:found|find|learned|identified|confirmed|gathered|determined|checked|verified|tried)",
    r"(?:contains?|shows?|says?|states?|tells?|confirms?|suggests?|mentions?|provides?|answers?|matches)",
    r"(?:clear|clearly|visible|enough|sufficient|already|certain|sure|known|done|complete|found|works?|worked)",
)
MISSING = (
    r"(?:not|no|nothing|none|neither|never|without|cannot|unable|failed|fails?|wrong)",
    r"\w+n['’]t",
    r"(?:missing|unclear|unknown|unsure|uncertain|incomplete|insufficient|ambiguous|empty|irrelevant)",
    r"(?:need|needs|needed|lack|lacks|still|too (?:small|large|many|few|long|short|hard)|hard to)",
)
NEXT = (
    r"I (?:now |also |first |then )?(?:should|must|will|shall|can|could|may|would|want to|need to|have to|ought to)",
    r"I(?:['’]ll|['’]d better| am going to|['’]m going to)",
    r"(?:let me|let us|let['’]s)",
    r"(?:next|my (?:next )?step|it is (?:time|best|better) to|the (?:best|next) (?:thing|step))",
)
ACTION_VERBS = frozenset(
    "answer ask browse buy calculate call check choose click combine compare compute confirm consult continue count "
    "determine edit examine explore extract fetch find finish fix get give go identify inspect list locate look narrow "
    "open pick place plan provide put query read refine rephrase report respond retrieve retry return review rewrite "
    "run scroll search select solve stop submit summarise summarize take test think translate try type update use "
    "verify visit wait work write zoom".split()
)
FIRST_PERSON = frozenset("i i'll i've i'm i'd my me myself we we'll we've our us let let's".split())
PERSONS = frozenset("he she his her hers him himself herself".split())
THINGS = frozenset("they their theirs them themselves its itself".split())
DANGLING_START = frozenset("and but or because which so then it that".split())
DANGLING_END = frozenset(
    "a an and as at because but for from if into nor of or since than the though to unless until "
    "when where whether which while who with".split()
)
MAY_DOUBLE = frozenset("had that".split())  # "that that" is English
ENGLISH_SHARE = 0.2  # of function words; sentences that name no instance hold at least .4, lists of names under .2

SAYS = re.compile(rf"\b(?:{'|'.join(KNOWN + MISSING + NEXT)})(?!\w)", re.IGNORECASE)
STEP = re.compile(rf"\b(?:{NEXT[0]}|{NEXT[1]}|{NEXT[2]})(?!\w)", re.IGNORECASE)
JOINED = re.compile(
    r"[,;]?\s+(?:and|then|next)\s+(?:(?:then|next|also|finally|after that|afterwards?)\s+)*"
    r"(?:(?:I|we)\s+(?:\w+\s+)?)?(?:to\s+)?(?P<verb>\w+)",
    re.IGNORECASE,
)


def is_english(words: list[str]) -> bool:
    """Whether enough of the case-folded `words` are English function words; a text of names alone is not."""
    if not words or not all(word.isascii() for word in words):
        return (
            bool(words) and _share(words) >= 2 * ENGLISH_SHARE
        )  # "naïve" may stand in an English text
    return _share(words) >= ENGLISH_SHARE


def _share(words: list[str]) -> float:
    parts = [part for word in words for part in word.split("'")[:1]]
    return sum(part in ENGLISH_STOP_WORDS for part in parts) / len(parts)
