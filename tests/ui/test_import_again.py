"""Importing again mends what the store has: outcomes and pictures that were missing, readings that were wrong. And traces go."""

import json
from pathlib import Path

import pytest
from curated_store import mined
from typer.testing import CliRunner

from forethought.data import commands
from forethought.data.candidates import Candidate, CandidateSet
from forethought.data.errors import ForethoughtError, NotFound
from forethought.data.identity import candidate_id
from forethought.data.removal import StillNeeded
from forethought.data.store import Store
from forethought.data.traces import Outcome, turn_id
from forethought.ui.cli import app
from forethought.ui.evidence import evidence_of

PIXELS = (Path(__file__).parent.parent / "data/samples/screenshot1.png").read_bytes()
THOUGHT = "I should look it up first."
ALL = {"question": "task", "steps": "log", "thought": "said", "action": "tool", "arguments": "args"}


def chat(number, *, reward=None, picture=None, thought=THOUGHT):
    seen = [{"type": "image", "image": picture}] if picture else []
    asked = [{"type": "text", "text": f"Which town is number {number}?"}, *seen]
    answer = {"role": "assistant", "content": f"<think>{thought}</think>Lisbon."}
    told = {} if reward is None else {"reward": reward}
    return {"messages": [{"role": "user", "content": asked}, answer], **told}


def own(number):
    """A run in a format of somebody's own."""
    step = {"said": THOUGHT, "meant": "It is a river.", "tool": "look", "args": {"at": number}}
    return {"task": f"Which river is number {number}?", "log": [step]}


def write(path, *rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture
def store(tmp_path):
    return tmp_path / "s.db"


def call(store, *words, exit_code=0):
    result = CliRunner().invoke(app, [*map(str, words), "--store", str(store), "--json"])
    if isinstance(result.exception, ForethoughtError):
        raise result.exception
    assert result.exit_code == exit_code, result.output
    return json.loads(result.output)


def traces_in(store):
    opened = Store.open(store)
    assert opened.check() == []
    return list(opened.traces())


def supported_by(store, *traces, name="search-v1"):
    """A set in the store whose only candidate stands on the first turns of these traces, accepted and released."""
    support = tuple(turn_id(trace.id, 0) for trace in traces)
    one = Candidate(candidate_id(THOUGHT), THOUGHT, support=support, questions=len(support))
    opened = Store.open(store)
    opened.save_set(CandidateSet(name, (one,)))
    opened.release(name, "", "ann")
    opened.put("mined-traces", name, {"ids": [trace.id for trace in traces]})
    return one.id


# What was unknown, and now is told


def test_a_run_learns_how_it_ended_when_its_file_tells_it(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", chat(1), chat(2, reward=0), chat(3))
    call(store, "import", file)
    write(file, chat(1, reward=1), chat(2, reward=1), chat(3))

    told = call(store, "import", file)

    assert (told["traces"], told["duplicates"]) == (0, 3)
    assert told["updated"] == {"outcomes": 1, "pictures": 0}
    assert sorted(str(trace.outcome) for trace in traces_in(store)) == [
        "None",
        "failure",
        "success",
    ]
    assert call(store, "import", file)["updated"] == {"outcomes": 0, "pictures": 0}


def test_the_same_run_in_two_files_is_one_that_knows_how_it_ended(store, tmp_path):
    write(tmp_path / "runs/a.jsonl", chat(1))
    write(tmp_path / "runs/b.jsonl", chat(1, reward=1))

    told = call(store, "import", tmp_path / "runs")

    assert (told["traces"], told["duplicates"], told["updated"]["outcomes"]) == (1, 1, 1)
    assert [trace.outcome for trace in traces_in(store)] == [Outcome.SUCCESS]


def test_an_outcome_once_known_is_not_forgotten(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", chat(1, reward=1))
    call(store, "import", file)
    write(file, chat(1))

    for options in ([], ["--replace"]):
        call(store, "import", file, *options)
        assert [trace.outcome for trace in traces_in(store)] == [Outcome.SUCCESS]


def test_pictures_that_turn_up_belong_to_the_run_that_named_them(store, tmp_path):
    runs = [chat(1, picture="page.png", reward=1), chat(1, picture="other.png"), chat(2)]
    file = write(tmp_path / "runs/a.jsonl", *runs)
    call(store, "import", file)
    before = {trace.position: trace for trace in traces_in(store)}
    one = supported_by(store, *before.values())
    (tmp_path / "runs/page.png").write_bytes(PIXELS)

    told = call(store, "import", file)
    after = {trace.position: trace for trace in traces_in(store)}

    assert (told["traces"], told["duplicates"]) == (0, 3)
    assert told["updated"] == {"outcomes": 0, "pictures": 1}
    (picture,) = after[1].turns[0].images
    assert (tmp_path / "s.images" / picture).read_bytes() == PIXELS
    assert after[1].outcome is Outcome.SUCCESS
    # It is known as it was, so all that names it holds.
    assert {place: trace.id for place, trace in before.items()} == {
        place: trace.id for place, trace in after.items()
    }
    assert after[1].repairs == ()
    (typical,) = evidence_of(
        Store.open(store), Store.open(store).candidate("search-v1", one)
    ).typical
    assert typical.thought == THOUGHT

    again = call(store, "import", file)
    assert (again["traces"], again["duplicates"], again["updated"]["pictures"]) == (0, 3, 0)
    renewed = call(store, "import", file, "--replace")
    assert (renewed["traces"], renewed["replaced"]["removed"]) == (0, 0)
    assert {trace.position: trace for trace in traces_in(store)} == after


def test_pictures_turn_up_one_by_one(store, tmp_path):
    first = chat(1, picture="one.png")
    first["messages"][0]["content"].append({"type": "image", "image": "two.png"})
    file = write(tmp_path / "runs/a.jsonl", first)
    call(store, "import", file)
    seen = []
    for number, name in enumerate(("two.png", "one.png")):
        (tmp_path / "runs" / name).write_bytes(PIXELS + bytes([number]))
        assert call(store, "import", file)["updated"]["pictures"] == 1
        (trace,) = traces_in(store)
        seen.append((trace.id, trace.turns[0].images))

    for name in ("one.png", "two.png"):
        (tmp_path / "runs" / name).unlink()
    for options in ([], ["--replace"]):
        call(store, "import", file, *options)
        (trace,) = traces_in(store)
        assert (trace.id, trace.turns[0].images) == seen[1]
    assert seen[0][0] == seen[1][0]
    assert seen[0][1][0] == "one.png"
    assert len(set(seen[1][1])) == 2


def test_a_run_whose_pictures_are_missing_now_keeps_those_it_has(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", chat(1, picture="page.png"))
    (tmp_path / "runs/page.png").write_bytes(PIXELS)
    call(store, "import", file)
    before = traces_in(store)
    (tmp_path / "runs/page.png").unlink()
    write(file, chat(1, picture="page.png", reward=1))

    for options in ([], ["--replace"]):
        told = call(store, "import", file, *options)
        assert (told["traces"], told["duplicates"], told["updated"]["pictures"]) == (0, 1, 0)
        (after,) = traces_in(store)
        assert (after.id, after.outcome) == (before[0].id, Outcome.SUCCESS)


def test_runs_that_saw_different_pictures_are_two(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", chat(1, picture="page.png"))
    (tmp_path / "runs/page.png").write_bytes(PIXELS)
    call(store, "import", file)
    (tmp_path / "runs/page.png").write_bytes(PIXELS + b"another")

    assert call(store, "import", file)["traces"] == 1
    assert len(traces_in(store)) == 2


# Files read anew


def mapped(tmp_path, **paths):
    mapping = tmp_path / "mapping.json"
    mapping.write_text(json.dumps(ALL | paths))
    return "--mapping", mapping


def test_a_corrected_mapping_replaces_what_the_wrong_one_read(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", own(1), own(2))
    write(tmp_path / "runs/b.jsonl", own(3))
    call(store, "import", tmp_path / "runs", *mapped(tmp_path))
    write(file, own(1))

    told = call(store, "import", file, "--replace", *mapped(tmp_path, thought="meant"))

    assert (told["traces"], told["duplicates"]) == (1, 0)
    assert told["replaced"] == {"removed": 2, "kept": 0, "candidates": []}
    assert sorted((t.file[-7:], t.turns[0].thoughts) for t in traces_in(store)) == [
        ("a.jsonl", ("It is a river.",)),
        ("b.jsonl", (THOUGHT,)),
    ]
    again = call(store, "import", file, "--replace", *mapped(tmp_path, thought="meant"))
    assert (again["traces"], again["duplicates"], again["replaced"]["removed"]) == (0, 1, 0)


def test_without_replace_nothing_goes(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", own(1))
    call(store, "import", file, *mapped(tmp_path))

    told = call(store, "import", file, *mapped(tmp_path, thought="meant"))

    assert (told["traces"], told["replaced"]) == (1, None)
    assert len(traces_in(store)) == 2


def test_the_same_file_by_another_way_to_it_is_the_same(store, tmp_path, monkeypatch):
    file = write(tmp_path / "runs/a.jsonl", own(1))
    call(store, "import", file, *mapped(tmp_path))
    monkeypatch.chdir(tmp_path)

    told = call(
        "s.db", "import", "./runs/../runs/a.jsonl", "--replace", *mapped(tmp_path, thought="meant")
    )

    assert told["replaced"]["removed"] == 1
    assert len(traces_in(store)) == 1


def test_runs_of_another_source_in_the_same_file_stay(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", own(1))
    call(store, "import", file, "--source", "old", *mapped(tmp_path))

    told = call(store, "import", file, "--replace", *mapped(tmp_path, thought="meant"))

    assert told["replaced"]["removed"] == 0
    assert {trace.source for trace in traces_in(store)} == {"old", "runs"}


def test_a_reading_anew_that_would_take_a_candidates_turns_changes_nothing(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", own(1), {"task": "?", "log": 5}, own(2))
    call(store, "import", file, *mapped(tmp_path), exit_code=3)
    before, quarantined = traces_in(store), Store.open(store).quarantined()
    supported_by(store, before[0])
    write(file, own(1), {"task": "?", "log": [5]}, own(2), own(3))
    call_again = ["import", file, "--replace", *mapped(tmp_path, thought="meant")]

    with pytest.raises(StillNeeded, match="1 candidate stands on 1 turn.*search-v1.*--force"):
        call(store, *call_again)
    assert traces_in(store) == before
    assert Store.open(store).quarantined() == quarantined

    told = call(store, *call_again, "--force", exit_code=3)
    assert told["traces"] == 3
    assert told["replaced"]["removed"] == 2
    assert [one["turns"] for one in told["replaced"]["candidates"]] == [1]
    assert {trace.turns[0].thoughts for trace in traces_in(store)} == {("It is a river.",)}


def test_what_a_damaged_file_cannot_tell_stays(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", *map(own, range(1, 7)))
    call(store, "import", file, *mapped(tmp_path))
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:2], "{broken", *lines[3:4], lines[4][:20]]))

    told = call(store, "import", file, "--replace", *mapped(tmp_path, thought="meant"), exit_code=3)

    assert told["replaced"] == {"removed": 3, "kept": 3, "candidates": []}
    kept = [trace for trace in traces_in(store) if trace.turns[0].thoughts == (THOUGHT,)]
    assert sorted(trace.position for trace in kept) == [3, 5, 6]


def test_a_file_that_holds_no_run_any_more_keeps_those_it_had(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", own(1))
    call(store, "import", file, *mapped(tmp_path))
    before = traces_in(store)

    call(store, "import", file, "--replace", *mapped(tmp_path, steps="nowhere"), exit_code=3)

    assert traces_in(store) == before


def test_a_reading_anew_that_fails_half_way_changes_nothing(store, tmp_path, monkeypatch):
    file = write(tmp_path / "runs/a.jsonl", own(1), own(2))
    call(store, "import", file, *mapped(tmp_path))
    before = traces_in(store)

    def fails(*_, **__):
        raise OSError("the disk is full")

    monkeypatch.setattr("forethought.data.rereading.remove_traces", fails)
    with pytest.raises(AssertionError):
        call(store, "import", file, "--replace", *mapped(tmp_path, thought="meant"))

    assert traces_in(store) == before


def test_what_was_mended_leaves_the_quarantine(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", own(1))
    with file.open("a") as stream:
        stream.write('{"task": "cut')
    write(tmp_path / "runs/b.jsonl", own(2), {"task": "x"})
    call(store, "import", tmp_path / "runs", *mapped(tmp_path), exit_code=3)
    write(file, own(1), own(3))

    told = call(store, "import", file, "--replace", *mapped(tmp_path))

    assert (told["traces"], told["duplicates"], told["replaced"]["removed"]) == (1, 1, 0)
    assert [row.file[-7:] for row in Store.open(store).quarantined()] == ["b.jsonl"]


def test_a_reading_anew_refreshes_what_else_a_file_says_of_a_run(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", chat(1, reward=1))
    call(store, "import", file)
    write(file, chat(2), chat(1, reward=0) | {"model": "m", "id": "one"})

    told = call(store, "import", file, "--replace")

    assert told["updated"]["outcomes"] == 1
    (one,) = [trace for trace in traces_in(store) if trace.run == "one"]
    assert (one.model, one.position, one.outcome) == ("m", 2, Outcome.FAILURE)


def test_force_without_replace_is_refused(store, tmp_path):
    file = write(tmp_path / "runs/a.jsonl", chat(1))

    with pytest.raises(ForethoughtError, match="--replace"):
        call(store, "import", file, "--force")
    assert not store.exists()


# Traces taken out


@pytest.fixture
def filled(store, tmp_path):
    write(tmp_path / "towns/a.jsonl", chat(1), chat(2))
    write(tmp_path / "towns/b.jsonl", chat(3))
    write(tmp_path / "more/c.jsonl", chat(4))
    call(store, "import", tmp_path / "towns", tmp_path / "more")
    return store


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--source", "towns"], [4]),
        (["--file", "towns/a.jsonl"], [3, 4]),
        (["--file", "towns"], [4]),
        (["--file", "towns/b.jsonl", "--source", "towns"], [1, 2, 4]),
    ],
)
def test_traces_go_by_source_or_file(filled, tmp_path, monkeypatch, options, left):
    monkeypatch.chdir(tmp_path)

    told = call(filled, "traces", "remove", *options)

    assert told == {
        "traces": 4 - len(left),
        "turns": 4 - len(left),
        "thoughts": 4 - len(left),
        "candidates": [],
    }
    remaining = traces_in(filled)
    assert sorted(int(trace.question[-2]) for trace in remaining) == left
    found = Store.open(filled).thoughts_page().thoughts
    assert {hit.trace_id for hit in found} == {trace.id for trace in remaining}


def test_traces_go_by_the_beginning_of_their_ids(filled):
    first, second, *rest = traces_in(filled)

    told = call(filled, "traces", "remove", first.id[:8], second.id, second.id)

    assert told["traces"] == 2
    assert traces_in(filled) == rest
    with pytest.raises(NotFound, match=first.id):
        call(filled, "traces", "remove", rest[0].id, first.id)
    assert traces_in(filled) == rest


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "name the traces"),
        (["t_", "--source", "towns"], "name the traces"),
        (["--source", "nowhere"], "no traces of source 'nowhere'.*more, towns"),
        (["--file", "nowhere.jsonl"], "no traces of file 'nowhere.jsonl'"),
        (["--source", "more", "--file", "towns"], "source 'more' and file 'towns'"),
    ],
)
def test_what_names_no_trace_is_told_in_one_line(filled, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ForethoughtError, match=told):
        call(filled, "traces", "remove", *words)
    assert len(traces_in(filled)) == 4


def test_turns_that_a_candidate_stands_on_go_only_by_consent(filled):
    first, second, *rest = traces_in(filled)
    one = supported_by(filled, first, second, rest[0])
    supported_by(filled, first, name="other")

    with pytest.raises(StillNeeded, match="2 candidates stand on 3 turns.*search-v1.*--force"):
        call(filled, "traces", "remove", first.id, second.id)
    assert len(traces_in(filled)) == 4

    told = call(filled, "traces", "remove", first.id, second.id, "--force")
    assert sorted((row["set"], row["turns"]) for row in told["candidates"]) == [
        ("other", 1),
        ("search-v1", 2),
    ]
    assert traces_in(filled) == rest  # and `check` finds nothing
    opened = Store.open(filled)
    candidate = opened.candidate("search-v1", one)
    evidence = evidence_of(opened, candidate)
    assert (evidence.support, evidence.missing) == (3, 2)
    edit = commands.Edit("search-v1", one, candidate.version, "ann")
    assert commands.accept(opened, edit).support == candidate.support
    assert opened.check() == []


def test_candidates_that_left_their_set_hold_nothing(filled):
    first, *rest = traces_in(filled)
    supported_by(filled, first)
    Store.open(filled).save_set(mined())  # the former candidate is no member any more

    assert call(filled, "traces", "remove", first.id)["traces"] == 1
    assert traces_in(filled) == rest
