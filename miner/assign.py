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

import numpy as np
from sklearn.linear_model import LogisticRegression

from .abstract import Generalizer
from .embed import Embedder
from .mask import Mask
from .sentences import sentence_texts
from .thoughts import Stage, Thought

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


class Assigner:
    """The rule, fitted on *mine* thoughts. Texts of any set can be asked afterwards."""

    def __init__(self, thoughts: Sequence[Thought], mask: Mask, embedder: Embedder) -> None:
        acted = [thought for thought in thoughts if thought.kind is not None]
        self.mask, self.embedder = mask, embedder
        self.general = Generalizer.fit(acted, mask)
        self.stages = np.array([t.stage for t in acted], dtype=int)  # (mine,)
        self.vectors = self._embed_thoughts(acted)  # (mine, d)
        kinds = [thought.kind or "" for thought in acted]
        steps = [next_step(self.general.say(thought)) for thought in acted]
        self._kind_of_text = _KindModel(embedder.embed(steps), kinds)
        self._kind_of_turn = _KindModel(_with_stage(self.vectors, self.stages), kinds)

    def affinity(self, thoughts: Sequence[Thought], texts: Sequence[str]) -> np.ndarray:
        """(turns, texts) in [0, 1]: how well each text says each thought's move."""
        turns = self._embed_thoughts(thoughts)
        stages = np.array([thought.stage for thought in thoughts], dtype=int)
        candidates = self.embedder.embed(texts)
        cosine = np.maximum(turns @ candidates.T, 0.0)
        agreement = (
            self._kind_of_turn.expect(_with_stage(turns, stages))
            @ self._kind_of_text.expect(self.embedder.embed([*map(next_step, texts)])).T
        )
        return (cosine * agreement * self._stage_fit(candidates)[:, stages].T).round(6)

    def assign(self, thoughts: Sequence[Thought], texts: Sequence[str]) -> Assignment:
        """The text of highest affinity for each thought, the first of equals; None below MIN_AFFINITY."""
        if not texts or not thoughts:
            return Assignment(
                (None,) * len(thoughts), np.zeros(len(thoughts)), np.zeros(len(thoughts))
            )
        affinity = self.affinity(thoughts, texts)
        best = affinity.argmax(axis=1)
        ranked = np.sort(affinity, axis=1)[:, ::-1]
        second = ranked[:, 1] if len(texts) > 1 else np.zeros(len(thoughts))
        rows = tuple(
            int(b) if top >= MIN_AFFINITY else None
            for b, top in zip(best, ranked[:, 0], strict=True)
        )
        return Assignment(rows, ranked[:, 0], ranked[:, 0] - second)

    def _stage_fit(self, candidates: np.ndarray) -> np.ndarray:
        """(texts, stages): 1 at the stage where a text's move is most usual, STAGE_FLOOR where it never occurs."""
        nearest = np.argsort(-(candidates @ self.vectors.T).round(6), axis=1, kind="stable")
        near_stages = self.stages[nearest[:, :NEIGHBOURS]]  # (texts, neighbours)
        base = np.bincount(self.stages, minlength=len(Stage)) + 1
        lift = np.stack(
            [(near_stages == stage).sum(axis=1) / base[stage] for stage in Stage], axis=1
        )
        top = np.maximum(lift.max(axis=1, keepdims=True), 1e-12)
        return STAGE_FLOOR + (1 - STAGE_FLOOR) * lift / top

    def _embed_thoughts(self, thoughts: Sequence[Thought]) -> np.ndarray:
        return self.embedder.embed([self.general.say(thought) for thought in thoughts])


def next_step(text: str) -> str:
    """The last clause of `text`: what it says to do next."""
    last = sentence_texts(text)[-1]
    clause = CONSEQUENCE.split(last)[-1].strip()
    return clause if len(clause.split()) >= MIN_CLAUSE_WORDS else last


class _KindModel:
    """Probability of each kind of action, from vectors; certain where only one kind was ever seen."""

    def __init__(self, vectors: np.ndarray, kinds: Sequence[str]) -> None:
        self.model = None
        if len(set(kinds)) > 1:
            self.model = LogisticRegression(C=10.0, max_iter=500, class_weight="balanced")
            self.model.fit(vectors, kinds)

    def expect(self, vectors: np.ndarray) -> np.ndarray:
        """(rows, kinds), rows sum to 1."""
        if self.model is None:
            return np.ones((len(vectors), 1))
        return self.model.predict_proba(vectors)


def _with_stage(vectors: np.ndarray, stages: np.ndarray) -> np.ndarray:
    return np.hstack([vectors, np.eye(len(Stage), dtype=vectors.dtype)[stages]])
