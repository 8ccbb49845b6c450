"""What files come in: archives, zstd, parquet and plain logs, each read in place, capped, and told when it is damaged."""

import gzip
import io
import json
import tracemalloc
import zipfile

import pytest

from forethought.data.formats import Quarantined, Skipped, read_traces, streams
from forethought.data.traces import Trace

pyarrow = pytest.importorskip("pyarrow")


def line(question="Who?", thought="a"):
    row = {"instruction": question, "output": f"Thought: {thought}\nAction: finish[b]"}
    return json.dumps(row).encode() + b"\n"


def zstd(content):
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def zipped(members, **options):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def read(path):
    return list(read_traces([path]))


def questions(found):
    return [one.question for one in found if isinstance(one, Trace)]


def lost(found):
    return [
        (one.file.rsplit("/", 1)[-1], one.reason) for one in found if isinstance(one, Quarantined)
    ]


def written(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


@pytest.mark.parametrize("name", ["a.jsonl.zst", "a.jsonl", "a.json.gz"])
def test_a_zstd_file_is_read_whatever_it_is_called(tmp_path, name):
    assert questions(read(written(tmp_path, name, zstd(line("1") + line("2"))))) == ["1", "2"]


def test_frames_of_zstd_behind_one_another_are_one_file(tmp_path):
    file = written(tmp_path, "a.jsonl.zst", zstd(line("1")) + zstd(line("2")))
    assert questions(read(file)) == ["1", "2"]


def test_a_cut_zstd_file_is_told(tmp_path):
    whole = zstd(b"".join(line(str(n), str(n) * 50) for n in range(3000)))
    found = read(written(tmp_path, "a.jsonl.zst", whole[:-200]))
    assert len(lost(found)) == 1
    assert lost(found)[0][1].startswith("damaged zstd: ")


def test_members_of_an_archive_are_files_with_their_place_and_an_inner_archive_is_opened_once(
    tmp_path,
):
    deep = zipped({"c.jsonl": line("3")})
    inner = zipped({"b.jsonl": line("2"), "deep.zip": deep})
    members = {
        "x/a.jsonl": line("1"),
        "x/inner.zip": inner,
        "x/notes.md": b"#",
        "z.jsonl.gz": gzip.compress(line("4")),
    }
    found = read(written(tmp_path, "runs.zip", zipped(members)))

    assert questions(found) == ["1", "2", "4"]
    assert [one.file for one in found if isinstance(one, Trace)][:2] == [
        str(tmp_path / "runs.zip/x/a.jsonl"),
        str(tmp_path / "runs.zip/x/inner.zip/b.jsonl"),
    ]
    assert [one.reason[:13] for one in found if isinstance(one, Skipped)] == [
        "an archive in",
        "not one of .j",
    ]


def test_nothing_of_an_archive_is_written_anywhere(tmp_path):
    folder = tmp_path / "import"
    folder.mkdir()
    written(
        folder, "runs.zip", zipped({"../../escaped.jsonl": line("1"), "/absolute.jsonl": line("2")})
    )
    assert sorted(questions(read(folder))) == ["1", "2"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["import", "runs.zip"]


@pytest.mark.parametrize("name", ["a.zip", "a.eval"])
def test_what_is_no_archive_is_told(tmp_path, name):
    assert lost(read(written(tmp_path, name, b"PK\x03\x04garbage"))) == [
        (name, lost(read(tmp_path / name))[0][1])
    ]
    assert lost(read(tmp_path / name))[0][1].startswith("damaged zip")


def test_a_damaged_member_costs_no_other_member(tmp_path):
    whole = bytearray(zipped({"a.jsonl": line("1"), "b.jsonl": line("2" * 300)}))
    whole[whole.index(b"b.jsonl") + 12] ^= 0xFF
    found = read(written(tmp_path, "a.zip", bytes(whole)))
    assert questions(found) == ["1"]
    assert len(lost(found)) == 1


def test_an_encrypted_member_is_told(tmp_path):
    whole = bytearray(zipped({"a.jsonl": line("1")}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        whole[whole.index(mark) + offset] |= 1
    assert lost(read(written(tmp_path, "a.zip", bytes(whole)))) == [("a.jsonl", "encrypted")]


@pytest.mark.parametrize("pack", [gzip.compress, zstd, lambda data: zipped({"a.jsonl": data})])
def test_what_unpacks_to_far_more_than_it_takes_is_refused_without_being_held(
    tmp_path, monkeypatch, pack
):
    monkeypatch.setattr(streams, "FREE", 2**20)
    bomb = pack(b" " * (40 * 2**20))
    name = "a.zip" if bomb[:2] == b"PK" else "a.jsonl.gz"
    file = written(tmp_path, name, bomb)
    tracemalloc.start()
    found = read(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [reason.startswith("unpacks to more than") for _, reason in lost(found)] == [True]
    assert peak < 25 * 2**20


def test_honest_repetition_is_no_bomb(tmp_path):
    rows = b"".join(line(str(n)) for n in range(20_000))
    assert len(questions(read(written(tmp_path, "a.jsonl.gz", gzip.compress(rows))))) == 20_000


def test_parquet_rows_are_documents_and_what_is_no_parquet_is_told(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    row = json.loads(line("1"))
    chat = [{"role": "user", "content": "2"}, {"role": "assistant", "content": "He."}]
    parquet.write_table(pyarrow.Table.from_pylist([row]), tmp_path / "a.parquet")
    parquet.write_table(
        pyarrow.Table.from_pylist([{"messages": json.dumps(chat)}]), tmp_path / "b.parquet"
    )
    written(tmp_path, "c.zip", zipped({"a.parquet": (tmp_path / "a.parquet").read_bytes()}))
    written(tmp_path, "d.parquet", b"PAR1 not")
    found = read(tmp_path)

    assert questions(found) == ["1", "2", "1"]
    assert [name for name, _ in lost(found)] == ["d.parquet"]
    assert lost(found)[0][1].startswith("no parquet that can be read")


def test_a_log_that_holds_json_is_read_as_json_and_prose_is_passed_over(tmp_path):
    written(tmp_path, "a.log", line("1") + line("2"))
    written(tmp_path, "b.txt", b"Dear diary.\n")
    written(tmp_path, "c.txt", b"")
    found = read(tmp_path)

    assert questions(found) == ["1", "2"]
    assert [one.file.rsplit("/", 1)[-1] for one in found if isinstance(one, Skipped)] == [
        "b.txt",
        "c.txt",
    ]
    assert lost(found) == []


def test_a_text_that_is_too_long_is_told_where_it_holds_runs_and_passed_over_where_not(tmp_path):
    written(tmp_path, "a.log", b"------------- BEGIN CORRECT AGENTS -------------\n" + b"x" * 2000)
    written(tmp_path, "b.log", b"server started\n" * 200)
    found = list(read_traces([tmp_path], max_bytes=1000))

    assert lost(found) == [("a.log", "longer than 1,000 bytes")]
    assert [one.file.rsplit("/", 1)[-1] for one in found if isinstance(one, Skipped)] == ["b.log"]


def test_an_inspect_archive_gives_its_samples_with_the_headers_model(tmp_path):
    asked = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "He."}]
    samples = {
        f"samples/{n}_epoch_1.json": json.dumps({"id": n, "messages": asked}) for n in (1, 2)
    }
    header = {
        "header.json": json.dumps({"eval": {"model": "m", "task": "t"}}),
        "summaries.json": "[]",
    }
    found = read(
        written(tmp_path, "a.eval", zipped({**samples, **header, "samples/3_epoch_1.json": "{"}))
    )

    assert [(one.model, one.run) for one in found if isinstance(one, Trace)] == [
        ("m", "1"),
        ("m", "2"),
    ]
    assert [reason.split(" ")[0] for _, reason in lost(found)] == ["cut"]
