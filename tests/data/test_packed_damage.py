"""Packed files that are cut off or damaged at any byte: what was whole before is read, and the damage is told once."""

import gzip
import json
import random
import zlib

import pyarrow
import pytest

from forethought.data.formats import Quarantined, Skipped, read_traces
from forethought.data.formats.streams import Gunzipped, Unpacked, damage_in, opened
from forethought.data.traces import Trace

CHANCE = random.Random(7)
ROWS = [
    json.dumps(
        {
            "messages": [
                {"role": "user", "content": f"{number}"},
                {"role": "assistant", "content": f"<think>{CHANCE.randbytes(30).hex()}</think>x"},
            ]
        }
    ).encode()
    for number in range(3000)
]


def zstd(content):
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def flushed(rows):
    """As a program's log is: packed line by line, so that every line before a cut is there."""
    packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    return b"".join(packer.compress(row + b"\n") + packer.flush(zlib.Z_SYNC_FLUSH) for row in rows)


def unpacked_before(data):
    """All that zlib makes of it, byte by byte."""
    unpacker, found = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS), b""
    try:
        for at in range(len(data)):
            found += unpacker.decompress(data[at : at + 1])
    except zlib.error:
        pass
    return found


def read(path):
    found = list(read_traces([path]))
    assert not any(isinstance(one, Skipped) for one in found)
    numbers = [int(one.question) for one in found if isinstance(one, Trace)]
    return numbers, [one for one in found if isinstance(one, Quarantined)]


@pytest.mark.parametrize("as_array", [False, True], ids=["lines", "array"])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.999])
def test_a_gzip_file_that_is_cut_gives_all_before_the_cut(tmp_path, share, as_array):
    content = b"[" + b",\n".join(ROWS) + b"]" if as_array else b"\n".join(ROWS)
    packed = gzip.compress(content)
    packed = packed[: int(len(packed) * share)]
    (tmp_path / "a.json.gz").write_bytes(packed)

    numbers, lost = read(tmp_path / "a.json.gz")

    whole = unpacked_before(packed).count(b'x"}]}')
    assert numbers == list(range(whole))
    assert [one.position for one in lost] == [whole + 1]
    assert lost[0].reason == "damaged gzip: the file ends before its data does"


@pytest.mark.parametrize("at", [100, 5000, 60_000, 90_000])
def test_a_gzip_file_with_a_broken_byte_gives_all_that_can_be_unpacked(tmp_path, at):
    packed = bytearray(gzip.compress(b"\n".join(ROWS)))
    packed[at : at + 8] = b"\xff" * 8
    (tmp_path / "a.jsonl.gz").write_bytes(packed)

    numbers, lost = read(tmp_path / "a.jsonl.gz")

    good = unpacked_before(bytes(packed)).split(b"\n")[:-1]
    assert numbers == [number for number, row in enumerate(good) if row == ROWS[number]]
    assert lost[-1].reason.startswith("damaged gzip: ")
    assert sum(one.reason.startswith("damaged") for one in lost) == 1


def test_a_wrong_checksum_is_told_and_costs_nothing(tmp_path):
    packed = bytearray(gzip.compress(b"\n".join(ROWS)))
    packed[-6] ^= 1
    (tmp_path / "a.jsonl.gz").write_bytes(packed)

    numbers, lost = read(tmp_path / "a.jsonl.gz")

    assert numbers == list(range(len(ROWS)))
    assert ["damaged gzip: " in one.reason for one in lost] == [True]


def test_a_log_that_was_packed_line_by_line_gives_every_line_before_the_cut(tmp_path):
    packed = flushed(ROWS[:100])
    for cut in range(len(packed) - 300, len(packed), 37):
        (tmp_path / "a.jsonl.gz").write_bytes(packed[:cut])
        numbers, lost = read(tmp_path / "a.jsonl.gz")
        assert len(numbers) == unpacked_before(packed[:cut]).count(b"\n")
        assert len(lost) == 1


@pytest.mark.parametrize("share", [0.4, 0.8, 0.999])
def test_a_zstd_file_that_is_cut_gives_its_blocks_before_the_cut(tmp_path, share):
    packed = zstd(b"\n".join(ROWS))
    (tmp_path / "a.jsonl.zst").write_bytes(packed[: int(len(packed) * share)])

    numbers, lost = read(tmp_path / "a.jsonl.zst")

    block = 2**17  # what zstd packs together
    assert numbers == list(range(len(numbers)))
    assert len(b"\n".join(ROWS[: len(numbers) + 1])) >= share * len(b"\n".join(ROWS)) - 2 * block
    assert [one.reason for one in lost] == ["damaged zstd: Truncated compressed stream"]


def test_frames_of_zstd_before_a_cut_one_are_whole(tmp_path):
    whole = [zstd(row + b"\n") for row in ROWS[:50]]
    (tmp_path / "a.jsonl.zst").write_bytes(b"".join(whole)[:-10])

    numbers, lost = read(tmp_path / "a.jsonl.zst")

    assert (numbers, len(lost)) == (list(range(49)), 1)


def test_a_cut_text_is_read_up_to_the_cut_and_told(tmp_path):
    log = "Question: Who?\n" * 3 + "".join(f"line {n} {CHANCE.random()}\n" for n in range(5000))
    trial = "----- BEGIN CORRECT AGENTS -----\n\nQuestion: Who?\nThought 1: I look.\nAction 1: Search[x]\nObservation 1: y\n"
    packed = gzip.compress((trial + log).encode())
    (tmp_path / "a.log.gz").write_bytes(packed[:-1000])

    found = list(read_traces([tmp_path / "a.log.gz"]))

    assert [one.question for one in found if isinstance(one, Trace)] == ["Who?"]
    assert [one.reason for one in found if isinstance(one, Quarantined)] == [
        "damaged gzip: the file ends before its data does"
    ]


def test_members_and_padding_are_read_as_gzip_reads_them(tmp_path):
    content = b"".join(map(gzip.compress, (b"one ", b"", b"two ", b"x" * 300_000))) + b"\0" * 700
    (tmp_path / "a.gz").write_bytes(content)

    with opened(tmp_path / "a.gz") as stream:
        assert stream.read() == b"one two " + b"x" * 300_000
        assert damage_in(stream) is None
    with (tmp_path / "a.gz").open("rb") as raw:
        slow = Gunzipped(raw, 1)
        assert b"".join(iter(lambda: slow.read(1), b"")) == gzip.decompress(content)


def test_what_fails_at_once_fails_with_its_own_reason(tmp_path):
    class Failing:
        def read(self, size):
            raise OSError(5, "Input/output error")

        def close(self):
            pass

    stream = Unpacked(lambda step: Failing(), 10)
    assert stream.read(5) == b""
    assert stream.damage.strerror == "Input/output error"
