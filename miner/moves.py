"""Moves: groups of thoughts that say alike, and for each the phrase that says it best.

Knows vectors and texts, no budget: which moves enter a set is not decided here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .assign import Assigner
from .cluster import NOISE, Clustering
from .embed import Embedder
from .phrase import Phrase
from .sampling import cluster_many
from .stages import Kept, Rows, Stages
from .thoughts import Thought
from .vectors import usable

MIN_NEARNESS = 0.55  # cosine of a phrase and the centre of the group that it may speak for


@dataclass(frozen=True)
class Moves:
    """Distinct thoughts said in general, with their vectors and groups; `labels` (turns,) are each turn's group."""

    texts: tuple[str, ...]
    vectors: np.ndarray
    clustering: Clustering
    labels: np.ndarray
    num_unusable: int


def find_moves(thoughts: Sequence[Thought], assigner: Assigner, stages: Stages) -> Moves:
    """Groups of what recurs. Texts whose vector is no vector are noise: they would spoil every group."""
    said = [assigner.general.say(thought) for thought in thoughts]
    counts = Counter(said)
    texts = tuple(counts)
    vectors = assigner.embedder.embed(texts)
    fit = np.flatnonzero(usable(vectors))
    weights = [counts[texts[row]] for row in fit]
    situations = _situations(thoughts, said)[fit]
    labels = np.full(len(texts), NOISE)
    labels[fit] = stages.run(
        "cluster",
        lambda: cluster_many(vectors[fit], weights, situations).labels,
        lambda made: Rows(len(made), int(made.max(initial=NOISE)) + 1),
        Kept(lambda made: {"labels": made}, lambda kept: kept["labels"], [assigner.embedder.name]),
    )
    of_text = dict(zip(texts, labels.tolist(), strict=True))
    turns = np.array([of_text[text] for text in said])
    return Moves(texts, vectors, Clustering(labels), turns, len(texts) - len(fit))


def _situations(thoughts: Sequence[Thought], said: Sequence[str]) -> np.ndarray:
    """(distinct texts,): number of the stage and kind of action of the first turn that says it."""
    numbers: dict[tuple[int, str | None], int] = {}
    first: dict[str, int] = {}
    for thought, text in zip(thoughts, said, strict=True):
        first.setdefault(text, numbers.setdefault((thought.stage, thought.kind), len(numbers)))
    return np.array(list(first.values()))


@dataclass(frozen=True)
class Spoken:
    """The phrases that say some group, and which of them says which group."""

    phrases: tuple[Phrase, ...]
    column_of_group: dict[int, int]


def speak(moves: Moves, phrases: Sequence[Phrase], embedder: Embedder) -> Spoken:
    """For each group the phrase nearest its centre, the more often spoken of near equals; noise gets none.

    A group that no phrase is near has none either.
    """
    texts = embedder.embed([phrase.text for phrase in phrases])
    spread = np.array([1 + np.log(phrase.questions) for phrase in phrases])
    picked: dict[int, int] = {}  # row of a phrase -> its column among those picked
    column_of_group = {}
    for group, rows in enumerate(moves.clustering.groups):
        centre = moves.vectors[rows].mean(axis=0)
        nearness = texts @ centre / max(float(np.linalg.norm(centre)), 1e-12)
        row = int((nearness + 0.02 * spread).round(6).argmax())
        if nearness[row] < MIN_NEARNESS:
            continue  # nothing says this move; better to tell than to let another speak for it
        column_of_group[group] = picked.setdefault(row, len(picked))
    return Spoken(tuple(phrases[row] for row in picked), column_of_group)
