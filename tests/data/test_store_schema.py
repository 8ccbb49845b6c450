"""The tables: migrations lead to them, past stores open, newer ones are refused, history is frozen."""

import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect
from sqlalchemy.exc import IntegrityError

from forethought.data import activity, commands, versions
from forethought.data.candidates import CandidateSet, Status, written
from forethought.data.commands import Edit, NewCandidate
from forethought.data.errors import StoreError
from forethought.data.library import library_hash
from forethought.data.schema import HEAD, MIGRATIONS, VERSION_TABLE
from forethought.data.store import Store
from forethought.data.tables import Row
from forethought.data.text_search import ThoughtFilter

FROZEN = ["candidate_revision", "release", "release_item", "lineage", "comment"]
STORES = Path(__file__).parent / "stores"


@pytest.fixture
def store(tmp_path):
    store = Store.open(tmp_path / "a.db")
    store.save_set(CandidateSet("s", (written("Look it up.", ["search"]),)))
    store.release("s", "first", "ann")
    (first,) = store.candidate_set("s").candidates
    commands.add(store, "s", NewCandidate("Look again.", derived_from=first.id), "ann")
    commands.comment(store, Edit("s", first.id, 1, "ann"), "good")
    yield store
    store.close()


def test_the_migrations_lead_to_the_tables_of_the_code(store):
    options = {"compare_type": True, "version_table": VERSION_TABLE}
    with store.database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Row.metadata) == []


def test_the_migrations_hold_the_checks_of_the_code(store):
    made = create_engine("sqlite://")
    Row.metadata.create_all(made)
    for table in Row.metadata.tables:
        migrated = inspect(store.database.engine).get_check_constraints(table)
        assert migrated == inspect(made).get_check_constraints(table)


def test_head_is_the_last_migration():
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_opening_a_store_does_not_load_alembic(store):
    code = (
        "import sys; from forethought.data.store import Store\n"
        "Store.open(sys.argv[1]); assert 'alembic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, store.database.location], check=True)


@pytest.mark.parametrize("table", FROZEN)
@pytest.mark.parametrize("change", ["UPDATE {} SET set_name = 'x'", "DELETE FROM {}"])
def test_history_and_releases_cannot_be_changed(store, table, change):
    with pytest.raises(IntegrityError, match=f"{table} is append-only"):
        with store.database.writing() as session:
            session.connection().exec_driver_sql(change.format(f'"{table}"'))

    assert store.check() == []


def test_a_status_nobody_knows_cannot_be_stored(store):
    with pytest.raises(IntegrityError, match="ck_candidate_status"):
        with store.database.writing() as session:
            session.connection().exec_driver_sql("UPDATE candidate SET status = 'maybe'")


def test_a_candidate_with_a_history_cannot_be_deleted(store):
    with pytest.raises(IntegrityError, match="FOREIGN KEY"):
        with store.database.writing() as session:
            session.connection().exec_driver_sql("DELETE FROM candidate")


def test_a_newer_store_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "a.db"
    Store.open(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")

    with pytest.raises(StoreError, match=r"newer Forethought \(schema 9999, this one knows 0002\)"):
        Store.open(path)


def test_another_programs_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE trace (theirs)")

    with pytest.raises(StoreError, match="another program"):
        Store.open(path)

    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("trace",)]


def test_several_processes_can_make_one_store(tmp_path):
    code = "import sys; from forethought.data.store import Store; print(Store.open(sys.argv[1]).check())"
    made = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "a.db")], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]

    assert [process.communicate()[0] for process in made] == ["[]\n"] * 3


def test_there_is_a_store_of_every_released_schema():
    versions = {path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")}
    assert {path.stem for path in STORES.glob("*.db")} == versions
    assert all(re.fullmatch(r"\d{4}", version) for version in versions)


@pytest.mark.parametrize("path", sorted(STORES.glob("*.db")), ids=lambda path: path.stem)
def test_a_store_of_every_past_schema_opens_with_all_its_content(path, tmp_path):
    shutil.copy(path, tmp_path / "a.db")
    store = Store.open(tmp_path / "a.db")

    assert store.check() == []
    assert store.counts() == (3, 4, 3, 1, 1)
    assert [c.status for c in store.candidate_set("first").candidates] == [
        Status.ACCEPTED,
        Status.REJECTED,
        Status.PROPOSED,
    ]
    (release,) = store.releases("first")
    assert release.hash == library_hash(store.candidate_set("first"))
    assert len(store.revisions("first", release.candidates[0].id)) == 5
    assert store.document("audit", "first") == {"n": 3}


def test_a_store_of_the_first_schema_is_curated_on(tmp_path):
    """What the second schema knows besides is found out for what was there: who and when, support, thoughts."""
    shutil.copy(STORES / "0001.db", tmp_path / "a.db")
    store = Store.open(tmp_path / "a.db")

    log = activity.log(store, "first").entries
    assert [(entry.actor, entry.reason) for entry in log] == [
        ("bob", "too vague"),
        ("bob", ""),
        ("ann", ""),
        ("ann", ""),
        ("ann", "clear"),
        ("miner", ""),
    ]
    assert all(entry.at for entry in log)
    assert store.thoughts_page(ThoughtFilter("LOOK it")).total == 2
    first, second, third = store.candidate_set("first").candidates
    assert first.aliases == store.releases("first")[0].candidates[0].aliases == ()
    assert commands.undo(store, "first", "ann").status is Status.PROPOSED
    edits = [Edit("first", c.id, c.version, "ann") for c in (first, third)]
    assert commands.merge(store, edits[0], edits[1:]).aliases == ("Look again.",)
    assert versions.diff(store, "first", "1").merged[0].survivor.id == first.id
    assert store.check() == []
