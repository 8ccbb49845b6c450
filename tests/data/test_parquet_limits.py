"""What parquet files may hold: rows that are too long, nested too deep or unpack to too much are told, and cost no more than they must."""

import json

import pytest

from forethought.data.formats import Quarantined, read_traces, streams
from forethought.data.traces import Trace

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def chat(number, words=""):
    answer = {"role": "assistant", "content": f"<think>a</think>b{words}"}
    return [{"role": "user", "content": f"{number}"}, answer]


def read(tmp_path, columns, **options):
    table = pyarrow.table(columns)
    parquet.write_table(table, tmp_path / "a.parquet", compression="zstd")
    found = list(read_traces([tmp_path / "a.parquet"], **options))
    return (
        [one.question for one in found if isinstance(one, Trace)],
        [(one.position, one.reason) for one in found if isinstance(one, Quarantined)],
    )


@pytest.mark.parametrize("as_json", [False, True])
def test_a_row_that_is_too_long_costs_itself(tmp_path, as_json):
    rows = [chat(n, "x" * (5000 if n in (2, 70) else 10)) for n in range(100)]
    column = [json.dumps(row) for row in rows] if as_json else rows

    questions, lost = read(tmp_path, {"messages": column}, max_bytes=4000)

    assert questions == [str(n) for n in range(100) if n not in (2, 70)]
    assert lost == [(3, "longer than 4,000 bytes"), (71, "longer than 4,000 bytes")]


def test_columns_that_nest_too_deep_cost_their_file(tmp_path):
    kind, value = pyarrow.string(), "x"
    for _ in range(60):
        kind, value = pyarrow.list_(kind), [value]
    deep = pyarrow.array([value, None], type=kind)

    questions, lost = read(tmp_path, {"messages": [chat(1), chat(2)], "deep": deep})

    assert questions == []
    assert [reason[:43] for _, reason in lost] == ["no parquet that can be read: Parquet schema"]


def test_json_in_a_column_that_nests_too_deep_stays_a_text(tmp_path):
    deep = "[" * 5000 + "]" * 5000
    called = chat(1)
    called[1]["tool_calls"] = [{"function": {"name": "f", "arguments": f'{{"a": {deep}}}'}}]
    messages = [json.dumps(one) for one in (called, chat(2))] + [deep]

    questions, lost = read(tmp_path, {"messages": messages, "notes": ["", deep, ""]})

    assert questions == ["1", "2"]
    assert lost == [(3, "no known trace format")]


def test_what_unpacks_to_too_much_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "FREE", 2**16)
    rows = [" " * 200_000 + str(n) for n in range(50)]

    questions, lost = read(tmp_path, {"messages": rows})

    assert questions == []
    assert [reason[:20] for _, reason in lost] == ["unpacks to more than"]
