import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from routing_tables import outcomes

from forethought.data.identity import Split
from forethought.scorer.routing.outcome_files import read_outcomes
from forethought.scorer.routing.outcomes import InvalidRoutingTable

HEAD = "sample_id,dataset_idx,question,answer,small_correct,small_cost,large_correct,large_cost"


def table(tmp_path, *lines, head=HEAD):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([head, *lines]) + "\n", "utf-8")
    return path


def test_a_wide_table_is_read_with_its_arms_by_name_and_its_data_sets_as_slices(tmp_path):
    path = table(
        tmp_path, "a,MathVista_1,Who?,x,0,3,1,7", 'b,hotpotqa,"Who, then?",y,true,3.5,.25,7'
    )

    found = read_outcomes([path])

    assert found.arms == ("large", "small")
    assert found.ids == ("a", "b")
    assert found.slices == ("MathVista", "hotpotqa")
    assert found.questions == ("Who?", "Who, then?")
    np.testing.assert_equal(found.quality, [[1, 0], [0.25, 1]])
    np.testing.assert_equal(found.cost, [[7, 3], [7, 3.5]])
    np.testing.assert_equal(found.arm_costs, [7, 3.25])


def test_pictures_are_told_where_there_are_some(tmp_path):
    head = HEAD.replace("answer", "img_path")
    path = table(tmp_path, "a,s,Who?,one.png,0,3,1,7", "b,s,Who else?,,0,3,1,7", head=head)

    assert read_outcomes([path]).images == ("one.png", None)


def test_rows_without_ids_are_told_by_their_number(tmp_path):
    head = "question,small_correct,small_cost,large_correct,large_cost"
    path = table(tmp_path, "Who?,0,3,1,7", "Who?,0,3,1,7", head=head)

    assert read_outcomes([path]).ids == ("row 2", "row 3")


def test_a_cell_without_quality_or_without_cost_is_missing_and_a_row_without_cells_is_left_out(
    tmp_path,
):
    path = table(tmp_path, "a,s,Who?,x,,3,1,7", "b,s,Whom?,x,1,,nan,7", "c,s,Whose?,x,1,3,1,")

    found = read_outcomes([path])

    assert found.ids == ("a", "c")
    assert found.left_out == 1
    np.testing.assert_equal(found.available, [[True, False], [False, True]])


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["a,s,Who?,x,bad,3,1,7"], "row 2, small_correct: 'bad' is no number"),
        (["a,s,Who?,x,0,dear,1,7"], "row 2, small_cost: 'dear' is no number"),
        (["a,s,Who?,x,1.5,3,1,7"], "a, small: quality 1.5"),
        (["a,s,Who?,x,0,-3,1,7"], "a, small: quality 0 and cost -3"),
        (["a,s,Who?,x,0,inf,1,7"], "a, small: quality 0 and cost inf"),
        (["a,s,Who?,x,0,3,1,7", "a,s,Whom?,x,0,3,1,7"], "the id 'a' stands twice"),
        (["a,s, ,x,0,3,1,7"], "row 2: no question"),
        (["a,s,Who?,x,,3,,7"], "no arm is available for any question"),
        (["a,s,Who?,x,0,3,,7"], "large has not one quality"),
        ([], "no rows with a column question"),
    ],
)
def test_a_table_that_cannot_be_used_is_told_in_one_line(tmp_path, lines, told):
    with pytest.raises(InvalidRoutingTable) as error:
        read_outcomes([table(tmp_path, *lines)])

    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_table_of_one_arm_or_none_needs_another(tmp_path):
    one = table(tmp_path, "Who?,0,3", head="question,small_correct,small_cost")
    with pytest.raises(InvalidRoutingTable, match="two arms or more, and it has small"):
        read_outcomes([one])

    none = table(tmp_path, "Who?", head="question")
    with pytest.raises(InvalidRoutingTable, match="two arms or more, and it has none"):
        read_outcomes([none])


BARE = "small_correct,small_cost,large_correct,large_cost"


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (f"question,{BARE},small_correct", "the column 'small_correct' stands twice"),
        (f"question,{BARE}, small_cost ", "the column 'small_cost' stands twice"),
        (f"question,{BARE},small_COST", "'small_cost' and 'small_COST' tell the same of one arm"),
        (f"question,{BARE},question", "the column 'question' stands twice"),
        (f"question,{BARE},Question", "'question' and 'Question' are the same"),
        (f"question,{BARE},note,note", "the column 'note' stands twice"),
        (f"question,{BARE},small_is_correct", "'small_correct' and 'small_is_correct' tell the"),
        (
            "question,large_correct,large_cost,a_is_correct,a_cost,a_is_cost",
            "'a_cost' and 'a_is_cost' tell the same",
        ),
        (f"question,{BARE},_correct,_cost", "'_correct' names no arm"),
        (
            "question,small_correct,small_cost,third_correct",
            "it has small; no whole arm: third_cor",
        ),
    ],
)
def test_columns_that_tell_one_thing_twice_or_no_arm_are_refused(tmp_path, head, told):
    cells = ["1"] * (head.count(",") + 1)

    with pytest.raises(InvalidRoutingTable) as error:
        read_outcomes([table(tmp_path, ",".join(["Who?", *cells[1:]]), head=head)])

    assert told in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "head",
    [
        f" Question ,Sample_ID,{BARE}",
        f"QUESTION, sample_id,{BARE.replace(',', ' , ')}",
        f"question,id,{BARE.replace('_correct', '_is_correct')}",
        f"question,id,{BARE.replace('_cost', '_is_cost').replace('_correct', '_is_correct')}",
        f"question,id,{BARE.replace('_correct', '_Correct').replace('_cost', '_COST')}",
        f"question,id,{BARE},,",
    ],
)
def test_columns_are_known_by_their_names_however_they_are_written(tmp_path, head):
    line = "Who?,a,0,3,1,7" + "," * (head.count(",") - 5)

    found = read_outcomes([table(tmp_path, line, head=head)])

    assert (found.arms, found.ids, found.questions) == (("large", "small"), ("a",), ("Who?",))
    np.testing.assert_equal(found.cost, [[7, 3]])
    assert found.columns_left_out == ()


@pytest.mark.parametrize(
    "more", ["third_correct", "third_cost", "third_is_correct", "third_correct,third_costs"]
)
def test_half_an_arm_is_left_out_and_told(tmp_path, more):
    path = table(
        tmp_path, "Who?,0,3,1,7" + ",1" * (more.count(",") + 1), head=f"question,{BARE},{more}"
    )

    found = read_outcomes([path])

    assert found.arms == ("large", "small")
    assert found.columns_left_out == (more.split(",")[0],)


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_row_with_more_or_fewer_cells_than_columns_is_told_by_its_line(tmp_path, end):
    head = f"{BARE},question"
    for line, told in (
        ("0,3,1,7,Who, then?", "row 4: 6 cells under 5 columns"),
        ("0,3,1,7", "row 4: 4 cells under 5 columns"),
        ('0,3,1,7,"Who', "row 4: no CSV"),
    ):
        with pytest.raises(InvalidRoutingTable, match=told):
            read_outcomes([table(tmp_path, "0,3,1,7,Who?", "", line + end, head=head)])


def test_cells_of_arms_that_a_row_breaks_off_before_are_missing(tmp_path):
    found = read_outcomes([table(tmp_path, "a,s,Who?,x,0,3,1,7", "b,s,Whom?,x,0,3")])

    np.testing.assert_equal(found.quality, [[1, 0], [np.nan, 0]])


def test_a_row_is_told_by_the_line_of_the_file_that_it_begins_in(tmp_path):
    path = table(tmp_path, '"Who\nis it?",0,3,1,7', "", "What?,0,3,1,7", head=f"question,{BARE}")

    assert read_outcomes([path]).ids == ("row 2", "row 5")


@pytest.mark.parametrize("number", ["1_000", "\u0661", "\uff11", "1\u0660", "0x1", "1,0", "\u00bd"])
def test_numbers_are_ascii(tmp_path, number):
    for cells in (f'"{number}",3', f'1,"{number}"'):
        with pytest.raises(InvalidRoutingTable, match="is no number"):
            read_outcomes([table(tmp_path, f"a,s,Who?,x,{cells},1,7")])


@pytest.mark.parametrize("cost", ["1e308", "1e31", "1e400"])
def test_costs_that_no_sum_can_hold_are_told(tmp_path, cost):
    with pytest.raises(InvalidRoutingTable, match="a, small: quality 0 and cost .*0 to 1e[+]30"):
        read_outcomes([table(tmp_path, f"a,s,Who?,x,0,{cost},1,7")])


def test_what_is_no_table_is_told(tmp_path):
    (tmp_path / "binary.csv").write_bytes(b"question\n\xff\xfe")
    with pytest.raises(InvalidRoutingTable, match="no CSV in UTF-8"):
        read_outcomes([tmp_path / "binary.csv"])
    with pytest.raises(InvalidRoutingTable, match="no table there"):
        read_outcomes([tmp_path / "nowhere.csv"])
    (tmp_path / "records.jsonl").write_text("{}\n", "utf-8")
    with pytest.raises(InvalidRoutingTable, match="line 1: no record of a bench"):
        read_outcomes([tmp_path / "records.jsonl"])
    with pytest.raises(InvalidRoutingTable, match="one kind"):
        read_outcomes([tmp_path / "records.jsonl", table(tmp_path, "a,s,Who?,x,0,3,1,7")])


def turn(seconds):
    return {
        "seconds": dict.fromkeys(("media", "prefill", "reasoning", "action"), seconds)
        | {"tool": 9.0}
    }


def record(mode, id, exact, seconds=1.0, **more):
    told = {"run": "r", "mode": mode, "id": id, "question": f"Who is {id}?", "answers": ["x"]}
    return told | {"exact": exact, "turns": [turn(seconds), turn(seconds)]} | more


def test_the_records_of_a_bench_have_modes_for_arms_and_model_seconds_for_costs(tmp_path):
    rows = [
        record("select", "a", False),
        record("think", "a", True, 2.5),
        record("think", "b", True),
    ]
    rows += [record("select", "c", None, answers=[]), record("think", "c", False, success=True)]
    folder = tmp_path / "hotpotqa-replay"
    folder.mkdir()
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    found = read_outcomes([tmp_path])

    assert found.arms == ("select", "think")
    assert found.ids == ("hotpotqa-replay/a", "hotpotqa-replay/b", "hotpotqa-replay/c")
    assert set(found.slices) == {"hotpotqa-replay"}
    np.testing.assert_equal(found.quality, [[0, 1], [np.nan, 1], [np.nan, 1]])
    np.testing.assert_equal(found.cost, [[8, 20], [np.nan, 8], [np.nan, 8]])


def kept(tmp_path, *lines, end=b"\n"):
    """A bench's file of these records, each a value, or bytes as they stand."""
    folder = tmp_path / "hotpotqa"
    folder.mkdir(exist_ok=True)
    told = [
        one if isinstance(one, bytes) else json.dumps(one, ensure_ascii=False).encode()
        for one in lines
    ]
    (folder / "records.jsonl").write_bytes(b"\n".join(told) + end)
    return [tmp_path]


PAIR = [record("select", "a", False), record("think", "a", True)]
DEEP = b'{"x":' + b"[" * 100_000


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"mode": "sel', "line 4: no JSON in UTF-8"),
        (b"\xff\xfe", "line 4: no JSON in UTF-8"),
        (DEEP, "line 4: no JSON in UTF-8"),
        ([1, 2], "line 4: no record of a bench"),
        (record(None, "b", True), "line 4: no record of a bench"),
        (record("", "b", True), "line 4: no record of a bench"),
        (record(["a"], "b", True), "line 4: no record of a bench"),
        (record("think", None, True), "line 4: no record of a bench"),
        (record("think", "b", True, question=None), "line 4: no record of a bench"),
        (record("think", "b", True, question=" "), "line 4: no record of a bench"),
        (record("think", "b", "yes"), "line 4: no record of a bench"),
        (record("think", "b", 10**400), "line 4: no record of a bench"),
        (record("think", "b", True, 10**400), "line 4: no record of a bench"),
        (record("think", "b", True, "1"), "line 4: no record of a bench"),
        (record("think", "b", True, turns={"a": 1}), "line 4: no record of a bench"),
        (record("think", "b", True, -5), "line 4: seconds below 0 or without end"),
        (record("think", "b", True, math.nan), "line 4: seconds below 0 or without end"),
        (record("think", "b", True, math.inf), "line 4: seconds below 0 or without end"),
        (record("think", "b", True, 1e308), "line 4: seconds below 0 or without end"),
        (record("think", "b", True, 1e300), "hotpotqa/b, think: quality 1 and cost"),
        (record("think", "b", 5), "hotpotqa/b, think: quality 5"),
        (record("think", "a", True), "line 4: 'hotpotqa/a' was played twice in mode think"),
        (record("none", "a", True, question="Whose?"), "line 4: 'hotpotqa/a' is worded otherwise"),
        (record("none", "a", True, run="s"), "holds records of several runs (r, s)"),
    ],
)
def test_a_record_that_cannot_be_used_is_told_by_its_line_in_the_file(tmp_path, line, told):
    with pytest.raises(InvalidRoutingTable) as error:
        read_outcomes(kept(tmp_path, PAIR[0], b"", PAIR[1], line))

    assert told in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("lines", [[], [b""], [{**PAIR[0], "arm": "think"}], [b'{"mode'[:4]]])
def test_a_file_without_a_record_of_a_modes_own_is_told(tmp_path, lines):
    with pytest.raises(InvalidRoutingTable, match="no records of questions that a mode") as error:
        read_outcomes(kept(tmp_path, *lines, end=b""))

    assert "\n" not in str(error.value)


def test_a_last_line_that_was_cut_off_is_left_out_and_counted_and_a_whole_one_is_read(tmp_path):
    whole = json.dumps(record("think", "b", True)).encode()

    for cut in range(len(whole)):
        found = read_outcomes(kept(tmp_path, *PAIR, whole[:cut], end=b""))
        assert (found.ids, found.cut_off) == (("hotpotqa/a",), int(cut > 0))
    found = read_outcomes(kept(tmp_path, *PAIR, whole, end=b""))
    assert (found.ids, found.cut_off) == (("hotpotqa/a", "hotpotqa/b"), 0)


@pytest.mark.parametrize("between", ["\u2028", "\u2029", "\x85", "\x0c", "\x1e", "\r"])
def test_what_only_looks_like_the_end_of_a_line_cuts_no_record(tmp_path, between):
    asked = f"Who{between}is it?"

    found = read_outcomes(kept(tmp_path, *(one | {"question": asked} for one in PAIR)))

    assert found.questions == (asked,)


@given(
    st.lists(
        st.sampled_from(["Who is  it?", "who is it?", "WHO IS IT?", "What?", "Where?", "Why?"]),
        min_size=1,
    )
)
def test_the_same_question_is_never_in_two_splits(questions):
    table = outcomes(np.ones((len(questions), 2)), questions=questions)

    members = [table.in_split(split) for split in Split]

    np.testing.assert_array_equal(np.sum(members, axis=0), 1)
    for member in members:
        inside = {
            q.casefold().replace("  ", " ")
            for q, is_in in zip(questions, member, strict=True)
            if is_in
        }
        outside = {
            q.casefold().replace("  ", " ")
            for q, is_in in zip(questions, member, strict=True)
            if not is_in
        }
        assert not inside & outside


def test_fewer_arms_leave_out_the_questions_that_none_of_them_answered():
    table = outcomes([[1, 0, np.nan], [np.nan, np.nan, 1]])

    fewer = table.with_arms(["middle", "large"])

    assert (fewer.arms, fewer.ids, fewer.left_out) == (("middle", "large"), ("q0",), 1)
    np.testing.assert_equal(fewer.quality, [[0, 1]])
    with pytest.raises(InvalidRoutingTable, match="huge: no such arm"):
        table.with_arms(["huge", "large"])


def test_an_arm_that_is_named_twice_is_one_arm():
    table = outcomes([[1, 0, 1], [0, 1, 1]])

    assert table.with_arms(["small", "large", "small"]).arms == ("small", "large")
    with pytest.raises(InvalidRoutingTable, match="two arms or more, and it has small"):
        table.with_arms(["small", "small"])


def test_arms_to_route_between_stand_in_the_tables_order():
    table = outcomes([[1, 0, 1], [0, 1, 1]])

    for named in (["small", "large"], ["large", "small"], ["small", "large", "small"]):
        assert table.between(named).arms == ("large", "small")
        np.testing.assert_equal(table.between(named).quality, [[1, 1], [0, 1]])
    with pytest.raises(InvalidRoutingTable, match="huge: no such arm"):
        table.between(["huge", "large"])


@pytest.mark.parametrize("arms", [("", "small"), (" ", "small"), ("small", "small")])
def test_arms_have_names_of_their_own(arms):
    with pytest.raises(InvalidRoutingTable, match="name"):
        outcomes([[1, 0]], arms=arms)
