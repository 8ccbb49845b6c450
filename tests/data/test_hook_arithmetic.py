"""What the exported rollouts reckon without a framework: the draw, its log-sum-exp, the call in an action; the same in all three."""

import asyncio
import inspect
import json
import sys

import pytest
import torch
from hook_stand_ins import FILES, HOOKS, SET, load, module_of, openrlhf
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.library import library_json
from forethought.scorer.training.selector import competitors, log_q

SHARED = [
    "Candidates",
    "Drawn",
    "read_set",
    "score",
    "log_sum_exp",
    "select",
    "turn_record",
    "log_q_now",
]
CALL = '<tool_call>{"name": "search", "arguments": {"query": "bridge"}}</tool_call>'
ANSWER = "<answer>The 1932</answer>"
SCORES = st.lists(st.floats(-300, 0), min_size=2, max_size=9)


@pytest.fixture(scope="module")
def pure():
    """The functions that need no framework."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name, module in openrlhf().items():
            monkeypatch.setitem(sys.modules, name, module)
        return module_of(HOOKS / FILES["openrlhf"])


@given(SCORES, st.floats(0.05, 5), st.floats(0, 1, exclude_max=True))
def test_a_draw_falls_where_its_point_does_in_the_cumulated_chances(pure, values, tau, point):
    drawn = pure.select(values, tau, point)

    chances = log_q(torch.tensor(values, dtype=torch.float64), tau)
    before = float(chances[: drawn.place].exp().sum())
    assert before - 1e-9 <= point <= before + float(chances[drawn.place].exp()) + 1e-9
    assert drawn.log_q == pytest.approx(float(chances[drawn.place]), abs=1e-9)
    others = competitors(torch.tensor(values, dtype=torch.float64), drawn.place, tau)
    assert drawn.others == pytest.approx(float(others), abs=1e-9)


@given(SCORES, st.floats(0.05, 5))
def test_without_a_point_the_first_of_the_highest_is_taken(pure, values, tau):
    assert pure.select([*values, max(values)], tau, None).place == values.index(max(values))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"go {CALL} on", "search"),
        (ANSWER, None),
        (f"{ANSWER}{CALL}", None),
        ("<tool_call>{'name': 1}</tool_call>", None),
        ('<tool_call>{"arguments": {}}</tool_call>', None),
        ('<tool_call>{"name": "a", "arguments": 3}</tool_call>', None),
        ("", None),
    ],
)
def test_an_action_is_its_first_call_unless_it_answers_before(pure, text, name):
    call = pure.call_in(text)
    assert (call and call["name"]) == name


def test_a_set_of_one_is_refused(pure, tmp_path):
    library = library_json(SET)
    library["entries"] = dict([*library["entries"].items()][:1])
    (tmp_path / "set.json").write_text(json.dumps(library))
    with pytest.raises(ValueError, match="leave nothing to select"):
        pure.read_set(tmp_path / "set.json", str.encode)


def test_tools_that_nobody_filled_in_say_so(tmp_path):
    given_tools = module_of(HOOKS / "swift/tools.py")
    with pytest.raises(NotImplementedError, match="tools.py: let `call` run the tool 'search'"):
        asyncio.run(given_tools.call("search", {}))


def test_the_three_hooks_share_their_arithmetic_to_the_letter(monkeypatch, tmp_path):
    written = []
    for framework in FILES:
        (tmp_path / framework).mkdir()
        hook = load((framework, "stand-in"), monkeypatch, tmp_path / framework)
        written.append([inspect.getsource(getattr(hook, name)) for name in SHARED])
    assert written[0] == written[1] == written[2]
    assert (HOOKS / "swift/tools.py").read_text() == (HOOKS / "openrlhf/tools.py").read_text()
