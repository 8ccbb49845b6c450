"""The benchmarks' own rows, one schema each. Knows names of fields, not where a benchmark is kept."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from .fields import Row, id_in
from .schema import Schema

LEVELS = {"level1_qa": "1", "level2_qa": "2"}
MAT_SIMPLE, MAT_ALL = 75, 150  # the first half of MAT-Search is simple, the second hard


def both_levels(row: Row) -> Iterable[Row]:
    """LiveVQA asks two questions an item: what is shown, and a fact behind it. The preview's rows ask one."""
    if not any(name in row.fields for name in LEVELS):
        return (row,)
    item = {name: value for name, value in row.fields.items() if name not in LEVELS}
    return [_level(row, item, name, level) for name, level in LEVELS.items()]


def _level(row: Row, item: Mapping[str, object], name: str, level: str) -> Row:
    asked = row.fields.get(name)
    fields = {**item, **(asked if isinstance(asked, dict) else {}), "level": level}
    if not fields.get("Ground_Truth_List"):
        fields["Ground_Truth_List"] = _option(fields)
    fields["id"] = f"{id_in(row, ('id',))}:{level}"
    return replace(row, place=f"{row.place}:{name}", fields=fields)


def _option(fields: Mapping[str, object]) -> str | None:
    """The text of the option that the letter in `Ground_Truth` names, "A. ..."."""
    letter, options = fields.get("Ground_Truth"), fields.get("options")
    texts = options if isinstance(options, list) else []
    return next((str(o)[2:].strip() for o in texts if str(o).startswith(f"{letter}.")), None)


def with_difficulty(row: Row) -> Iterable[Row]:
    """MAT-Search says how hard a question is by its number alone."""
    number = row.fields.get("id")
    if "difficulty" in row.fields or not isinstance(number, int) or not 0 < number <= MAT_ALL:
        return (row,)
    difficulty = "simple" if number <= MAT_SIMPLE else "hard"
    return (replace(row, fields={**row.fields, "difficulty": difficulty}),)


def numbers_told(row: Row) -> Iterable[Row]:
    """InfoSeek keeps the kind of a question apart from it; a range of numbers gives a numerical one away."""
    truth = row.fields.get("answer_eval")
    first = truth[0] if isinstance(truth, list) and truth else truth
    if "question_type" in row.fields or not (isinstance(first, dict) and "range" in first):
        return (row,)
    return (replace(row, fields={**row.fields, "question_type": "Numerical"}),)


MMSEARCH = Schema(
    question=("query",),
    truths=("gt_answer", "alternative_gt_answers"),
    ids=("sample_id", "id"),
    images=("query_image",),
    shots=("image_search_result",),
)
HR_MMSEARCH = Schema(
    question=("query",),
    truths=("ground_truth",),
    ids=("id", "sample_id"),
    images=("query_image",),
)
FVQA = Schema(  # unpacked; as published its rows are the unified ones
    question=("question",),
    truths=("ground_truth", "candidate_answers"),
    ids=("data_id", "id"),
    images=("image", "images"),
)
SIMPLEVQA = Schema(
    question=("question",),
    truths=("answer",),
    ids=("data_id", "id"),
    images=("image", "image_path"),
)
LIVEVQA = Schema(
    question=("question", "query", *LEVELS),
    truths=("Ground_Truth_List", "gt_answer"),
    ids=("id", "sample_id"),
    images=("img_path", "query_image"),
    unfold=both_levels,
)
MAT_SEARCH = Schema(
    question=("question",),
    truths=("answer", "ground_truth"),
    ids=("id",),
    images=("image_path", "image"),
    unfold=with_difficulty,
)
INFOSEEK = Schema(
    question=("question",),
    truths=("answer_eval", "answer", "ground_truth", "candidate_answers"),
    ids=("data_id", "id"),
    images=("image", "image_path", "image_id"),
    unfold=numbers_told,
)
HOTPOTQA = Schema(question=("question",), truths=("answer",), ids=("_id", "id"))
