"""`forethought store copy`, and what the command line says of a store that it cannot use."""

import json
import sys

import pytest
from curated_store import curated
from postgres_server import PASSWORD
from typer.testing import CliRunner

from forethought.data.errors import NotFound, StoreError
from forethought.data.store import Store
from forethought.ui import cli
from forethought.ui.cli import app

QUOTED = "a%20secret%3A%20p%40ss%2Fw%3Frd"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["store", "copy", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_a_store_is_copied_with_one_line_and_comes_back_the_same(tmp_path, postgres_url):
    original, back = str(tmp_path / "a.db"), str(tmp_path / "b.db")
    curated(original).close()

    there = run(original, postgres_url)
    tables = json.loads(run(postgres_url, back, "--json"))

    assert there.count("\n") == 1
    assert f"{original} copied to postgresql+psycopg://forethought:***@/" in there
    assert "verified" in there
    assert tables["to"] == back
    assert tables["tables"]["trace"]["rows"] == 4
    assert "***" in tables["from"]
    again = json.loads(run(original, str(tmp_path / "c.db"), "--json"))
    assert again["tables"] == tables["tables"]
    assert PASSWORD not in there + tables["from"]


def test_a_store_that_is_not_there_is_not_copied(tmp_path):
    with pytest.raises(NotFound, match="no store there"):
        run(str(tmp_path / "none.db"), str(tmp_path / "b.db"))

    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_not_empty_is_not_copied_into(tmp_path):
    curated(tmp_path / "a.db").close()
    curated(tmp_path / "b.db").close()

    with pytest.raises(StoreError, match="b.db is not empty"):
        run(str(tmp_path / "a.db"), str(tmp_path / "b.db"))

    assert Store.open(tmp_path / "b.db").check() == []


def test_a_wrong_password_is_one_line_that_does_not_hold_it(postgres_url, monkeypatch, capsys):
    url = postgres_url.replace(QUOTED, "wrong")
    monkeypatch.setattr(sys, "argv", ["forethought", "check", "--store", url])

    with pytest.raises(SystemExit) as stopped:
        cli.main()

    printed = capsys.readouterr()
    assert stopped.value.code == 2
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("forethought: store postgresql+psycopg://forethought:***@/")
    assert "wrong" not in printed.err
