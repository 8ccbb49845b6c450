"""How the app is started: where it listens and for whom."""

import socket
import tomllib

import pytest
from typer.testing import CliRunner

import forethought.ui.serving
from forethought.data.errors import ForethoughtError
from forethought.data.store import Store
from forethought.ui.cli import app
from forethought.ui.serving import HERE, Serving, app_command, app_environment, serve

AUTH = """
[auth]
redirect_uri = "http://localhost:8501/oauth2callback"
cookie_secret = "a long random string"
client_id = "forethought"
client_secret = "secret"
server_metadata_url = "https://id.example.org/.well-known/openid-configuration"

[roles]
"ann@example.org" = "admin"
"@example.org" = "viewer"
"""


def options(serving: Serving) -> dict[str, str]:
    command = app_command(serving)
    return dict(zip(command, command[1:], strict=False))


def test_the_app_listens_on_this_machine_only_and_reports_nothing():
    found = options(Serving("a.db", 8599, headless=True))

    assert found["--server.address"] == "127.0.0.1"
    assert found["--server.port"] == "8599"
    assert found["--server.headless"] == "true"
    assert found["--server.showEmailPrompt"] == "false", "a first start asks for nothing"
    assert found["--browser.gatherUsageStats"] == "false"
    assert "--secrets.files" not in found


def test_a_page_elsewhere_cannot_pass_for_ours_by_its_name():
    command = app_command(Serving("a.db"))
    names = [
        value for key, value in zip(command, command[1:], strict=False) if key.endswith("Hosts")
    ]

    assert names == ["localhost", "127.0.0.1", "::1"]


def test_the_store_is_handed_on_by_its_absolute_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert app_environment(Serving("a.db"))["FORETHOUGHT_STORE"] == str(tmp_path / "a.db")
    assert app_environment(Serving("sqlite:///a.db"))["FORETHOUGHT_STORE"] == "sqlite:///a.db"


def test_a_login_is_handed_on_only_where_one_was_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("FORETHOUGHT_AUTH", "left over from another start")
    assert "FORETHOUGHT_AUTH" not in app_environment(Serving("a.db"))

    serving = Serving("a.db", auth=tmp_path / "auth.toml")
    assert app_environment(serving)["FORETHOUGHT_AUTH"] == str(tmp_path / "auth.toml")
    assert options(serving)["--secrets.files"] == str(tmp_path / "auth.toml")


def test_a_taken_port_is_one_line():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(ForethoughtError, match="is taken"):
            serve(Serving("a.db", other.getsockname()[1]))


@pytest.fixture
def started(monkeypatch):
    """The commands that would have become the server."""
    commands: list[list[str]] = []
    monkeypatch.setattr(
        forethought.ui.serving.os, "execve", lambda file, command, env: commands.append(command)
    )
    monkeypatch.setattr(forethought.ui.serving, "_require_free", lambda host, port: None)
    return commands


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_an_address_that_others_reach_is_refused_without_a_login(host, started, tmp_path):
    Store.open(tmp_path / "a.db").close()
    call = ["ui", "--store", str(tmp_path / "a.db"), "--host", host]

    refused = CliRunner().invoke(app, call)
    assert isinstance(refused.exception, ForethoughtError)
    assert "anyone who reaches this address can change the store" in str(refused.exception)
    assert "\n" not in str(refused.exception)
    assert not started

    assert CliRunner().invoke(app, [*call, "--no-login"]).exit_code == 0
    assert host in started[0]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1.2.3"])
def test_this_machine_needs_no_login(host, started):
    serve(Serving("a.db", host=host))

    assert started


def test_a_login_that_cannot_work_is_refused_before_the_start(started, tmp_path):
    auth = tmp_path / "auth.toml"
    serving = Serving("a.db", host="0.0.0.0", auth=auth)
    with pytest.raises(ForethoughtError, match="no login file"):
        serve(serving)

    auth.write_text(AUTH.replace("client_id", "client"))
    with pytest.raises(ForethoughtError, match="has no client_id"):
        serve(serving)

    auth.write_text(AUTH)
    try:
        import authlib  # noqa: F401
    except ImportError:
        with pytest.raises(ForethoughtError, match=r"forethought\[login\]"):
            serve(serving)
        assert not started
    else:
        serve(serving)
        assert started


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_both_themes_can_be_read(name):
    theme = tomllib.loads((HERE / "theme.toml").read_text("utf-8"))["theme"][name]
    grounds = [theme["backgroundColor"], theme["secondaryBackgroundColor"]]
    grounds += [theme["sidebar"]["backgroundColor"]]

    assert all(contrast(theme["textColor"], ground) >= 7 for ground in grounds)
    assert all(contrast(theme["linkColor"], ground) >= 4.5 for ground in grounds)
    assert contrast(theme["primaryColor"], "#ffffff") >= 3, "a button's own text, large"
