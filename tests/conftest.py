"""For all tests: no hub, no network beyond this machine, a store in each kind of database."""

import os
import socket
import sys
from itertools import count

import pytest
from hypothesis import settings

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that spin starve a shared machine
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# before torch loads: as many processes as cores have a thread each
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", max_examples=500, deadline=None, database=None)
# the same examples on every machine; `make explore` draws new ones
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    """Any connection that would leave this machine fails the test that makes it."""
    connect = socket.socket.connect

    def guarded(self, address):
        local = self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1", "localhost")
        assert local, f"a test tried to reach {address}"
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def _own_main():
    """AppTest leaves the app as `__main__`, and child processes would run it in the place of their work."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


NUMBERS = count()
MIGRATED = "migrated"  # a database with empty tables, which the others are copies of
SHARED = "shared"  # one that tests of what a store holds use in turn


@pytest.fixture(scope="session")
def postgres_server():
    """One server for the whole run; skipped where there is none, unless FORETHOUGHT_REQUIRE_POSTGRES is set."""
    import postgres_server as postgres

    from forethought.data.store import Store

    bin = postgres.programs()
    if bin is None:
        missing = "no PostgreSQL server here; install Debian's package postgresql"
        (pytest.fail if os.environ.get("FORETHOUGHT_REQUIRE_POSTGRES") else pytest.skip)(missing)
    with postgres.serving(bin) as server:
        Store.open(server.database(MIGRATED)).close()
        server.database(SHARED, f"TEMPLATE {MIGRATED}")
        yield server


@pytest.fixture
def postgres_url(postgres_server):
    """The address of an empty store in a database of its own, for tests that change more than rows."""
    name = f"store{next(NUMBERS)}"
    yield postgres_server.database(name, f"TEMPLATE {MIGRATED}")
    postgres_server.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request, tmp_path):
    """Where a new store may be: what a test does with it holds in every kind of database."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres_server").emptied(SHARED)
    return str(tmp_path / "forethought.db")
