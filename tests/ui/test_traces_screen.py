"""The traces screen and what it pages through, run: finding, opening, pictures, quarantine, and hostile text."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from curated_store import HOSTILE, curated, trace
from PIL import Image
from streamlit.testing.v1 import AppTest

from forethought.data.listing import TraceFilter
from forethought.data.store import Store
from forethought.data.text_search import ThoughtFilter
from forethought.data.traces import Action, Outcome, Trace, Turn
from forethought.ui import browsing
from forethought.ui.browsing import PAGE, find_thoughts, find_traces, laid_out, picture


class Unusable(NamedTuple):
    file: str
    position: int
    reason: str
    raw: str


def traces(store):  # AppTest runs the source of this function alone
    from forethought.ui import traces_screen

    traces_screen.show(store)


def shown(store: Store, **address: str) -> AppTest:
    at = AppTest.from_function(traces, kwargs={"store": store}, default_timeout=60)
    for name, value in address.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def everything(at: AppTest) -> list[str]:
    return [element.value for element in (*at.text, *at.code)]


@pytest.fixture
def store(tmp_path) -> Store:
    return curated(tmp_path / "store.db")


def many(store: Store) -> list[str]:
    runs = [trace(f"Which river is number {number}?") for number in range(2 * PAGE + 5)]
    store.add(replace(run, source="rivers") for run in runs)
    return sorted(run.id for run in runs)


def test_pages_hold_every_trace_once_and_no_page_too_many(store):
    ids = many(store)
    pages = [find_traces(store, TraceFilter("", "rivers"), page) for page in (1, 2, 3, 4)]

    assert [len(page.hits) for page in pages] == [PAGE, PAGE, 5, 0]
    assert sorted(hit.trace_id for page in pages for hit in page.hits) == ids
    assert {page.total for page in pages} == {len(ids)}


def test_words_find_traces_by_question_and_turns_by_thought(store):
    store.add([trace("Which mountain?", "I should climb up and look.")])

    assert find_traces(store, TraceFilter("MOUNTAIN which"), 1).total == 1
    (hit,) = find_thoughts(store, ThoughtFilter("climb"), 1).hits
    assert (hit.turn, hit.text) == (0, "I should climb up and look.")
    assert find_thoughts(store, ThoughtFilter("climb sea"), 1).total == 0


def test_a_turn_is_laid_out_with_what_came_back_from_each_action():
    run = Trace(
        "Q?",
        (
            Turn(
                ("I look.",),
                (Action("search", {"input": "a"}), Action("open", {"page": 2})),
                ("found", "opened", "and more"),
            ),
            Turn(("I end.",), (Action("finish", {"input": "b"}),)),
        ),
    )
    first, second = laid_out(run, 0, 10)

    assert [tuple(e) for e in first.exchanges] == [
        ('search {"input": "a"}', "found"),
        ('open {"page": 2}', "opened"),
        ("", "and more"),
    ]
    assert [tuple(e) for e in second.exchanges] == [('finish {"input": "b"}', "")]
    assert [view.number for view in laid_out(run, 1, 10)] == [2]


def test_a_picture_that_an_import_kept_is_shown_by_its_hash(tmp_path):
    kept = tmp_path / "store.images"
    kept.mkdir()
    name = f"{'0' * 64}.png"
    Image.new("RGB", (8, 8)).save(kept / name)
    run = Trace("Q?", (Turn(("I look.",), images=(name,)),), file="gone/a.jsonl")

    assert picture(run, name, kept).content == (kept / name).read_bytes()
    assert laid_out(run, 0, 1, kept)[0].pictures[0].content is not None
    assert picture(run, name).content is None
    assert picture(run, f"../{name}", kept).content is None


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "runs").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "runs" / "cat.png")
    Image.new("RGB", (8, 8)).save(tmp_path / "secret.png")
    (tmp_path / "runs" / "page.png").write_text("<svg onload=alert(1)>")
    (tmp_path / "runs" / "link.png").symlink_to(tmp_path / "secret.png")
    return tmp_path / "runs"


def test_a_picture_beside_its_trace_is_read(folder):
    run = replace(trace("Q?"), file=str(folder / "a.jsonl"))

    assert picture(run, "cat.png").content == (folder / "cat.png").read_bytes()
    assert picture(run, str(folder / "cat.png")).content is not None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../secret.png", "outside"),
        ("/etc/passwd", "outside"),
        ("link.png", "outside"),
        ("page.png", "it is none"),
        ("none.png", "no such file"),
        ("", "no such file"),
        ("http://127.0.0.1:9/p.png", "nothing is fetched"),
        ("file:///etc/passwd", "nothing is fetched"),
        ("a\0b", "cannot be read"),
        ("a" * 5000, "cannot be read"),
    ],
)
def test_nothing_else_is_read_for_a_picture(folder, name, reason):
    found = picture(replace(trace("Q?"), file=str(folder / "a.jsonl")), name)

    assert found.content is None
    assert reason in found.reason


def test_a_huge_picture_is_not_unpacked(folder, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)

    assert picture(replace(trace("Q?"), file=str(folder / "a.jsonl")), "cat.png").content is None


def test_a_chosen_row_opens_its_trace_and_stays_in_the_address(store):
    at = shown(store)
    chosen = find_traces(store, TraceFilter(), 1).hits[2]
    table = next(key for key in at.session_state.keys() if key.startswith("hits-"))
    at.session_state[table] = {"selection": {"rows": [2], "columns": [], "cells": []}}
    at.run()

    assert not at.exception
    assert at.query_params["trace"] == chosen.trace_id
    assert chosen.text in everything(at)


def test_an_address_opens_a_trace_with_all_that_happened(store):
    run = next(iter(store.traces()))
    at = shown(store, trace=run.id)

    said = everything(at)
    assert run.question in said
    assert all(thought in said for turn in run.turns for thought in turn.thoughts)
    assert any(f"About {run.question}: a page." in text for text in said)


def test_a_trace_that_is_not_there_is_told(store):
    assert any("no trace" in text for text in everything(shown(store, trace="t_none")))


def test_words_in_the_address_search(store):
    store.add([trace("Which mountain?", "I should climb up and look.")])
    at = shown(store, look="Thoughts", words="climb")

    assert at.text_input(key="words").value == "climb"
    assert any("1 found" in caption.value for caption in at.caption)


def test_a_long_text_stands_there_in_part_and_whole_on_demand(store):
    run = trace("How long?", "x" * 1_000_000)
    store.add([run])
    at = shown(store, trace=run.id)

    assert max(map(len, everything(at))) < 10_000
    at.session_state[f"thought-{run.id}-1-0"] = True
    at.run()
    assert max(map(len, everything(at))) == 1_000_000


def test_the_quarantine_shows_file_place_reason_and_beginning(store):
    store.quarantine(
        Unusable(f"runs-{n}.jsonl", n, f"reason {n}", "raw " * 1000) for n in range(30)
    )
    at = shown(store, look="Quarantine")

    said = everything(at)
    assert "row 3 of runs-3.jsonl" in said and "reason 3" in said
    assert "reason 29" not in said, "a page at a time"
    assert any("Not usable: 30" in caption.value for caption in at.caption)


def test_an_empty_store_says_what_to_do(tmp_path):
    at = shown(Store.open(tmp_path / "empty.db"))

    assert any("forethought import" in code.value for code in at.code)


def test_hostile_text_is_shown_letter_by_letter_and_nowhere_else(tmp_path):
    store = Store.open(tmp_path / "hostile.db")
    runs = [
        Trace(
            text,
            (Turn((text,), (Action(text, {text: text}),), (text,), (text,)),),
            Outcome.SUCCESS,
            source=text,
            format=text,
            file=text,
        )
        for text in HOSTILE
    ]
    store.add(runs)
    store.quarantine(Unusable(text, 1, text, text) for text in HOSTILE)
    for address in (*({"trace": run.id} for run in runs), {"look": "Quarantine"}):
        at = shown(store, **address)
        elements = (*at.markdown, *at.caption, *at.title, *at.subheader, *at.info, *at.warning)
        labels = [e.label for e in (*at.button, *at.expander, *at.selectbox, *at.text_input)]
        for said in (*(e.value for e in elements), *labels):
            assert not any(text[:12] in said for text in HOSTILE)
    assert HOSTILE[0] in everything(at)
    assert browsing.shorten(HOSTILE[5]).endswith("…")
