"""A routed turn: decided on what is prefilled anyway, sent where its cut says, and told in its record."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from counted_rows import Rows
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import tiny_model

from forethought.data.errors import ForethoughtError, NothingToDo
from forethought.scorer.agent.dialogue import Plain
from forethought.scorer.agent.episode import Agent, Limits, turn_json
from forethought.scorer.agent.session import LocalSession
from forethought.scorer.agent.thinking import Generating, Library, Selecting
from forethought.scorer.agent.tools import Situation
from forethought.scorer.routing.proactive.probe import (
    Probe,
    fit_probe,
    read_probe,
    write_probe,
)
from forethought.scorer.routing.proactive.rating import JOINT, OWN
from forethought.scorer.routing.proactive.routed import Arm, HandingOver, Routed
from forethought.scorer.routing.proactive.signals import (
    Entropy,
    JointChance,
    LogZ,
    Look,
    Margin,
    OwnChance,
    Probed,
    Random,
    entropy_need,
    margin_need,
)

MODEL = tiny_model()
TEXTS = ("I do not know this yet.", "I have what I need.", "I should look again.")
LIBRARY = Library.of(MODEL, TEXTS)
FREE = Generating(4)
PROBE = Probe(np.linspace(-1, 1, MODEL.width), 0.1, "tiny")
SIGNALS = {
    "rating": OwnChance(),
    "joint": JointChance(),
    "margin": Margin(),
    "logz": LogZ(),
    "entropy": Entropy(),
    "probe": Probed(PROBE),
    "random": Random(),
}
ALWAYS, NEVER = -float("inf"), float("inf")


def settled(text: str = "Question: Who?\n") -> LocalSession:
    session = LocalSession(MODEL)
    session.append_text(MODEL.encode(text))
    session.settle()
    return session


def routed(signal, cut: float, thinker=FREE) -> Routed:
    return Routed(LIBRARY, signal, ((Arm.THINK, thinker),), (cut,))


@pytest.mark.parametrize("name", SIGNALS)
def test_below_its_cut_a_turn_is_selected_and_above_it_is_thought_about(name):
    plain, free = settled(), settled()
    selected, thought = Selecting(LIBRARY).think(plain, 0), FREE.think(free, 0)
    need = SIGNALS[name].need(Look(settled(), LIBRARY))
    low, high = settled(), settled()
    below = routed(SIGNALS[name], need).think(low, 0)
    above = routed(SIGNALS[name], np.nextafter(need, -np.inf)).think(high, 0)

    assert (below.text, below.route, below.signal) == (selected.text, "select", need)
    assert (above.text, above.route, above.signal) == (thought.text, "think", need)
    assert (low.ids, high.ids) == (plain.ids, free.ids)
    low.check()
    high.check()


@pytest.mark.parametrize("name", SIGNALS)
def test_deciding_and_selecting_forward_no_more_than_the_set_and_the_ratings(name):
    """No second prefill, nothing scored twice: counted over the network's own rows."""
    session = settled("Question: " + "Who was that? " * 40 + "\n")
    with Rows(MODEL.network) as rows:
        routed(SIGNALS[name], NEVER).think(session, 0)
    ratings = {"rating": (OWN,), "joint": (OWN, JOINT)}.get(name, ())
    most = sum(map(len, LIBRARY.compiled.ids))
    most += sum(len(ids) for scale in ratings for ids in scale.compiled(MODEL).ids)

    assert rows.number <= most < session.length


@pytest.mark.parametrize("name", ["rating", "joint", "probe", "random"])
def test_a_signal_that_needs_no_set_scores_none_where_the_turn_is_thought_about(name):
    class Unused(Library):
        @property
        def compiled(self):
            raise AssertionError("the set was scored for nothing")

    library = object.__new__(Unused)
    thought = Routed(library, SIGNALS[name], ((Arm.THINK, FREE),), (ALWAYS,)).think(settled(), 0)

    assert thought.route == "think"
    assert thought.scores == ()


def test_what_a_signal_saw_of_the_set_stands_in_the_record_of_a_free_thought():
    found = routed(Margin(), ALWAYS).think(settled(), 0)

    assert found.chosen is None
    assert found.signal == margin_need(np.array(found.scores))


def test_three_arms_begin_at_their_cuts():
    other = HandingOver(lambda: LocalSession(MODEL), Generating(2))
    arms = ((Arm.THINK, FREE), (Arm.HAND_OVER, other))
    for cuts, route in (
        ((NEVER, NEVER), "select"),
        ((ALWAYS, NEVER), "think"),
        ((ALWAYS, ALWAYS), "hand-over"),
    ):
        assert Routed(LIBRARY, Margin(), arms, cuts).think(settled(), 0).route == route


def test_a_second_model_thinks_after_the_same_text_and_keeps_what_it_computed():
    second = tiny_model("qwen3")
    opened = []

    def start():
        opened.append(LocalSession(second))
        return opened[-1]

    over = HandingOver(start, Generating(3))
    session = settled("Question: Who was it then?\n")
    alone = LocalSession(second)
    alone.append_text(second.encode("Question: Who was it then?\n"))
    expected = Generating(3).think(alone, 0)
    found = over.think(session, 0)

    assert found.text == expected.text
    assert MODEL.decode(session.ids).endswith(f"<thinking>{found.text}</thinking>")
    session.append_text(MODEL.encode("\nObservation: x\n"))
    with Rows(second.network) as rows:
        over.think(session, 0)
    assert len(opened) == 1
    assert rows.number < session.length / 2, "the first turn was not computed again"


def test_an_agents_turns_tell_route_and_signal_and_compute_only_what_is_new():
    for name, signal in SIGNALS.items():
        for cut in (ALWAYS, NEVER):
            one = Agent(
                MODEL, routed(signal, cut), {}, Limits(action_tokens=4), dialogue=Plain("Answer.\n")
            )
            session = one.start()
            known = session.length
            turn = one.play(session, Situation("Who?")).turns[0]
            told = turn_json(turn)

            assert turn.prefilled == turn.context_tokens - known, name
            assert told["route"] == ("think" if cut == ALWAYS else "select")
            assert isinstance(told["signal"], float)
            assert session.ids == one.start().ids


def test_modes_that_do_not_route_tell_no_route():
    thought = Selecting(LIBRARY).think(settled(), 0)

    assert (thought.route, thought.signal) == (None, None)


@given(st.lists(st.floats(-20, 0), min_size=1, max_size=6).map(np.array))
def test_margin_and_entropy_are_what_their_names_say(scores):
    chances = torch.tensor(scores).softmax(0)
    best = sorted(scores, reverse=True)

    assert entropy_need(scores) == pytest.approx(
        float(torch.distributions.Categorical(chances).entropy()), abs=1e-9
    )
    assert margin_need(scores) == (best[1] - best[0] if len(best) > 1 else 0.0)


def test_a_draw_is_that_of_its_context_and_seed():
    one = Random().need(Look(settled(), LIBRARY, 1))

    assert one == Random().need(Look(settled(), LIBRARY, 1))
    assert one != Random().need(Look(settled(), LIBRARY, 2))
    assert one != Random().need(Look(settled("Question: What?\n"), LIBRARY, 1))
    assert 0 <= one < 1


def test_a_probe_finds_a_direction_that_is_there_and_survives_a_file(tmp_path):
    rng = np.random.default_rng(0)
    states = rng.normal(3, 2, (400, 5)) * [1, 10, 1, 1, 0]
    labels = (states[:, 1] > 30).astype(int)
    probe = fit_probe(states, labels, 1.0, "a model")
    chances = probe.chances(states)
    write_probe(tmp_path / "probe.json", probe)
    again = read_probe(tmp_path / "probe.json")

    assert ((chances > 0.5) == labels).mean() > 0.95
    assert np.array_equal(again.chances(states), chances)
    assert again.model == "a model"


def test_what_cannot_be_probed_is_told(tmp_path):
    with pytest.raises(NothingToDo, match="all 3 outcomes are the same"):
        fit_probe(np.ones((3, 2)), np.ones(3))
    with pytest.raises(ForethoughtError, match="reads states of 2 numbers"):
        Probe(np.ones(2), 0.0).require_fits(MODEL)
    for content in (
        "no JSON",
        "[]",
        "{}",
        '{"weights": [[1]], "bias": 0}',
        '{"weights": [NaN], "bias": 0}',
    ):
        (tmp_path / "broken.json").write_text(content)
        with pytest.raises(ForethoughtError, match="no probe can be read"):
            read_probe(tmp_path / "broken.json")
    with pytest.raises(ForethoughtError, match="no probe can be read"):
        read_probe(tmp_path / "missing.json")


def test_whose_bench_only_selects_imports_nothing_of_routing():
    code = (
        "import sys, forethought.ui.cli, forethought.ui.bench.runs, forethought.ui.bench.casting, forethought.ui.scoring\n"
        "import forethought.ui.bench.workers, forethought.scorer.agent.episode\n"
        "assert not [name for name in sys.modules if 'scorer.routing' in name]"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert found.returncode == 0, found.stderr
