"""Small runs of three made-up sources whose first turns are known: what the flows in a browser work on."""

from dataclasses import replace

from curated_store import TEXTS, trace

from forethought.data.traces import Trace

COMPARE, BROKEN = "We ought to compare both of them.", "That page does not open, so I try another."


def _runs(source: str, count: int, *thoughts: str) -> tuple[Trace, ...]:
    """`count` runs of a source of their own, whose first turns say each of the thoughts in turn."""
    return tuple(
        replace(
            trace(f"Which {source} is number {n} of the land?", thoughts[n % len(thoughts)]),
            source=source,
        )
        for n in range(count)
    )


RUNS = {
    "town": _runs("town", 4, TEXTS[0][0]),
    "river": _runs("river", 80, COMPARE),
    "bridge": _runs("bridge", 12, COMPARE, BROKEN),
}
