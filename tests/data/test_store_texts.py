"""Texts that a database might change, refuse or sort in its own way: the same in every kind of store."""

import math
from dataclasses import replace
from threading import Thread

import pytest
from sqlalchemy import func
from sqlmodel import col, select

from forethought.data.candidates import CandidateSet, written
from forethought.data.errors import StoreError
from forethought.data.store import Store
from forethought.data.tables import SetRow, TraceRow
from forethought.data.traces import Action, Trace, Turn

TURN = Turn(("I should look it up.",), (Action("search", {"input": "x"}),), ("found",))


@pytest.fixture
def store(store_url):
    store = Store.open(store_url)
    yield store
    assert store.check() == []
    store.close()


def test_a_trace_with_what_databases_refuse_comes_back_equal(store):
    arguments = {"nul": "a\0b", "half": "\ud83d", "n": math.inf, "big": 2**70, "é": None}
    turn = replace(TURN, actions=(Action("search", arguments),), observations=("\0\udc80💩",))
    given = Trace("Who\0 is \ud83d?", (turn,), source="made\0up", file="a\udc80.json")

    store.add([given])

    stored = store.trace(given.id)
    assert (stored.question, stored.turns) == (given.question, given.turns)
    assert (stored.source, stored.file) == ("made\\x00up", "a\\udc80.json")
    assert store.sources() == ["made\\x00up"]
    assert [t.id for t in store.traces("made\0up")] == [given.id]


def test_not_a_number_comes_back_as_that(store):
    store.put("audit", "s", {"gain": math.nan, "order": {"b": 1, "a": 2}})

    document = store.document("audit", "s")
    assert document is not None
    assert math.isnan(document["gain"])
    assert list(document["order"]) == ["b", "a"]


def test_a_megabyte_of_text_comes_back_equal(store):
    thought = "Überlegung 💩\n" * 80_000
    given = Trace(thought, (replace(TURN, thoughts=(thought,)),))

    store.add([given])
    store.save_set(CandidateSet("s", (written(thought),), note=thought))

    assert store.trace(given.id) == given
    assert store.candidate_set("s").candidates[0].text == thought


def test_half_a_character_in_a_name_is_told(store):
    with pytest.raises(StoreError, match="lone surrogate"):
        store.save_set(CandidateSet("s\ud83d", (written("a"),)))

    assert store.set_names() == []


def test_texts_sort_by_their_bytes_whatever_the_language(store):
    names = ["é", "B", "a", "_", "Z", "ab", "a b", "💩", "~", "A"]
    store.add(replace(TURN_OF, question=name, source=name) for name in names)
    for name in names:
        store.save_set(CandidateSet(name, (written("a"),)))

    assert store.sources() == sorted(names)
    assert store.set_names() == sorted(names)
    with store.database.reading() as session:
        after = select(TraceRow.source).where(col(TraceRow.source) > "Z")
        assert set(session.exec(after)) == {name for name in names if name > "Z"}


def test_a_search_folds_the_case_of_latin_letters_and_takes_signs_as_they_are(store):
    store.add(replace(TURN_OF, question=text) for text in ["Look UP", "100%", "100 %", "ÉTÉ"])

    def found(text):
        with store.database.reading() as session:
            matches = col(TraceRow.question).icontains(text, autoescape=True)
            return sorted(session.exec(select(TraceRow.question).where(matches)))

    assert found("look up") == ["Look UP"]
    assert found("0%") == ["100%"]
    assert found("été") == []


TURN_OF = Trace("q", (TURN,))
WRITERS, TIMES = 8, 40


def test_no_read_modify_write_is_lost(store, store_url):
    """The study's measure: 8 writers, 40 increments each. Begun as readers they lose most of them."""
    store.save_set(CandidateSet("s", (written("a"),), note="0"))
    errors: list[Exception] = []

    def increment():
        own = Store.open(store_url)
        try:
            for _ in range(TIMES):
                with own.database.writing() as session:
                    row = session.get_one(SetRow, "s")
                    row.note = str(int(row.note) + 1)
                    session.add(row)
        except Exception as error:  # noqa: BLE001 - told below, in the test's own thread
            errors.append(error)
        finally:
            own.close()

    writers = [Thread(target=increment) for _ in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert errors == []
    assert store.candidate_set("s").note == str(WRITERS * TIMES)


def test_a_reader_sees_one_state_while_others_write(store, store_url):
    other = Store.open(store_url)
    with store.database.reading() as session:
        first = session.exec(select(func.count()).select_from(TraceRow)).one()
        other.add([TURN_OF])
        assert session.exec(select(func.count()).select_from(TraceRow)).one() == first == 0
    assert store.counts().traces == 1
    other.close()
