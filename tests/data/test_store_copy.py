"""A store moved to another database: all of it, verified, or nothing."""

import json
import math
from dataclasses import replace
from hashlib import blake2b

import pytest
from sqlalchemy import text

from forethought.data import commands
from forethought.data.candidates import CandidateSet, Status, written
from forethought.data.commands import Edit
from forethought.data.errors import StoreError
from forethought.data.store import Store
from forethought.data.store_copy import BATCH, _tables, copy_store
from forethought.data.traces import Action, Outcome, Trace, Turn

FIRST, SECOND = written("Look it up.", ["search"]), written("I know it.", ["answer"])
TURN = Turn(("Look\0 it up \ud83d.",), (Action("search", {"n": math.nan, "é": "\0"}),), ("💩",))


def filled(url) -> Store:
    """Traces over several batches, and a history with an undone edit, a release and documents."""
    store = Store.open(url)
    store.add(
        Trace(f"Who\0 is {n}?", (TURN,), Outcome.SUCCESS, "é", position=n) for n in range(BATCH + 3)
    )
    store.save_set(CandidateSet("s", (FIRST, SECOND), "a note", manifest={"seed": 0}))
    commands.accept(store, Edit("s", FIRST.id, 1, "ann", "clear"))
    commands.reword(store, Edit("s", SECOND.id, 1, "bob"), "I know it already.")
    commands.undo(store, "s", "ann")
    store.release("s", "notes", "ann")
    store.put("audit", "s", {"gain": math.inf, "b": 1, "a": 2})
    return store


def content(store: Store) -> dict[str, list[str]]:
    with store.database.reading() as session:
        return {
            table.name: sorted(json.dumps(list(row)) for row in session.execute(table.select()))
            for table in _tables()
        }


@pytest.fixture
def place(store_url):
    """Where the store is copied from, in each kind of database."""
    return store_url


@pytest.fixture(params=["sqlite", "postgres"])
def target(request, postgres_server, tmp_path):
    url = (
        postgres_server.database("target", "TEMPLATE migrated")
        if request.param == "postgres"
        else tmp_path / "target.db"
    )
    store = Store.open(url)
    yield store
    store.close()


def test_a_copy_has_everything_and_goes_on_as_the_original_would(place, target):
    original = filled(place)
    done = []

    copied = copy_store(original, target, lambda now, total: done.append((now, total)))

    assert content(target) == content(original)
    assert target.check() == []
    total = sum(table.rows for table in copied)
    assert done[-1] == (total, total)
    assert {table.name: table.rows for table in copied} == {
        name: len(rows) for name, rows in content(original).items()
    }
    assert commands.redo(target, "s", "ann").text == "I know it already."
    assert commands.reject(target, Edit("s", FIRST.id, 2, "ann")).status is Status.REJECTED
    assert target.release("s", "next", "ann").number == 2
    target.put("audit", "s", {"n": 2})
    assert target.document("audit", "s") == {"n": 2}
    assert target.add([Trace("new", (replace(TURN, thoughts=("x",)),))]).traces == 1
    assert target.check() == []
    original.close()


def test_a_digest_is_over_the_values_in_the_order_of_keys(place, target):
    original = filled(place)

    digests = {table.name: table for table in copy_store(original, target)}

    with target.database.reading() as session:
        rows = session.execute(
            text('SELECT set_name, number, hash, notes, actor, at FROM "release" ORDER BY 1, 2')
        ).all()
    lines = "".join(json.dumps(list(row)) + "\n" for row in rows)
    assert digests["release"].rows == 1
    assert digests["release"].digest == blake2b(lines.encode(), digest_size=16).hexdigest()
    original.close()


def test_an_empty_store_can_be_copied(place, target):
    assert {table.rows for table in copy_store(Store.open(place), target)} == {0}


def test_a_store_that_is_not_empty_is_not_copied_into(place, target):
    target.put("audit", "s", {"n": 1})
    before = content(target)

    with pytest.raises(StoreError, match="is not empty .table document has rows"):
        copy_store(filled(place), target)

    assert content(target) == before


def test_a_copy_that_is_cut_off_leaves_nothing_and_can_be_run_again(place, target):
    original = filled(place)

    def cut_off(now, total):
        if now > BATCH:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_store(original, target, cut_off)

    assert set(map(len, content(target).values())) == {0}
    copy_store(original, target)
    assert content(target) == content(original)
    original.close()


def test_a_copy_that_is_not_the_same_is_not_kept(tmp_path):
    original, target = filled(tmp_path / "a.db"), Store.open(tmp_path / "b.db")
    with target.database.writing() as session:
        session.execute(
            text(
                "CREATE TRIGGER spoil AFTER INSERT ON document BEGIN "
                "UPDATE document SET key = 'other' WHERE id = new.id; END"
            )
        )

    with pytest.raises(StoreError, match="not the same .table document"):
        copy_store(original, target)

    assert set(map(len, content(target).values())) == {0}


def test_a_store_that_is_not_sound_is_not_copied(place, target):
    original = filled(place)
    with original.database.writing() as session:
        session.execute(text("UPDATE trace SET num_turns = 7 WHERE position = 0"))

    with pytest.raises(StoreError, match="would not be sound: trace .*wrong counts"):
        copy_store(original, target)

    assert set(map(len, content(target).values())) == {0}
    original.close()


def test_a_nul_that_postgres_cannot_keep_is_named(tmp_path, postgres_url):
    original, target = Store.open(tmp_path / "a.db"), Store.open(postgres_url)
    original.add([Trace("q", (TURN,))])
    with original.database.writing() as session:  # as an older program stored it
        session.execute(text("UPDATE trace SET question = 'q' || char(0)"))
    original.save_set(CandidateSet("s", (written("a"),), note="\0"))

    with pytest.raises(StoreError, match="candidate_set 's' has a NUL character in its note"):
        copy_store(original, target)

    original.save_set(CandidateSet("s", (written("a"),), note="a note"))
    copy_store(original, target)
    assert next(iter(target.summaries())).question == "q\\x00"
    target.close()
