"""Cues, as data: the English words by which the lint tells what a sentence says, beyond those that splitting goes by.

The cues of what is known or missing and of what is done next are those of split.py (English and Chinese); a candidate is
short, so here count a few more that would be too common in a long thought. They know no trace and no tool.
"""

import re

from .split import IS_DONE, IS_STATE, IS_STEP

SAYS_TOO = re.compile(
    r"\b(?:I|we)(?: (?:now|just))? (?:find|learned|identified|gathered|determined|checked|verified|tried|recogni[sz]e|understand)\b"
    r"|\b(?:clear|clearly|visible|enough|sufficient|certain|sure|says?|states?|tells?|mentions?|answers?)\b"
    r"|\b(?:neither|never|without|unsure|uncertain|incomplete|insufficient|ambiguous|empty|irrelevant|needs?|needed|hard to)\b"
    r"|不",
    re.IGNORECASE,
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
JOINED = re.compile(
    r"[,;]?\s+(?:and|then|next)\s+(?:(?:then|next|also|finally|after that|afterwards?)\s+)*"
    r"(?:(?:I|we)\s+(?:\w+\s+)?)?(?:to\s+)?(?P<verb>\w+)",
    re.IGNORECASE,
)


def says(text: str) -> bool:
    """Whether `text` tells what is known or missing, or what is done next; English and Chinese."""
    return any(cues.search(text) for cues in (IS_STEP, IS_STATE, IS_DONE, SAYS_TOO))
