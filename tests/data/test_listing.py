"""Pages of candidates, traces and thoughts: what filters let through, against plain Python over all of them."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_strategies import BROKEN, candidates, traces

from forethought.data import commands
from forethought.data.candidates import CandidateSet, Status
from forethought.data.commands import Edit
from forethought.data.errors import NotFound
from forethought.data.listing import CandidateFilter, Sort, SortKey, TraceFilter
from forethought.data.store import Store
from forethought.data.tables import storable
from forethought.data.text_search import ThoughtFilter
from forethought.data.traces import Action, Outcome, Trace, Turn

WORDS = ("look", "100%", "a_b", "é", "文件", '"q"', "\\", "LOOK", "'")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


def folded(text: str) -> str:
    """As SQLite compares: the case of ASCII letters does not count."""
    return "".join(c.lower() if c.isascii() else c for c in storable(text))


def has_words(text: str, query: str) -> bool:
    return all(word in folded(text) for word in folded(query).split())


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    store = Store.open(tmp_path_factory.mktemp("shared") / "a.db")
    yield store
    store.close()


@settings(deadline=None, max_examples=40)
@given(
    given=st.lists(
        st.builds(replace, candidates(), text=TEXTS),
        max_size=6,
        unique_by=(lambda c: c.id, lambda c: c.text.casefold()),
    ),
    wanted=st.builds(
        CandidateFilter,
        text=st.just("") | TEXTS,
        statuses=st.lists(st.sampled_from(Status), max_size=2).map(tuple),
        action=st.none() | st.sampled_from(("search", "answer", "look")),
        min_support=st.integers(0, 2),
        in_bin=st.booleans(),
    ),
    key=st.sampled_from(SortKey),
)
def test_a_page_holds_what_the_filter_lets_through(shared, given, wanted, key):
    name = f"set {len(shared.set_names())}"
    shared.save_set(CandidateSet(name, tuple(given)))

    expected = [
        c
        for c in given
        if has_words(c.text, wanted.text)
        and (not wanted.statuses or c.status in wanted.statuses)
        and (wanted.action is None or c.expects(wanted.action))
        and len(c.support) >= wanted.min_support
        and (not wanted.in_bin or c.status is Status.REJECTED)
    ]
    page = shared.candidates_page(name, wanted, Sort(key))
    assert sorted(c.id for c in page.candidates) == sorted(c.id for c in expected)
    assert page.total == len(expected)
    assert list(shared.matching_versions(name, wanted)) == [c.id for c in expected]
    pages = [shared.candidates_page(name, wanted, Sort(key), at, 2) for at in range(0, 6, 2)]
    assert [c for part in pages for c in part.candidates] == list(page.candidates)
    for listed in page.candidates:
        whole = next(c for c in given if c.id == listed.id)
        assert (listed.text, listed.num_support, listed.questions, listed.is_member) == (
            whole.text,
            len(whole.support),
            whole.questions,
            True,
        )


@settings(deadline=None, max_examples=40)
@given(
    given=st.lists(traces(), max_size=4),
    query=st.just("") | TEXTS | BROKEN,
    source=st.none() | st.sampled_from(("a", "é/%_")),
    outcome=st.none() | st.sampled_from(Outcome),
)
def test_traces_and_thoughts_are_found_by_their_words(shared, given, query, source, outcome):
    """Traces of earlier examples are there, too."""
    shared.add(given)
    wanted = [
        trace
        for trace in shared.traces()
        if source in (None, trace.source) and outcome in (None, trace.outcome)
    ]

    page = shared.traces_page(TraceFilter(query, source, outcome), limit=1000)
    assert [t.id for t in page.traces] == [
        t.id
        for t in wanted
        if all(has_words(t.question, word) or has_words(t.file, word) for word in query.split())
    ]
    found = shared.thoughts_page(ThoughtFilter(query, source, outcome), limit=1000)
    expected = {
        (trace.id, number)
        for trace in wanted
        for number, turn in enumerate(trace.turns)
        if turn.thoughts and has_words("\n".join(turn.thoughts), query)
    }
    assert {(t.trace_id, t.turn) for t in found.thoughts} == expected
    assert found.total == len(expected)


@pytest.fixture
def store(store_url):
    store = Store.open(store_url)
    store.add(
        [
            Trace(
                f"Which file is number {number}?",
                (Turn((f"I LOOK up {number}_a.",), (Action("search", {"q": "x"}),)),),
                Outcome.SUCCESS if number % 2 else None,
                "one",
                file=f"runs/{number:02}.json",
            )
            for number in range(12)
        ]
    )
    yield store
    assert store.check() == []
    store.close()


def test_a_search_finds_words_anywhere_in_any_case_in_every_database(store):
    assert store.thoughts_page(ThoughtFilter("look 1_A")).total == 2  # 1_a and 11_a
    assert store.thoughts_page(ThoughtFilter("1%a")).total == 0
    assert store.thoughts_page(ThoughtFilter("look", outcome=Outcome.SUCCESS)).total == 6
    assert store.thoughts_page(ThoughtFilter("look", source="two")).thoughts == ()
    assert store.traces_page(TraceFilter("WHICH 07.json")).total == 1
    assert store.traces_page(TraceFilter("1"), 1, 1).total == 3  # 1, 10, 11
    last = store.thoughts_page(ThoughtFilter(), offset=10, limit=5)
    assert (len(last.thoughts), last.total) == (2, 12)
    assert last.thoughts[0].turn_id.endswith(":0")
    assert last.thoughts[0].question.startswith("Which file")


def test_comments_aliases_and_flags_filter_candidates(store):
    made = [
        commands.NewCandidate(f"Text {number}.", expected_actions=("finish",))
        for number in range(4)
    ]
    store.save_set(CandidateSet("s", ()))
    ids = [commands.add(store, "s", new, "ann").id for new in made]
    commands.comment(store, Edit("s", ids[1], 1, "ann"), "hm")
    commands.merge(store, Edit("s", ids[2], 1, "ann"), [Edit("s", ids[3], 1, "ann")])
    commands.reject(store, Edit("s", ids[0], 1, "ann"))

    def found(**wanted) -> list[str]:
        page = store.candidates_page("s", CandidateFilter(**wanted))
        return [candidate.id for candidate in page.candidates]

    assert found() == ids[:3]
    assert found(has_comments=True) == [ids[1]]
    assert found(has_aliases=True) == [ids[2]]
    assert found(ids=[ids[0], "c_none"]) == [ids[0]]
    assert found(action="answer") == ids[:3]  # finish is answer by another name
    assert set(found(in_bin=True)) == {ids[0], ids[3]}
    assert store.candidates_page("s").candidates[1].num_comments == 1
    by_version = store.candidates_page("s", sort=Sort(SortKey.VERSION, is_descending=True))
    assert by_version.candidates[-1].id == ids[1]
    with pytest.raises(NotFound):
        store.candidates_page("none")
