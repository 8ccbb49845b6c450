"""Traces, quarantine and documents: what goes in comes out, once."""

import shutil
import sys
from dataclasses import replace
from threading import Thread
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_strategies import traces

from forethought.data.errors import NotFound, StoreError
from forethought.data.store import BATCH, Added, Counts, Store
from forethought.data.traces import Action, Outcome, Trace, Turn


class Row(NamedTuple):
    file: str
    position: str
    reason: str
    raw: str


def trace(number: int) -> Trace:
    turn = Turn(("I should look it up.",), (Action("search", {"input": f"x{number}"}),), ("found",))
    return Trace(f"question {number}?", (turn,), Outcome.SUCCESS, "made", "test", "f.json", number)


@pytest.fixture
def store(store_url):
    store = Store.open(store_url)
    yield store
    assert store.check() == []
    store.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One store for all examples of a property, and what went in first: opening one takes longer than they do."""
    store = Store.open(tmp_path_factory.mktemp("shared") / "forethought.db")
    yield store, {}
    assert store.check() == []


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(batch=st.lists(traces(), max_size=4))
def test_a_stored_trace_comes_back_equal_with_its_id(shared, batch):
    """Traces that differ in white space alone have one id: the first of them is kept, as it was read."""
    store, first = shared
    store.add(batch)

    for trace in batch:
        kept = first.setdefault(trace.id, trace)
        stored = store.trace(trace.id)
        assert (stored.question, stored.turns) == (kept.question, kept.turns)
        assert stored.id == trace.id


def test_everything_about_a_trace_is_kept(store):
    store.add([trace(1)])

    assert store.trace(trace(1).id) == trace(1)


def test_adding_again_adds_nothing_and_counts_duplicates(store):
    batch = [trace(i) for i in range(3)]

    assert store.add([*batch, trace(0)]) == Added(traces=3, turns=3, thoughts=3, duplicates=1)
    assert store.add(reversed(batch)) == Added(traces=0, turns=0, thoughts=0, duplicates=3)
    assert store.counts() == Counts(traces=3, turns=3, thoughts=3, quarantined=0, sets=0)


def test_of_equal_traces_the_first_is_kept(store):
    later = replace(trace(1), file="later.json")

    store.add([trace(1), later])
    store.add([later])

    assert store.trace(trace(1).id).file == "f.json"


def test_traces_come_in_the_order_of_their_ids_over_page_boundaries(store):
    given = [trace(i) for i in range(2 * BATCH + 1)]
    store.add(given)

    assert [t.id for t in store.traces()] == sorted(t.id for t in given)
    assert [s.id for s in store.summaries()] == sorted(t.id for t in given)


def test_a_store_can_be_added_to_while_it_is_read(store):
    store.add(trace(i) for i in range(BATCH + 1))
    reading = store.traces()
    next(reading)

    store.add([trace(-1)])

    assert sum(1 for _ in reading) in (BATCH, BATCH + 1)


def test_traces_of_one_source_only(store):
    store.add([trace(1), replace(trace(2), source="other"), replace(trace(3), source="o%")])

    assert [t.question for t in store.traces("other")] == ["question 2?"]
    assert store.sources() == ["made", "o%", "other"]


def test_a_summary_says_what_a_list_shows(store):
    store.add([replace(trace(1), outcome=None)])

    assert list(store.summaries()) == [(trace(1).id, "question 1?", None, 1, "made")]


def test_a_trace_is_found_by_the_beginning_of_its_id(store):
    store.add([trace(1)])

    assert store.trace(trace(1).id[:6]) == trace(1)


@pytest.mark.parametrize("id", ["t_none", "", "%", "_", "\udc80", "t_\U0010ffff"])
def test_an_unknown_id_says_how_to_list_the_known(store, id):
    store.add([trace(1)])

    with pytest.raises(NotFound, match="traces list"):
        store.trace(id)


def test_an_ambiguous_beginning_names_some(store):
    store.add([trace(1), trace(2)])

    with pytest.raises(NotFound, match=trace(1).id):
        store.trace("t_")


def test_a_quarantined_row_is_kept_once_with_its_text(store):
    row = Row("f\udc80.json", "line 3", "not JSON", '{"a": "\ud83d')

    assert store.quarantine([row, row]) == 1
    assert store.quarantine([row, row._replace(reason="other")]) == 1
    assert [(q.file, q.position, q.reason) for q in store.quarantined()] == [
        ("f\\udc80.json", "line 3", "not JSON"),
        ("f\\udc80.json", "line 3", "other"),
    ]
    assert store.quarantined()[0].raw == '{"a": "\\ud83d'


def test_the_latest_document_counts(store):
    assert store.document("audit", "s") is None

    store.put("audit", "s", {"n": 1})
    store.put("audit", "s", {"n": 2, "of": [1.5, None]})
    store.put("audit", "t", {"n": 3})

    assert store.document("audit", "s") == {"n": 2, "of": [1.5, None]}


def test_the_latest_of_every_key_comes_newest_first(store):
    for kind, key, n in (
        ("bench", "a", 1),
        ("bench", "b", 2),
        ("audit", "c", 3),
        ("bench", "a", 4),
    ):
        store.put(kind, key, {"n": n})

    assert list(store.documents("bench").items()) == [("a", {"n": 4}), ("b", {"n": 2})]
    assert store.documents("none") == {}


def test_threads_share_one_store(store):
    threads = [
        Thread(target=store.add, args=([trace(i) for i in range(j, 400, 8)],)) for j in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert store.counts().traces == 400


def test_traces_survive_closing(tmp_path):
    first = Store.open(f"sqlite:///{tmp_path}/a.db")
    first.add([trace(1)])
    first.close()

    assert list(Store.open(str(tmp_path / "a.db")).traces()) == [trace(1)]


def test_no_folder_is_made_for_a_store(tmp_path):
    with pytest.raises(StoreError, match="there is no folder"):
        Store.open(tmp_path / "none" / "a.db")


def test_a_folder_is_no_store(tmp_path):
    with pytest.raises(StoreError, match="is a folder"):
        Store.open(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder nobody can write to")
def test_a_place_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(StoreError, match="/proc/a.db"):
        Store.open("/proc/a.db")


@pytest.mark.parametrize(
    "url",
    ["", "sqlite://", "sqlite:///:memory:", "postgresql://h", "nosuch://x", "mysql://h/d", "://"],
)
def test_an_address_that_is_no_file_is_refused(url):
    with pytest.raises(StoreError) as error:
        Store.open(url)

    assert "\n" not in str(error.value)


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("remember the milk\n" * 100)

    with pytest.raises(StoreError, match="not a usable database") as error:
        Store.open(path)

    assert "\n" not in str(error.value)
    assert path.read_text() == "remember the milk\n" * 100


def test_a_damaged_store_is_told_in_one_line(tmp_path):
    path = tmp_path / "a.db"
    store = Store.open(path)
    store.add(trace(i) for i in range(1000))
    store.close()
    content = bytearray(path.read_bytes())
    content[8192:-4096] = b"\x07" * (len(content) - 8192 - 4096)
    path.write_bytes(content)

    with pytest.raises(StoreError) as error:
        assert Store.open(path).check() == []

    assert "\n" not in str(error.value)


def test_check_finds_a_changed_trace(tmp_path):
    store = Store.open(tmp_path / "a.db")
    store.add([trace(1)])
    with store.database.writing() as session:
        session.connection().exec_driver_sql(
            "UPDATE trace SET body = replace(body, 'found', 'lost'), num_turns = 7"
        )

    assert [problem.split()[0:2] for problem in store.check()] == [["trace", trace(1).id]] * 2


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_deleted_or_replaced_while_it_was_open_takes_nothing_more(
    tmp_path, replaced
):
    """What would be written there, nobody would find again."""
    path = tmp_path / "store.db"
    store = Store.open(path)
    store.add([trace(1)])
    for file in tmp_path.iterdir():
        file.unlink()
    if replaced:
        Store.open(path).close()

    for use in (lambda: store.add([trace(1)]), store.counts):
        with pytest.raises(StoreError, match="deleted or replaced while it was open") as told:
            use()
        assert "\n" not in str(told.value)


def test_a_closed_store_is_one_file(tmp_path):
    path = tmp_path / "store.db"
    store = Store.open(path)
    store.add([trace(1)])
    store.close()
    copy = Store.open(shutil.copy(path, tmp_path / "copy.db"))

    assert copy.counts() == Store.open(path).counts()
    assert copy.counts().traces == 1
