"""Hypothesis strategies for the project's values: any trace and any candidate set a store must keep."""

from hypothesis import strategies as st

from forethought.data.candidates import RESERVED, Candidate, CandidateSet, Status
from forethought.data.traces import Action, Outcome, Trace, Turn

WHOLE = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
BROKEN = st.text(max_size=20)  # lone surrogates too: traces are kept exactly as read
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | BROKEN,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WHOLE, inner, max_size=2),
    max_leaves=4,
)
KINDS = st.sampled_from(("search", "answer", "finish", "lookup", "image_zoom_in_tool"))


def actions() -> st.SearchStrategy[Action]:
    return st.builds(Action, KINDS | BROKEN, st.dictionaries(BROKEN, JSON, max_size=3))


def tuples(inner: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(inner, max_size=2).map(tuple)


def turns() -> st.SearchStrategy[Turn]:
    return st.builds(Turn, tuples(BROKEN), tuples(actions()), tuples(BROKEN), tuples(BROKEN))


def traces() -> st.SearchStrategy[Trace]:
    return st.builds(
        Trace,
        question=BROKEN,
        turns=st.lists(turns(), max_size=3).map(tuple),
        outcome=st.none() | st.sampled_from(Outcome),
        source=st.sampled_from(("a", "b", "é/%_")),
        format=WHOLE,
        file=WHOLE,
        position=st.integers(0, 10**9),
    )


def candidates() -> st.SearchStrategy[Candidate]:
    texts = WHOLE.filter(lambda text: text.split() and not any(tag in text for tag in RESERVED))
    return st.builds(
        Candidate,
        id=st.text("abc123_", min_size=1, max_size=4),
        text=texts,
        expected_actions=tuples(KINDS),
        status=st.sampled_from(Status),
        support=tuples(WHOLE),
        questions=st.integers(0, 1000),
        created_at=st.sampled_from(("1970-01-01T00:00:00Z", "2026-06-17T00:00:00Z")),
    )


def candidate_sets(name: str = "s") -> st.SearchStrategy[CandidateSet]:
    """Sets that could be stored: ids and texts of their candidates differ."""
    return st.builds(
        CandidateSet,
        name=st.just(name),
        candidates=st.lists(
            candidates(),
            max_size=6,
            unique_by=(lambda c: c.id, lambda c: " ".join(c.text.split()).casefold()),
        ).map(tuple),
        note=WHOLE,
        version=WHOLE,
        manifest=st.dictionaries(WHOLE, WHOLE | st.none() | st.integers(), max_size=2),
    )
