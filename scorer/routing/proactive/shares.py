"""From needs to arms: by the share each arm is to get, by cuts that were calibrated elsewhere, or by a budget of seconds.

Pure functions over arrays. Arms stand from the cheapest to the strongest (select, think, hand over); an arm is told by its place. The
higher the need, the stronger the arm. Equal needs go by their place in the batch: the first gets the stronger arm.
"""

from collections.abc import Sequence

import numpy as np

from ....data.errors import ForethoughtError

NEARLY = 1e-9  # that shares may miss one by


def by_shares(needs: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """(n,) arms of a batch of `needs` (n,): each arm gets exactly its share, rounded so that all are counted.

    PRP's rule: sorted, and cut at the wanted shares; nothing is calibrated. ForethoughtError for shares that are none.
    """
    counts = counts_of(len(needs), shares)
    order = np.argsort(-np.asarray(needs, dtype=np.float64), kind="stable")
    arms = np.empty(len(needs), dtype=int)
    arms[order] = np.repeat(np.arange(len(counts))[::-1], counts[::-1])
    return arms


def counts_of(size: int, shares: Sequence[float]) -> np.ndarray:
    """(arms,) how many of `size` each arm gets: largest remainders are rounded up, of equal ones the stronger arm's."""
    told = np.asarray(shares, dtype=np.float64)
    if not len(told) or not (told >= 0).all() or abs(told.sum() - 1) > NEARLY:
        raise ForethoughtError(
            f"shares of arms are 0 or more and add up to 1; found {', '.join(f'{share:g}' for share in told) or 'none'}"
        )
    wanted = np.round(told * size, 9)
    counts = np.floor(wanted).astype(int)
    last_first = np.argsort((counts - wanted)[::-1], kind="stable")
    rounded_up = len(told) - 1 - last_first[: size - counts.sum()]
    counts[rounded_up] += 1
    return counts


def cuts_at(needs: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """(arms - 1,) ascending: above which need each arm but the first begins, so that `needs` (n,) give these shares.

    Half-way between two neighbours; equal needs are never cut apart, so with ties a share may be missed.
    """
    counts = counts_of(len(needs), shares)
    padded = np.concatenate([[-np.inf], np.sort(needs), [np.inf]])
    below = np.cumsum(counts)[:-1]
    return _between(padded[below], padded[below + 1])


def by_cuts(needs: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """(n,) arms: how many of `cuts` lie below each need."""
    return np.searchsorted(cuts, needs, side="left")


def by_budget(needs: np.ndarray, seconds: np.ndarray, budget: float) -> np.ndarray:
    """(n,) arms of a batch that together take at most `budget` seconds, where question i takes `seconds[i, arm]`.

    By falling need each gets the strongest arm that what is left pays for, above the first arm of all. A budget below that is
    no error: everything gets the first arm.
    """
    arms = np.zeros(len(needs), dtype=int)
    left = budget - float(seconds[:, 0].sum()) if len(needs) else 0.0
    if left < 0:
        return arms
    for place in np.argsort(-np.asarray(needs, dtype=np.float64), kind="stable"):
        extra = seconds[place] - seconds[place, 0]
        arms[place] = np.flatnonzero(extra <= left).max()
        left -= float(extra[arms[place]])
    return arms


def _between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Half-way; at an end what lies outside all."""
    with np.errstate(invalid="ignore"):
        middle = low / 2 + high / 2
    return np.where(np.isneginf(low), -np.inf, np.where(np.isposinf(high), np.inf, middle))
