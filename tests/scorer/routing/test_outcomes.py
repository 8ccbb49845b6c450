import json

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
