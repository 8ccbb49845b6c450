"""What a model tells of contexts before anything is thought: every signal's number, and the state that a probe is fitted on.

Letters: n contexts, H the width of the model. Knows no outcome.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from ...agent.session import LocalSession
from ...agent.thinking import Library
from ...model import LanguageModel
from ...trie import Ids
from .rating import JOINT, OWN, rate
from .signals import Look, entropy_need, hidden_state, margin_need

Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Ratings:
    """(n,) the value of each rating: `own` chance, and how much `more` thinking would help."""

    own: np.ndarray
    more: np.ndarray


@dataclass(frozen=True, eq=False)
class Readings:
    """(n,) each need, and `state` (n, H)."""

    margin: np.ndarray
    log_z: np.ndarray
    entropy: np.ndarray
    state: np.ndarray


def read_ratings(
    model: LanguageModel, trunks: Sequence[Ids], progress: Progress = lambda done: None
) -> Ratings:
    """Both ratings after each trunk of tokens, in one pass."""
    found = [rate(one, (OWN, JOINT)).ratings for one in _settled(model, trunks, progress)]
    values = np.array([[rating.value for rating in pair] for pair in found]).reshape(-1, 2)
    return Ratings(*values.T)


def read_signals(
    model: LanguageModel,
    trunks: Sequence[Ids],
    library: Library,
    progress: Progress = lambda done: None,
) -> Readings:
    """What the scores of a set tell, and the last hidden state."""
    rows: dict[str, list[float | np.ndarray]] = {one.name: [] for one in fields(Readings)}
    for session in _settled(model, trunks, progress):
        look = Look(session, library)
        rows["state"].append(look.hidden)
        rows["margin"].append(margin_need(look.scores))
        rows["log_z"].append(-(look.taken.thought.log_z or 0.0))
        rows["entropy"].append(entropy_need(look.scores))
    return Readings(**{name: np.array(column) for name, column in rows.items()})


def read_states(
    model: LanguageModel, trunks: Sequence[Ids], progress: Progress = lambda done: None
) -> np.ndarray:
    """(n, H) the last hidden state alone."""
    return np.array([hidden_state(one) for one in _settled(model, trunks, progress)])


def _settled(
    model: LanguageModel, trunks: Sequence[Ids], progress: Progress
) -> Iterator[LocalSession]:
    """One session, which holds each trunk in turn; what two neighbours share is computed once."""
    session = LocalSession(model, capacity=max(map(len, trunks), default=0) + 1)
    for number, trunk in enumerate(trunks):
        known = _shared(session.ids, trunk)
        session.rollback(known)
        session.append_text(trunk[known:])
        session.settle()
        yield session
        progress(number + 1)


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many first tokens are the same; one less than all of `other`, whose last state is asked for."""
    most = min(len(one), len(other) - 1)
    return next((place for place in range(most) if one[place] != other[place]), most)
