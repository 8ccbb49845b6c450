"""Questions that two arms were asked, with the tokens that stand before the first thought: what ratings are taught and measured on.

Out of the tables that utility routing reads. Those of a bench tell the tokens themselves; a wide CSV tells a question, which is written down plainly.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ....data.errors import NothingToDo
from ....data.identity import Split, canonical, split_of
from ...model import LanguageModel
from ...trie import Ids
from ..outcome_files import files_of, read_outcomes
from ..outcomes import InvalidRoutingTable, Outcomes
from .share_curve import TwoArms

Json = Mapping[str, Any]


class ArmNames(NamedTuple):
    """The cheap arm, whose own chance is rated, and the stronger one."""

    small: str
    large: str


class RatedQuestions(NamedTuple):
    """Questions of one split: `trunks` are their tokens, `arms` what came of them."""

    trunks: tuple[Ids, ...]
    arms: TwoArms


class RatedTable(NamedTuple):
    """By split; `left_out` counts the questions that one arm was not asked, or whose tokens nobody told."""

    splits: Mapping[Split, RatedQuestions]
    left_out: int


def read_rated(
    paths: Sequence[Path], names: ArmNames, model: LanguageModel, most: Mapping[Split, int | None]
) -> RatedTable:
    """At most `most` questions a split (None: all), the first in the order of their hash, each question once.

    InvalidRoutingTable for a table that cannot be used, NothingToDo where a split has no question that both arms were asked.
    """
    if names.small == names.large:
        raise InvalidRoutingTable(f"{names.small}: is named as both arms; name two")
    table = read_outcomes(paths).with_arms(names)
    told = _prompts(paths, names.small)
    rows = _rows(table, told, model)
    if not rows:
        raise NothingToDo(
            f"{paths[0]}: no question that both {names.small} and {names.large} were asked has tokens to rate after; play some without pictures"
        )
    return RatedTable(
        {split: _part(table, rows, split, size) for split, size in most.items()},
        table.left_out + len(table.ids) - len(rows),
    )


def _rows(table: Outcomes, told: Mapping[str, Ids] | None, model: LanguageModel) -> dict[int, Ids]:
    """By the places of rows that can be used, their tokens."""
    whole = np.asarray(table.available.all(axis=1))
    seen: set[str] = set()
    found = {}
    for place, (id, question) in enumerate(zip(table.ids, table.questions, strict=True)):
        trunk = plainly(model, question) if told is None else told.get(id, ())
        if whole[place] and trunk and canonical(question) not in seen:
            seen.add(canonical(question))
            found[place] = trunk
    return found


def plainly(model: LanguageModel, question: str) -> Ids:
    """A question's tokens where nothing stands before it."""
    return tuple(model.encode(f"Question: {question}\n"))


def _part(
    table: Outcomes, rows: Mapping[int, Ids], split: Split, size: int | None
) -> RatedQuestions:
    own = [place for place in rows if split_of(table.questions[place]) is split]
    own = sorted(own, key=lambda place: _hash(table.questions[place]))[:size]
    if not own:
        raise NothingToDo(
            f"none of {len(rows)} questions falls to {split}; teaching, choosing and testing need some each, best hundreds"
        )
    arms = TwoArms(table.quality[own], table.cost[own])
    return RatedQuestions(tuple(rows[place] for place in own), arms)


def _hash(question: str) -> bytes:
    return blake2b(canonical(question).encode("utf-8", "replace"), digest_size=8).digest()


def _prompts(paths: Sequence[Path], mode: str) -> dict[str, Ids] | None:
    """By the ids that a table of records gives them; None where the table is no bench's."""
    files = [file for path in paths for file in files_of(path) if file.suffix == ".jsonl"]
    if not files:
        return None
    found = {}
    for file in files:
        for line in filter(None, file.read_text("utf-8").splitlines()):
            one = json.loads(line)
            if one["mode"] == mode and not one.get("arm"):
                found[f"{file.parent.name}/{one['id']}"] = tuple(one.get("prompt") or ())
    return found


def successes(questions: RatedQuestions) -> list[list[float]]:
    """(n, 2), as lessons of two scales take them."""
    return np.asarray(questions.arms.success).tolist()
