"""How the app is started."""

import socket

import pytest

from forethought.data.errors import ForethoughtError
from forethought.ui.serving import app_command, app_environment, serve


def test_the_app_listens_on_this_machine_only_and_reports_nothing():
    command = app_command(8599, headless=True)
    options = dict(zip(command, command[1:], strict=False))

    assert options["--server.address"] == "127.0.0.1"
    assert options["--server.port"] == "8599"
    assert options["--server.headless"] == "true"
    assert options["--server.showEmailPrompt"] == "false", "a first start asks for nothing"
    assert options["--browser.gatherUsageStats"] == "false"


def test_the_store_is_handed_on_by_its_absolute_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert app_environment("a.db")["FORETHOUGHT_STORE"] == str(tmp_path / "a.db")
    assert app_environment("sqlite:///a.db")["FORETHOUGHT_STORE"] == "sqlite:///a.db"


def test_a_taken_port_is_one_line():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(ForethoughtError, match="is taken"):
            serve("a.db", other.getsockname()[1], headless=True)
