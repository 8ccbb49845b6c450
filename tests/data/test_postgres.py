"""A store in PostgreSQL: what is particular to it. What holds in every kind of database is in the tests of the store."""

import sys
from threading import Thread

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from postgres_server import PASSWORD
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from forethought.data import postgres
from forethought.data.candidates import CandidateSet, written
from forethought.data.database import Database, without_password
from forethought.data.errors import StoreError
from forethought.data.schema import VERSION_TABLE, _upgrade
from forethought.data.store import Store
from forethought.data.tables import Row

QUOTED = "a%20secret%3A%20p%40ss%2Fw%3Frd"


@pytest.fixture
def store(postgres_url):
    store = Store.open(postgres_url)
    store.save_set(CandidateSet("s", (written("Look it up.", ["search"]),)))
    store.release("s", "first", "ann")
    yield store
    assert store.check() == []
    store.close()


def refusal(url: str) -> str:
    """The one line with which a store is refused; it holds no password."""
    with pytest.raises(StoreError) as error:
        Store.open(url)
    told = str(error.value)
    assert "\n" not in told
    assert PASSWORD not in told
    assert QUOTED not in told
    assert "wrong" not in told
    return told


def test_a_server_that_is_not_there_is_told(tmp_path):
    told = refusal(f"postgresql+psycopg://ann:{QUOTED}@/db?host={tmp_path}")

    assert f"ann:***@/db?host={tmp_path}" in told
    assert "cannot connect" in told
    assert "check that the server runs" in told


def test_a_port_where_nobody_listens_is_told():
    assert "Connection refused" in refusal(f"postgresql://ann:{QUOTED}@127.0.0.1:1/db")


def test_a_wrong_password_is_told_and_not_shown(postgres_url):
    told = refusal(postgres_url.replace(QUOTED, "wrong"))

    assert 'password authentication failed for user "forethought"' in told
    assert "***" in told


def test_a_database_that_is_not_there_is_told(postgres_server):
    assert 'database "nowhere" does not exist' in refusal(postgres_server.url("nowhere"))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql+psycopg://ann:wrong@/db?no_such_option=1&host=/nowhere",
        "postgresql+psycopg://ann:wrong@h:port/db",
        "postgresql+psycopg://ann:wr@ng/wrong@h",
        "postgresql+psycopg://ann@/db?password=wrong&host=/nowhere",
        "postgresql+psycopg2://ann:wrong@/db?host=/nowhere",
        "mysql://ann:wrong@h/db",
    ],
)
def test_an_address_that_cannot_be_is_told_without_its_password(address):
    refusal(address)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql+psycopg://a:b@h/d", "postgresql+psycopg://a:***@h/d"),
        ("postgresql://a:b:c/d@e@h:1/d", "postgresql://a:***@h:1/d"),
        ("postgresql://a@h/d?sslpassword=x&PASSWORD=y&z=1", None),
        ("postgresql://a@h/d", "postgresql://a@h/d"),
        ("sqlite:////a:b@c/d.db", "sqlite:////a:b@c/d.db"),
        ("a:b@c.db", "a:b@c.db"),
    ],
)
def test_an_address_is_shown_without_its_password(address, shown):
    expected = shown or "postgresql://a@h/d?sslpassword=***&PASSWORD=***&z=1"

    assert without_password(address) == expected


def test_without_the_driver_the_package_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)

    assert "pip install 'forethought[postgres]'" in refusal(f"postgresql://ann:{QUOTED}@h/db")


def test_the_migrations_lead_to_the_tables_of_the_code(store):
    options = {"compare_type": True, "version_table": VERSION_TABLE}
    with store.database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Row.metadata) == []


@pytest.mark.parametrize("table", ["candidate_revision", "release", "release_item"])
@pytest.mark.parametrize(
    "change", ["UPDATE {} SET set_name = 'x'", "DELETE FROM {}", "TRUNCATE {} CASCADE"]
)
def test_history_and_releases_cannot_be_changed(store, table, change):
    with pytest.raises(IntegrityError, match="is append-only"):
        with store.database.writing() as session:
            session.connection().exec_driver_sql(change.format(f'"{table}"'))


def test_a_status_nobody_knows_cannot_be_stored(store):
    with pytest.raises(IntegrityError, match="ck_candidate_status"):
        with store.database.writing() as session:
            session.connection().exec_driver_sql("UPDATE candidate SET status = 'maybe'")


def test_a_newer_store_is_refused(store, postgres_url):
    with store.database.writing() as session:
        session.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))

    assert "newer Forethought (schema 9999" in refusal(postgres_url)


def test_another_programs_database_is_refused_and_left_alone(postgres_server):
    url = postgres_server.database("theirs")
    with Database(url).writing() as session:
        session.execute(text("CREATE TABLE trace (theirs int)"))

    assert "another program" in refusal(url)
    with Database(url).reading() as session:
        assert session.execute(text("SELECT count(*) FROM trace")).scalar() == 0


def test_a_database_whose_encoding_lacks_characters_is_refused(postgres_server):
    url = postgres_server.database(
        "latin", "TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'"
    )

    assert "createdb --encoding UTF8" in refusal(url)


def test_a_user_who_may_not_create_tables_is_told(postgres_server):
    url = postgres_server.database("closed")
    postgres_server.run("DROP ROLE IF EXISTS guest")
    postgres_server.run(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")

    told = refusal(url.replace("//forethought:", "//guest:"))

    assert "permission denied for schema public" in told
    assert "ask the database's owner" in told


def test_a_schema_that_is_not_there_is_told(postgres_url):
    assert "search_path" in refusal(postgres_url + "&options=-csearch_path%3Dnowhere")


def test_two_schemas_of_one_database_are_two_stores(postgres_server):
    url = postgres_server.database("halves")
    with Database(url).writing() as session:
        session.execute(text("CREATE SCHEMA one"))
        session.execute(text("CREATE SCHEMA two"))
    one, two = (Store.open(f"{url}&options=-csearch_path%3D{name}") for name in ("one", "two"))

    one.put("audit", "s", {"n": 1})
    with one.database.writing() as session:
        session.connection()
        two.put("audit", "s", {"n": 2})  # neither waits for the other's writers

    assert (one.document("audit", "s"), two.document("audit", "s")) == ({"n": 1}, {"n": 2})


def test_who_opens_a_store_while_another_makes_it_waits_and_finds_it_made(postgres_server):
    url = postgres_server.database("new")
    found = []
    opening = Thread(target=lambda: found.extend(Store.open(url).check()))
    making = Database(url)

    with making.rebuilding() as connection:
        opening.start()
        _upgrade(connection)
        making.backend.finish_migration(connection)
    opening.join()

    assert found == []
    assert Store.open(url).counts().traces == 0


def test_a_text_with_a_nul_is_told_where_it_cannot_be_kept(store):
    with pytest.raises(StoreError, match="NUL .*; PostgreSQL cannot keep that value"):
        store.save_set(CandidateSet("t", (written("a"),), note="\0"))

    assert store.set_names() == ["s"]


def test_who_waits_too_long_for_another_writer_is_told(store, postgres_url, monkeypatch):
    monkeypatch.setattr(postgres, "WAIT_SECONDS", 1)
    waiting = Store.open(postgres_url)
    with store.database.writing() as session:
        session.connection()
        with pytest.raises(StoreError, match="has been writing for 1 s"):
            waiting.put("audit", "s", {})
    waiting.close()


def test_a_connection_that_breaks_is_told_and_the_next_one_works(store, postgres_server):
    with pytest.raises(StoreError, match="connection was lost.*what was stored is kept"):
        with store.database.writing() as session:
            pid = session.execute(text("SELECT pg_backend_pid()")).scalar()
            postgres_server.run(f"SELECT pg_terminate_backend({pid}, 5000)")
            session.execute(text("SELECT 1"))

    store.put("audit", "s", {})


def test_a_server_that_was_restarted_meanwhile_costs_nothing(store, postgres_server):
    store.set_names()
    with psycopg.connect(**postgres_server.connection()) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname LIKE 'store%'"
        )

    assert store.set_names() == ["s"]
