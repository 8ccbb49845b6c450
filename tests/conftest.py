"""For all tests: no hub, no network beyond this machine."""

import os
import socket

import pytest
from hypothesis import settings

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that spin starve a shared machine
os.environ["TOKENIZERS_PARALLELISM"] = "false"

settings.register_profile("repeatable", derandomize=True, database=None)
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
