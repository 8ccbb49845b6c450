"""Each benchmark's own rows and the unified ones: questions, accepted answers, pictures, facts."""

import json
from base64 import b64encode
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from forethought.data.benchmarks import BENCHMARKS, Question, Unusable, read_benchmark
from forethought.data.benchmarks.fields import Row

SAMPLES = Path(__file__).parent


def drawn(colour: str = "red", size: tuple[int, int] = (9, 6)) -> bytes:
    content = BytesIO()
    Image.new("RGB", size, colour).save(content, "PNG")
    return content.getvalue()


IMAGE = drawn()
OWN = {
    "mmsearch": {
        "sample_id": "e1",
        "query": "Who won?",
        "query_image": {"bytes": IMAGE, "path": None},
        "image_search_result": {"bytes": IMAGE, "path": None},
        "area": "news",
        "subfield": "sports",
        "gt_answer": "Ann Lee",
        "alternative_gt_answers": ["A. Lee"],
    },
    "hr-mmsearch": {
        "query": "What does the sign say?",
        "query_image": "images/a.png",
        "ground_truth": "Exit",
        "difficulty": "hard",
        "category": "cities",
        "image_search_title_list": ["A station"],
        "image_search_thumbnail_list": ["images/a.png"],
    },
    "fvqa-test": {
        "data_id": "fvqa_1",
        "prompt": [{"role": "user", "content": "<image>\nWhich year?"}],
        "images": [{"bytes": IMAGE, "path": "x.png"}],
        "reward_model": {"ground_truth": "1998", "candidate_answers": '["1998", "in 1998"]'},
        "data_source": "fvqa",
    },
    "simplevqa": {
        "data_id": 7,
        "question": "Which tower is it?",
        "image": b64encode(IMAGE).decode(),
        "answer": "Eiffel Tower",
        "language": "EN",
        "original_category": "Buildings",
    },
    "livevqa": {
        "id": "n1",
        "img_path": "a.png",
        "level1_qa": {
            "question": "Where is it?",
            "question_type": "location",
            "options": ["A. Rome", "B. Oslo"],
            "Ground_Truth": "B",
            "Ground_Truth_List": ["Oslo", "Oslo, Norway"],
            "img_path": "a.png",
        },
        "level2_qa": {
            "question": "Who spoke there?",
            "question_type": "person",
            "options": ["A. Ann Lee", "B. Bo Ek"],
            "Ground_Truth": "A",
            "Ground_Truth_List": [],
        },
        "source": "a paper",
        "time": "2025-04-12",
    },
    "mat-search": {
        "id": 80,
        "question": "Where was it made?",
        "answer": ["Turin"],
        "image_path": "80.png",
    },
    "infoseek": {
        "data_id": "infoseek_val_1",
        "image_id": "oven_1",
        "question": "How long is it in metre?",
        "answer": ["120"],
        "answer_eval": [{"wikidata": 120.0, "range": [108.0, 132.0]}],
        "data_split": "val_unseen_question",
    },
    "hotpotqa": {
        "_id": "5a8b",
        "question": "Which is older?",
        "answer": "The first",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": [["A", 0]],
        "context": [["A", ["A is old."]]],
    },
}


def read(name: str, fields: object, folder: Path = SAMPLES) -> list[Question | Unusable]:
    row = Row("rows.jsonl:1", "rows-1", fields, folder)  # type: ignore[arg-type]
    return list(BENCHMARKS[name].reader.read(row, name))


def test_every_benchmark_has_a_row_here():
    assert OWN.keys() == BENCHMARKS.keys()


@pytest.mark.parametrize("name", OWN)
def test_own_rows_are_recognised_and_can_be_asked(name):
    assert BENCHMARKS[name].reader.holds(OWN[name])
    for question in read(name, OWN[name]):
        assert isinstance(question, Question), question
        assert question.benchmark == name
        assert "<image>" not in question.text


def test_what_mmsearch_says():
    [question] = read("mmsearch", OWN["mmsearch"])

    assert (question.id, question.answers) == ("e1", ("Ann Lee", "A. Lee"))
    assert question.images[0].open().size == (9, 6)
    assert [(hit.title, hit.thumbnail is not None) for hit in question.image_results] == [
        ("", True)
    ]
    assert question.facts == {"area": "news", "subfield": "sports"}


def test_what_hr_mmsearch_says(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(IMAGE)

    [question] = read("hr-mmsearch", OWN["hr-mmsearch"], tmp_path)

    assert question.id == "rows-1"  # it has none of its own
    assert question.images[0].open().size == (9, 6)
    assert question.image_results[0].title == "A station"
    assert question.image_results[0].thumbnail.read() == IMAGE
    assert question.facts == {"difficulty": "hard", "category": "cities"}


def test_what_fvqa_says():
    [question] = read("fvqa-test", OWN["fvqa-test"])

    assert (question.id, question.text) == ("fvqa_1", "Which year?")
    assert question.answers == ("1998", "in 1998")
    assert question.images[0].open().size == (9, 6)


def test_what_simplevqa_says():
    [question] = read("simplevqa", OWN["simplevqa"])

    assert question.id == "7"
    assert question.images[0].read() == IMAGE  # out of base64
    assert BENCHMARKS["simplevqa"].in_tables(question)
    [chinese] = read("simplevqa", {**OWN["simplevqa"], "language": "CN"})
    assert not BENCHMARKS["simplevqa"].in_tables(chinese)


def test_livevqa_asks_two_questions_an_item():
    first, second = read("livevqa", OWN["livevqa"])

    assert (first.id, second.id) == ("n1:1", "n1:2")
    assert first.answers == ("Oslo", "Oslo, Norway")
    assert second.answers == ("Ann Lee",)  # the option's text, where no list says more
    assert [q.facts["level"] for q in (first, second)] == ["1", "2"]
    assert first.facts["question_type"] == "location"


def test_one_level_without_a_truth_costs_that_level_only():
    first, second = read("livevqa", {**OWN["livevqa"], "level2_qa": {"question": "Who?"}})

    assert isinstance(first, Question)
    assert isinstance(second, Unusable)
    assert second.row == "rows.jsonl:1:level2_qa"


def test_livevqa_preview_rows_name_pictures_of_another_machine(tmp_path):
    (tmp_path / "image").mkdir()
    (tmp_path / "image" / "x.png").write_bytes(IMAGE)
    row = {
        "sample_id": "s",
        "query": "When?",
        "query_image": "/data/bench/image/x.png",
        "gt_answer": "May",
    }

    [question] = read("livevqa", row, tmp_path)

    assert question.images[0].read() == IMAGE


def test_mat_search_tells_difficulty_by_number():
    [hard] = read("mat-search", OWN["mat-search"])
    [simple] = read("mat-search", {**OWN["mat-search"], "id": 75})

    assert (hard.facts["difficulty"], simple.facts["difficulty"]) == ("hard", "simple")


def test_infoseek_numbers_are_ranges(tmp_path):
    (tmp_path / "01").mkdir()
    (tmp_path / "01" / "oven_1.JPEG").write_bytes(IMAGE)

    [question] = read("infoseek", OWN["infoseek"], tmp_path)

    assert question.answers == ("108-132", "120")
    assert question.facts["question_type"] == "Numerical"
    assert question.images[0].read() == IMAGE  # named without an ending, in a folder


def test_what_hotpotqa_says():
    [question] = read("hotpotqa", OWN["hotpotqa"])

    assert (question.id, question.answers) == ("5a8b", ("The first",))
    assert question.facts == {"type": "comparison", "level": "hard"}


def unified(text: str, answers: list[str], titles: list[str]) -> dict[str, object]:
    return {
        "id": "u1",
        "prompt": [{"role": "user", "content": f"<image>\n{text}"}],
        "image": ["images/a.png"],
        "reward_model": {"ground_truth": answers},
        "image_search_title_list": titles,
        "image_search_thumbnail_list": [f"thumbs/{n}.png" for n in range(len(titles))],
        "category": "x",
    }


TEXTS = st.text("ab ?", min_size=1).map(str.strip).filter(bool)


@given(st.sampled_from(sorted(BENCHMARKS)), TEXTS, st.lists(TEXTS, min_size=1), st.lists(TEXTS))
def test_every_benchmark_reads_the_unified_row(name, text, answers, titles):
    [question] = read(name, unified(text, answers, titles))

    assert (question.id, question.text) == ("u1", text)
    assert question.answers == tuple(dict.fromkeys(answers))
    assert [hit.title for hit in question.image_results] == titles[:5]
    assert all(hit.thumbnail is not None for hit in question.image_results)
    assert question.facts == {"category": "x"}


def test_a_prompt_may_be_parts_and_have_a_system_message():
    row = unified("", ["a"], [])
    row["prompt"] = [
        {"role": "system", "content": "Think."},
        {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Who?"}]},
    ]

    [question] = read("infoseek", row)

    assert question.text == "Who?"


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.binary(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["range", "bytes", "path", "role", "content"]), inner)
    ),
    max_leaves=6,
)
NAMES = sorted({key for row in OWN.values() for key in row} | unified("", [], []).keys())


@given(
    st.sampled_from(sorted(BENCHMARKS)),
    st.dictionaries(st.sampled_from(NAMES), ANYTHING, max_size=8),
)
def test_whatever_a_row_holds_it_is_a_question_or_has_a_reason(name, fields):
    for one in read(name, {"question": "q", **fields}):
        assert isinstance(one, Question) and one.answers and one.text or one.reason


@given(st.sampled_from(sorted(OWN)), st.data(), ANYTHING)
def test_one_broken_field_never_breaks_the_reader(name, data, value):
    key = data.draw(st.sampled_from(sorted(OWN[name])))

    assert read(name, {**OWN[name], key: value})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"question": ["Who?"]}, "question is a list, not text"),
        ({"question": 5}, "question is a number, not text"),
        ({"question": "<image> "}, "no question (question is empty)"),
        ({"answer": None}, "no true answer (looked in answer)"),
        ({"answer": " "}, "no true answer (looked in answer)"),
        ({"answer": {"text": "x"}}, "answer holds an object, not text"),
        ({"answer": True}, "answer holds true or false, not text"),
        ({"answer": [["x"]]}, "answer holds a list, not text"),
        ({"answer": float("nan")}, "answer holds nan, no number"),
        ({"image": 5}, "image holds a number, no picture"),
        ({"image_search_title_list": "x"}, "image_search_title_list is text, not a list"),
        ({"prompt": []}, "prompt holds no message of the user"),
        ({"prompt": "Who?", "reward_model": "x"}, "reward_model is no object"),
        (
            {"prompt": "Who?", "reward_model": {}},
            "no true answer (looked in ground_truth, candidate_answers)",
        ),
    ],
)
def test_a_row_that_cannot_be_asked_says_why(change, reason):
    [lost] = read("simplevqa", {**OWN["simplevqa"], **change})

    assert lost == Unusable("rows.jsonl:1", reason)


def test_the_real_questions_of_mat_search():
    held = read_benchmark("mat-search", str(SAMPLES / "mat-search.jsonl"))

    assert len(held.questions) == 4
    assert held.questions[0].answers == ("Play well.",)
    assert [q.facts["difficulty"] for q in held.questions] == ["simple"] * 3 + ["hard"]
    [lost] = held.unusable  # the published file lacks it as well
    assert lost.row.endswith("mat-search.jsonl:5")
    assert "no true answer" in lost.reason


def test_the_real_questions_of_infoseek(tmp_path):
    rows = (SAMPLES / "infoseek.jsonl").read_text("utf-8")
    (tmp_path / "rows.jsonl").write_text(rows, "utf-8")
    (tmp_path / "images").mkdir()
    for row in map(json.loads, rows.splitlines()):
        (tmp_path / row["image"]).write_bytes(drawn(size=(5, 5)))

    held = read_benchmark("infoseek", str(tmp_path))

    assert len(held.questions) == 4 and not held.unusable
    assert all(q.images[0].open().size == (5, 5) for q in held.questions)
    assert held.questions[0].answers[0] == "Spain"
    assert "Kingdom of Spain" in held.questions[0].answers
    assert held.questions[3].answers == ("120-170",)
