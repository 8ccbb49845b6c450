"""Damaged documents of every format: each part of each sample replaced by something else, and texts made to take long."""

import copy
import json
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from forethought.data.formats import FORMATS, Quarantined, Skipped, read_traces
from forethought.data.formats.reader import UNREADABLE
from forethought.data.formats.tags import tagged
from forethought.data.traces import Trace

SAMPLES = sorted(
    p
    for p in (Path(__file__).parent / "samples").iterdir()
    if p.suffix in (".json", ".jsonl", ".traj")
)
OTHERS = (
    None,
    True,
    0,
    -1.5,
    "",
    "text",
    "<think>",
    [],
    [[]],
    ["a"],
    [None],
    {},
    {"type": "text"},
    {"a": {}},
    10**30,
)


def places(value, path=()):
    """Where each part of a JSON value stands."""
    yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, one in items:
        yield from places(one, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def replaced(value, path, other):
    if not path:
        return other
    changed = copy.deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = other
    return changed


def documents(sample):
    text = sample.read_text("utf-8")
    return (
        [json.loads(line) for line in text.splitlines()]
        if sample.suffix == ".jsonl"
        else [json.loads(text)]
    )


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_damaged_part_costs_no_more_than_its_document(tmp_path, sample):
    chance = random.Random(sample.name)
    rows = documents(sample)
    for number in range(12):
        index = chance.randrange(len(rows))
        path = chance.choice(list(places(rows[index])))
        broken = [
            *rows[:index],
            replaced(rows[index], path, chance.choice(OTHERS)),
            *rows[index + 1 :],
        ]
        file = tmp_path / f"{number}.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in broken))
        for found in read_traces([file]):
            assert isinstance(found, Trace | Quarantined | Skipped)
            if isinstance(found, Trace):
                assert found.id.startswith("t_")
                assert all(len(turn.observations) == len(turn.actions) for turn in found.turns)


def texts_in(traces):
    """All that the traces say, in the words of their questions, thoughts, actions, observations and pictures."""
    return "\n".join(
        json.dumps([t.question, [vars(turn) for turn in t.turns]], default=vars) for t in traces
    )


def told(traces):
    return Counter(repair for trace in traces for repair in trace.repairs)


# By these a document is recognised, or its parts are put together: with another value it is another document.
TELLING = {"traceId", "trace_id", "session_id", "dotted_order", "start_time", "id", "uuid", "key"}
TELLING |= {"trajectory_format", "op_name", "run_type", "schema_version"}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_what_has_the_wrong_type_is_never_dropped_in_silence(tmp_path, sample):
    """A text that is gone, since something else stands in its place, is gone with its document, or counted as a repair."""
    chance = random.Random(sample.name)
    rows = documents(sample)
    file = tmp_path / "a.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    before = list(read_traces([file]))
    said = texts_in(before)
    leaves = [
        (index, path)
        for index, row in enumerate(rows)
        for path in places(row)
        if path and path[-1] not in TELLING and isinstance(text := at(row, path), str)
        if len(text) > 20 and json.dumps(text)[1:-1][:40] in said
    ]
    for index, path in chance.sample(leaves, min(len(leaves), 40)):
        broken = replaced(rows[index], path, chance.choice((987654, {"xyzzy": 1}, ["xyzzy"])))
        changed = [*rows[:index], broken, *rows[index + 1 :]]
        file.write_text("".join(f"{json.dumps(row)}\n" for row in changed))
        found = list(read_traces([file]))
        if all(isinstance(one, Trace) for one in found) and not told(found) - told(before):
            missing = json.dumps(at(rows[index], path))[1:-1][:40]
            shows = any(word in texts_in(found) for word in (missing, "xyzzy", "987654"))
            assert shows, f"{path}: {missing}"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_no_detector_raises_on_damage(sample):
    chance = random.Random(sample.name)
    for document in documents(sample):
        for _ in range(12):
            path = chance.choice(list(places(document)))
            broken = replaced(document, path, chance.choice(OTHERS))
            for row in FORMATS:
                if row.detects(broken):
                    try:
                        row.traces(broken)
                    except UNREADABLE:
                        continue


@pytest.mark.parametrize(
    "text",
    [
        "<think>a<search>q</search>" * 20_000,
        "<think>" * 100_000,
        "<answer>" * 100_000,
        "<think></think>" * 50_000,
    ],
    ids=["unclosed", "openings", "actions", "pairs"],
)
def test_tags_take_time_in_proportion_to_their_text(text):
    started = time.process_time()
    tagged(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("mark", ["<think>\n", "[image: a]\n", "<information>"])
def test_a_log_of_nothing_but_marks_takes_time_in_proportion(tmp_path, mark):
    (tmp_path / "a.log").write_text("[image: a.png]\nWho?\n<think>x</think>\n" + mark * 50_000)
    started = time.process_time()
    list(read_traces([tmp_path]))
    assert time.process_time() - started < 10
