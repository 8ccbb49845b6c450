"""verl's reward of an answer: 1 where it is one of those that successful runs gave. Case, articles and punctuation do not count."""

import re
from collections.abc import Sequence
from typing import Any

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def compute_score(
    data_source: str, solution_str: str, ground_truth: Sequence[str] | str, extra_info: Any = None
) -> float:
    """verl hands in the text of the whole run, whose last answer counts."""
    answers = ANSWER.findall(solution_str)
    truths = [ground_truth] if isinstance(ground_truth, str) else list(ground_truth)
    return float(bool(answers) and _bare(answers[-1]) in {_bare(str(truth)) for truth in truths})


def _bare(text: str) -> str:
    return " ".join(ARTICLE.sub(" ", re.sub(r"[^\w\s]", " ", text.lower())).split())
