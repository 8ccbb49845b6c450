"""Records of an audit with numbers that can be followed by hand."""

import numpy as np


def record(
    question: str,
    split: str = "test",
    kind: str = "search",
    source: str = "s",
    free: float = 4.0,
    candidates: dict[str, float] | None = None,
    assigned: str | None = "a",
) -> dict:
    """Gains over neutral (which is 0) of the free thought and the candidates, half of each in either part."""
    given = {"a": 2.0, "b": 1.0} if candidates is None else candidates
    return {
        "question": question,
        "split": split,
        "kind": kind,
        "source": source,
        "lp": {
            "free": [free / 2, free / 2],
            "empty": [-1.0, -1.0],
            "neutral": [[-0.5, 0.5], [0.5, -0.5]],
            "candidates": {id: [gain / 2, gain / 2] for id, gain in given.items()},
            "pool": [[gain / 2, gain / 2] for gain in np.linspace(-1, 1, 8)],
        },
        "assignments": {"set": assigned},
        "scores": {
            calibration: {id: -gain for id, gain in given.items()}
            for calibration in ("raw", "pmi", "batch")
        },
    }
