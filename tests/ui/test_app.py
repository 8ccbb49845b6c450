"""The script that Streamlit runs: a store that is there, one that is not, and one that is none."""

from pathlib import Path

import pytest
from curated_store import curated, mined
from streamlit.testing.v1 import AppTest

import forethought.ui

UI = Path(forethought.ui.__file__).parent


@pytest.fixture
def opened(monkeypatch):
    def run(path: Path, set_name: str | None = None) -> AppTest:
        monkeypatch.setenv("FORETHOUGHT_STORE", str(path))
        if set_name:
            monkeypatch.setenv("FORETHOUGHT_SET", set_name)
        at = AppTest.from_file(str(UI / "app.py"), default_timeout=60).run()
        assert not at.exception
        return at

    return run


def test_the_app_opens_on_the_overview(opened, tmp_path):
    curated(tmp_path / "store.db")

    at = opened(tmp_path / "store.db")

    assert at.title[0].value == "Overview"
    assert at.selectbox(key="set").value == "search-v1"


def test_the_set_to_open_first_can_be_named(opened, tmp_path):
    store = curated(tmp_path / "store.db")
    store.save_set(mined("another"))

    assert opened(tmp_path / "store.db").selectbox(key="set").value == "another"
    assert opened(tmp_path / "store.db", "search-v1").selectbox(key="set").value == "search-v1"
    assert opened(tmp_path / "store.db", "no such set").selectbox(key="set").value == "another"


def test_a_missing_store_is_one_message_and_stays_missing(opened, tmp_path):
    at = opened(tmp_path / "none.db")

    assert len(at.error) == 1
    assert "no store there" in at.code[0].value
    assert not (tmp_path / "none.db").exists()


def test_a_broken_store_is_one_message(opened, tmp_path):
    (tmp_path / "broken.db").write_bytes(b"<script>alert(1)</script>" * 200)

    at = opened(tmp_path / "broken.db")

    assert len(at.error) == 1
    assert "broken.db" in at.code[0].value


def test_no_file_of_the_interface_turns_text_into_markup():
    for path in UI.glob("*.py"):
        source = path.read_text("utf-8")
        for unsafe in ("unsafe_allow", "st.html", "st.markdown", "st.write(", "components.v1"):
            assert unsafe not in source, f"{path.name} uses {unsafe}"
