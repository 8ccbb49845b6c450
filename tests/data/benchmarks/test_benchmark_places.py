"""Where benchmarks lie: files of each kind, folders, the hub; what is broken there, and pictures that are not there."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from PIL import Image

from forethought.data.benchmarks import BENCHMARKS, ImageSource, read_benchmark
from forethought.data.benchmarks.hub import fetched
from forethought.data.errors import BenchmarkUnavailable, BrokenPicture, NotFound

ROWS = [{"id": n, "question": f"Who is number {n}?", "answer": f"Number {n}"} for n in (1, 2, 3)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
NAMES = ["1", "2", "3"]


def ids(place: Path, name: str = "mat-search") -> list[str]:
    return [question.id for question in read_benchmark(name, str(place)).questions]


def parquet(path: Path, rows: list[dict]) -> None:
    pa.parquet.write_table(pa.Table.from_pylist(rows), path)


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "drawn.png"
    Image.new("RGB", (4, 3)).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz", "a.jsonl.gz", "a.parquet"])
def test_every_kind_of_file_holds_the_same_questions(tmp_path, name):
    path = tmp_path / name
    text = LINES if "jsonl" in name else json.dumps(ROWS)
    if name.endswith("parquet"):
        parquet(path, ROWS)
    else:
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())

    assert ids(path) == NAMES
    assert ids(tmp_path) == NAMES


def test_an_object_keyed_by_id_gives_the_ids(tmp_path):
    keyed = {f"k{n}": {"question": "Who?", "answer": "x"} for n in range(3)}
    (tmp_path / "a.json").write_text(json.dumps(keyed))

    assert ids(tmp_path) == ["k0", "k1", "k2"]


def test_a_folder_is_read_in_the_order_of_names_and_rows_without_id_are_told_apart(tmp_path):
    row = json.dumps({"question": "Who?", "answer": "x"}) + "\n"
    for name in ("b/data", "a/data"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.jsonl").write_text(row * 2)

    assert ids(tmp_path) == ["a/data-1", "a/data-2", "b/data-1", "b/data-2"]


def test_files_of_something_else_are_named_and_pictures_are_no_data(tmp_path, picture):
    (tmp_path / "a.jsonl").write_text(LINES)
    (tmp_path / "predictions.json").write_text('[{"pred": "x"}]')
    (tmp_path / "README.md").write_text("x")

    held = read_benchmark("mat-search", str(tmp_path))

    assert len(held.questions) == 3 and not held.unusable
    assert [Path(skipped.file).name for skipped in held.skipped] == ["predictions.json"]


def test_a_picture_in_parquet_is_read_out_of_its_bytes(tmp_path, picture):
    row = {
        "data_id": "f",
        "prompt": [{"role": "user", "content": "<image>Who?"}],
        "images": [{"bytes": picture, "path": None}],
        "reward_model": {"ground_truth": "x", "candidate_answers": '["y"]', "style": "rule"},
    }
    parquet(tmp_path / "fvqa_test.parquet", [row] * 1)

    [question] = read_benchmark("fvqa-test", str(tmp_path)).questions

    assert question.images[0].open().size == (4, 3)
    assert question.answers == ("x", "y")


def test_every_row_is_a_question_or_is_counted(tmp_path):
    broken = ['{"id": 4, "question": "Who?"}', '{"id": 5, "que', '["x"]', '{"x": 1}', "", "null"]
    (tmp_path / "a.jsonl").write_text(LINES + "\n".join([*broken, json.dumps(ROWS[0])]))

    held = read_benchmark("mat-search", str(tmp_path))

    assert len(held.questions) == 3
    assert [lost.row.rpartition(":")[2] for lost in held.unusable] == [
        "4",
        "5",
        "6",
        "7",
        "9",
        "10",
    ]
    assert "no true answer" in held.unusable[0].reason
    assert held.unusable[1].reason.startswith("cut short")
    assert "no question in it" in held.unusable[2].reason
    assert "its id '1' was met before, in" in held.unusable[-1].reason
    assert "a.jsonl:1" in held.unusable[-1].reason


def test_damaged_parquet_is_one_line(tmp_path):
    (tmp_path / "a.jsonl").write_text(LINES)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and nothing")

    held = read_benchmark("mat-search", str(tmp_path))

    assert len(held.questions) == 3
    [lost] = held.unusable
    assert lost.row.endswith("b.parquet:1") and "no parquet that can be read" in lost.reason
    assert "\n" not in lost.reason


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.jsonl", '{"question": "Who?"}\n', "1 rows are unusable, the first"),
        ("a.jsonl", '{"x": 1}\n', "in 1 files"),
        ("a.json", "", "empty file"),
        ("a.csv", "x", "no file there that ends in .json"),
    ],
)
def test_a_place_without_a_question_is_an_error_of_one_line(tmp_path, name, text, told):
    (tmp_path / name).write_text(text)

    with pytest.raises(BenchmarkUnavailable) as error:
        read_benchmark("mat-search", str(tmp_path / name))

    assert told in str(error.value) and "\n" not in str(error.value)


def test_a_place_that_is_not_there_and_a_name_that_is_none():
    with pytest.raises(NotFound, match="no such file"):
        read_benchmark("mat-search", "nowhere/at/all")
    with pytest.raises(BenchmarkUnavailable, match="choose one of mmsearch, hr-mmsearch"):
        read_benchmark("mmsearh", "x")


def test_without_a_place_a_benchmark_comes_from_the_hub_or_says_where_to_get_it():
    with pytest.raises(BenchmarkUnavailable, match="hub:CaraJ/MMSearch cannot be downloaded"):
        read_benchmark("mmsearch")  # tests are offline
    with pytest.raises(BenchmarkUnavailable, match="multimodal-search-r1"):
        read_benchmark("infoseek")


def test_of_a_data_set_on_the_hub_the_files_with_questions_are_read(tmp_path):
    (tmp_path / "MAT-Benchmark").mkdir()
    (tmp_path / "MAT-Benchmark" / "MAT-Search.json").write_text(json.dumps(ROWS))
    (tmp_path / "MAT-Benchmark" / "MAT-Coding.json").write_text(json.dumps(ROWS))
    asked = []

    def download(repo, **options):
        asked.append((repo, options))
        return str(tmp_path)

    place = fetched(f"hub:{BENCHMARKS['mat-search'].hub}", download)

    pattern = "MAT-Benchmark/MAT-Search*"
    assert asked == [("laolao77/MAT", {"repo_type": "dataset", "allow_patterns": [pattern]})]
    assert ids(Path(place)) == NAMES


def test_a_hub_that_cannot_be_reached_is_one_line():
    def refuse(repo, **options):
        raise ConnectionError("offline\nmode")

    with pytest.raises(BenchmarkUnavailable) as error:
        fetched("hub:a/b", refuse)

    assert "hub:a/b" in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "name", ["gone.png", "../secret.png", "/etc/passwd", "https://x/y.png", "a\0b", "", "x" * 999]
)
def test_a_picture_that_is_not_there_says_so_when_opened(tmp_path, name, picture):
    folder = tmp_path / "bench"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(picture)
    source = ImageSource(name, "a.jsonl:3", folder=folder)

    with pytest.raises(BrokenPicture, match="a.jsonl:3: no picture") as error:
        source.open()

    assert "\n" not in str(error.value)


def test_a_picture_is_found_in_the_folder_and_in_those_directly_in_it(tmp_path, picture):
    (tmp_path / "photos" / "deep").mkdir(parents=True)
    (tmp_path / "photos" / "p.png").write_bytes(picture)
    (tmp_path / "photos" / "deep" / "q.png").write_bytes(picture)

    for name in ("p.png", "photos/p.png", "photos/deep/q.png", "p", "/elsewhere/p.png"):
        assert ImageSource(name, "r", folder=tmp_path).read() == picture, name


def test_what_is_no_picture_or_half_of_one_says_so_when_opened(picture):
    for content in (b"", b"no picture", picture[: len(picture) // 2]):
        with pytest.raises(BrokenPicture, match="r: the picture 'x' .* cannot be shown") as error:
            ImageSource("x", "r", content=content).open()
        assert "\n" not in str(error.value) and "0x" not in str(error.value)
