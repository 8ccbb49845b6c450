"""The one assignment rule: which candidate of a set says the move of a thought, for any set and any turn.

Nearest text alone hardly beats a neutral sentence, so the move is read out of thought *and* context. The affinity of
a turn and a text is a product of three things, each learned from *mine* turns only:

    cosine of the thought, said in general (abstract.py), and the text
    x  agreement on the kind of action they lead to, as two classifiers expect it
    x  how usual the text's move is at this stage of a run

A turn's kind is read out of thought and stage, a text's out of its last clause ("..., so I should look it up"): it says
what is done next, and reads alike whatever the rest is about. The rule never sees the action that followed the audited thought, nor the outcome, nor a candidate's expected actions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from .abstract import Generalizer
from .embed import Embedder
from .mask import Mask
from .sampling import stratified_sample
from .sentences import sentence_texts
from .similarity import MILLION, MILLIONTHS, in_ones
from .thoughts import Stage, Thought

MOST_FITTED = 50_000  # turns that the classifiers are fitted on
MOST_SINGLY = 10_000  # of more, equal ones are fitted once, by their number: the same optimum in a third of the time
BLOCK = 4096  # rows whose affinities are worked out at once
MIN_AFFINITY = 0.1  # below this a turn is left unassigned
NEIGHBOURS = 40  # mine turns that tell at which stages a text's move is made
CONSEQUENCE = re.compile(r"[,;]?\s*\b(?:so|therefore|hence|thus)\b,?\s+", re.IGNORECASE)
MIN_CLAUSE_WORDS = 3
STAGE_FLOOR = 0.5  # a stage never seen halves the affinity, it does not veto


@dataclass(frozen=True)
class Assignment:
    """`rows` (turns,): index of the assigned text, None where no text fits; `affinity` and `margin` (turns,) of it."""

    rows: tuple[int | None, ...]
    affinity: np.ndarray
    margin: np.ndarray


class Rows(NamedTuple):
    """Turns that the rule cannot tell apart, once each: (rows,) what they say in general and at which stage.

    `of` (turns,) is each turn's row.
    """

    texts: tuple[str, ...]
    stages: np.ndarray
    of: np.ndarray

    def total(self, values: np.ndarray) -> np.ndarray:
        """(rows,): the sum of `values` (turns,) over the turns of each row."""
        return np.bincount(self.of, values, minlength=len(self.texts))


class Assigner:
    """The rule, fitted on *mine* thoughts. Texts of any set can be asked afterwards."""

    def __init__(
        self,
        thoughts: Sequence[Thought],
        mask: Mask,
        embedder: Embedder,
        general: Generalizer | None = None,  # fitted on the same thoughts, where one is at hand
    ) -> None:
        acted = [thought for thought in thoughts if thought.kind is not None]
        self.mask, self.embedder = mask, embedder
        self.general = general or Generalizer.fit(acted, mask)
        self._fitted = acted
        self._mine = self._rows(acted)
        self._vectors = embedder.embed(self._mine.texts)  # (mine rows, d)
        kinds = np.array([thought.kind or "" for thought in acted], dtype=object)
        fit = stratified_sample(kinds.astype(str), np.ones(len(acted)), MOST_FITTED)
        rows, of = np.unique(self._mine.of[fit], return_inverse=True)
        turns = _with_stage(self._vectors[rows], self._mine.stages[rows])
        numbers: dict[str, int] = {}
        steps = (next_step(self._mine.texts[row]) for row in rows)
        step_of = np.array([numbers.setdefault(step, len(numbers)) for step in steps], dtype=int)
        self._kind_of_text = _KindModel(embedder.embed([*numbers]), step_of[of], kinds[fit])
        self._kind_of_turn = _KindModel(turns, of, kinds[fit])

    @property
    def num_rows(self) -> int:
        """Of the *mine* thoughts, as many as the rule can tell apart."""
        return len(self._mine.texts)

    def rows(self, thoughts: Sequence[Thought]) -> Rows:
        """The thoughts as the rule sees them."""
        if len(thoughts) == len(self._fitted) and all(map(is_, thoughts, self._fitted)):
            return self._mine
        return self._rows(thoughts)

    def _rows(self, thoughts: Sequence[Thought]) -> Rows:
        numbers: dict[tuple[str, Stage], int] = {}
        seen = ((self.general.say(thought), thought.stage) for thought in thoughts)
        of = np.array([numbers.setdefault(row, len(numbers)) for row in seen], dtype=int)
        stages = np.array([stage for _, stage in numbers], dtype=int)
        return Rows(tuple(text for text, _ in numbers), stages, of)

    def affinity(self, thoughts: Sequence[Thought], texts: Sequence[str]) -> np.ndarray:
        """(turns, texts) in [0, 1]: how well each text says each thought's move."""
        rows = self.rows(thoughts)
        return self.affinity_of(rows, texts)[rows.of]

    def affinity_of(self, rows: Rows, texts: Sequence[str]) -> np.ndarray:
        """(rows, texts), by columns: the affinity of the turns of each row."""
        return in_ones(self.millionths_of(rows, texts))

    def millionths_of(self, rows: Rows, texts: Sequence[str]) -> np.ndarray:
        """The same as whole numbers of millionths, which is all that there is of it."""
        if not texts:
            return np.empty((len(rows.texts), 0), MILLIONTHS, order="F")
        candidates = self.embedder.embed(texts)
        turns = self._vectors if rows is self._mine else self.embedder.embed(rows.texts)
        kinds = self._kind_of_text.expect(self.embedder.embed([*map(next_step, texts)]))
        fit = self._stage_fit(candidates)
        found = np.empty((len(rows.texts), len(texts)), MILLIONTHS, order="F")
        for start in range(0, len(turns), BLOCK):
            part = slice(start, start + BLOCK)
            stages = rows.stages[part]
            agreement = self._kind_of_turn.expect(_with_stage(turns[part], stages)) @ kinds.T
            cosine = np.maximum(turns[part] @ candidates.T, 0.0)
            found[part] = np.rint(cosine * agreement * fit[:, stages].T * MILLION)
        return found

    def assign(self, thoughts: Sequence[Thought], texts: Sequence[str]) -> Assignment:
        """The text of highest affinity for each thought, the first of equals; None below MIN_AFFINITY."""
        if not texts or not thoughts:
            return Assignment(
                (None,) * len(thoughts), np.zeros(len(thoughts)), np.zeros(len(thoughts))
            )
        rows = self.rows(thoughts)
        affinity = self.affinity_of(rows, texts)
        best = affinity.argmax(axis=1)
        ranked = np.sort(affinity, axis=1)[:, ::-1]
        top = ranked[:, 0]
        second = ranked[:, 1] if len(texts) > 1 else np.zeros(len(top))
        assigned = [
            int(b) if value >= MIN_AFFINITY else None for b, value in zip(best, top, strict=True)
        ]
        return Assignment(
            tuple(assigned[row] for row in rows.of), top[rows.of], (top - second)[rows.of]
        )

    def _stage_fit(self, candidates: np.ndarray) -> np.ndarray:
        """(texts, stages): 1 at the stage where a text's move is most usual, STAGE_FLOOR where it never occurs."""
        stages = self._mine.stages[self._mine.of]  # (mine turns,)
        base = np.bincount(stages, minlength=len(Stage)) + 1
        near = np.zeros((len(candidates), len(Stage)))
        for row, candidate in enumerate(candidates):
            cosine = (self._vectors @ candidate).round(6)[self._mine.of]
            near[row] = np.bincount(stages[_first_of_largest(cosine)], minlength=len(Stage))
        lift = near / base
        top = np.maximum(lift.max(axis=1, keepdims=True), 1e-12)
        return STAGE_FLOOR + (1 - STAGE_FLOOR) * lift / top


def _first_of_largest(values: np.ndarray) -> np.ndarray:
    """The places of the NEIGHBOURS largest of `values` (turns,), the first of equals."""
    if len(values) <= NEIGHBOURS:
        return np.arange(len(values))
    edge = np.partition(values, -NEIGHBOURS)[-NEIGHBOURS]
    above = np.flatnonzero(values > edge)
    return np.concatenate([above, np.flatnonzero(values == edge)[: NEIGHBOURS - len(above)]])


def next_step(text: str) -> str:
    """The last clause of `text`: what it says to do next."""
    last = sentence_texts(text)[-1]
    clause = CONSEQUENCE.split(last)[-1].strip()
    return clause if len(clause.split()) >= MIN_CLAUSE_WORDS else last


class _KindModel:
    """Probability of each kind of action, from vectors; certain where only one kind was ever seen."""

    def __init__(self, vectors: np.ndarray, of: np.ndarray, kinds: np.ndarray) -> None:
        """`of` and `kinds` (turns,): each turn's row of `vectors` (rows, d), and its kind."""
        self.model = None
        names, numbers = np.unique(kinds.astype(str), return_inverse=True)
        if len(names) < 2:
            return
        self.model = LogisticRegression(C=10.0, max_iter=500, class_weight="balanced")
        if len(of) <= MOST_SINGLY:
            self.model.fit(vectors[of], kinds)
            return
        pairs = of * len(names) + numbers
        _, first, counts = np.unique(pairs, return_index=True, return_counts=True)
        self.model.fit(vectors[of[first]], kinds[first], counts)

    def expect(self, vectors: np.ndarray) -> np.ndarray:
        """(rows, kinds), rows sum to 1."""
        if self.model is None:
            return np.ones((len(vectors), 1))
        return self.model.predict_proba(vectors)


def _with_stage(vectors: np.ndarray, stages: np.ndarray) -> np.ndarray:
    return np.hstack([vectors, np.eye(len(Stage), dtype=vectors.dtype)[stages]])
