"""Families as a service: a set's candidates in two levels, by the store's *mine* turns."""

from typing import Any

import numpy as np

from ..data.candidates import CandidateSet
from ..data.errors import NothingToDo
from ..miner.families import Family, families, likeness
from .corpus import Corpus


def families_of(corpus: Corpus, candidate_set: CandidateSet) -> tuple[Family, ...]:
    """Of the active candidates; NothingToDo where there are none."""
    active = candidate_set.active
    if not active:
        raise NothingToDo(
            f"set {candidate_set.name!r} has no active candidate; accept or mine some"
        )
    texts = [candidate.text for candidate in active]
    rows = corpus.assigner.rows(corpus.thoughts)
    counts = rows.total(np.ones(len(corpus.thoughts)))
    affinity = corpus.assigner.affinity_of(rows, texts)
    alike = likeness(active, corpus.embedder.embed(texts), affinity, counts)
    return families(active, alike)


def families_json(candidate_set: CandidateSet, found: tuple[Family, ...]) -> dict[str, Any]:
    return {
        "set": candidate_set.name,
        "families": [
            {
                "name": family.name,
                "candidates": [candidate.id for candidate in family.candidates],
                "share": family.share,
            }
            for family in found
        ],
    }
