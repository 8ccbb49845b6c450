"""Yours to fill in: the tools that the agent's calls reach, and what its answer is worth."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
ARTICLE = re.compile(r"\b(?:a|an|the)\b")


async def call(name: str, arguments: Mapping[str, Any]) -> str:
    """What the tool answers, as text, an error included; an exception ends the training."""
    raise NotImplementedError(f"tools.py: let `call` run the tool {name!r}, then start again")


def reward(text: str, answers: Sequence[str]) -> float:
    """1 where the answer in the run's last words is one that is known, case, articles and punctuation aside."""
    found = ANSWER.findall(text)
    return float(bool(found) and _bare(found[-1]) in {_bare(str(one)) for one in answers})


def _bare(text: str) -> str:
    return " ".join(ARTICLE.sub(" ", re.sub(r"[^\w\s]", " ", text.lower())).split())
