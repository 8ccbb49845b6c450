"""Runs with pictures: in the question, in what a tool shows, on real pixels; each turn is what one prefill of it all would be."""

from dataclasses import replace

import pytest
import torch
from PIL import Image, ImageDraw
from tiny_folders import save_chatting_folder
from tiny_models import tiny_model

from forethought.scorer.agent.crop import Crop
from forethought.scorer.agent.dialogue import Plain, chat_of
from forethought.scorer.agent.episode import Agent, Limits, Stop
from forethought.scorer.agent.session import LocalSession
from forethought.scorer.agent.thinking import Library, Selecting, Thought
from forethought.scorer.agent.tools import Observation, Situation
from forethought.scorer.context import Context
from forethought.scorer.model import load_model
from forethought.scorer.visual_budget import VisualBudget

ZOOM = (
    '<tool_call>{"name": "image_zoom_in_tool", "arguments": '
    '{"bbox_2d": [0, 0, 500, 1000], "img_idx": 0, "label": "left"}}</tool_call>'
)
FAMILIES = ("qwen2_5_vl", "qwen3_vl")
TEXTS = ("I should look closer.", "I can answer from the picture.")


@pytest.fixture(scope="module", params=FAMILIES)
def model(request, tmp_path_factory):
    return load_model(str(save_chatting_folder(tmp_path_factory.mktemp("vlm"), request.param)))


def drawn(width: int = 40, height: int = 24) -> Image.Image:
    image = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(image).rectangle((4, 4, width // 2, height - 4), fill="teal")
    return image


class Watching:
    """Thinks as another does, and keeps what stood there and what was expected next."""

    def __init__(self, inner) -> None:
        self.inner, self.seen = inner, []

    def think(self, session, seed) -> Thought:
        pictures = [placed.picture for placed in session._layout.pictures]
        self.seen.append((session.ids, pictures, session.logits().clone()))
        return self.inner.think(session, seed)


def agent(model, dialogue=None, tools=None, says=ZOOM, **options) -> Agent:
    """Every action it takes is `says`."""
    return Agent(
        model,
        Watching(Selecting(Library.of(model, TEXTS))),
        {"image_zoom_in_tool": Crop()} if tools is None else tools,
        Limits(turns=3, action_tokens=2),
        dialogue=dialogue or chat_of(model.tokenizer, "Look, then answer.", "tiny"),
        beginnings=(tuple(model.encode(says)),),
        **options,
    )


@pytest.mark.parametrize("is_chat", [True, False])
def test_every_turn_is_what_one_prefill_of_all_of_it_would_be(model, is_chat):
    one = agent(model, None if is_chat else Plain("Look.\n"))
    session = one.start()
    episode = one.play(session, Situation("What is teal?", (drawn(),)))
    seen = one.thinker.seen

    assert episode.stop is Stop.TURN_LIMIT
    assert [len(pictures) for _, pictures, _ in seen] == [1, 2, 3]
    for ids, pictures, logits in seen:
        whole = Context(model)
        whole.extend(ids, pictures)
        torch.testing.assert_close(logits, whole.logits(), atol=2e-4, rtol=2e-4)
    assert session.ids == one.start().ids


def scores_of(one: Agent) -> list[tuple[float, ...]]:
    asked = Situation("What is teal?", (drawn(400, 300),))
    return [turn.thought.scores for turn in one.play(one.start(), asked).turns]


def test_a_visual_budget_holds_in_every_turn_and_a_full_one_changes_nothing(model):
    budget = VisualBudget(anchor=0, low=0.05, high=0.05, block=1)
    whole, full, little = (
        agent(model, budget=one) for one in (None, replace(budget, low=1, high=1), budget)
    )
    scores = scores_of(whole)

    assert scores_of(full) == scores
    found = scores_of(little)
    assert all(a != b for a, b in zip(found, scores, strict=True))
    ids, pictures, _ = little.thinker.seen[0]
    alone = LocalSession(model, budget=budget)
    alone.extend(ids, pictures)
    expected = Selecting(Library.of(model, TEXTS)).think(alone, 0).scores
    assert found[0] == pytest.approx(expected, abs=1e-5)


def test_a_turn_computes_the_observation_alone_pictures_included(model):
    one = agent(model)
    session = one.start()
    opening = session.length
    turns = one.play(session, Situation("What is teal?", (drawn(),))).turns

    assert turns[0].prefilled == turns[0].context_tokens - opening
    for before, after in zip(turns, turns[1:], strict=False):
        new = after.context_tokens - before.context_tokens
        written = before.thought.injected + before.action_tokens
        assert new - written <= after.prefilled <= new - written + 2, "the last ones of both wait"
        assert all(turn.seconds.media > 0 for turn in turns)


def test_a_crop_is_of_the_real_pixels_and_counts_among_the_pictures(model):
    seen = []

    class Looking(Crop):
        def call(self, arguments, situation):
            seen.append(situation.pictures)
            return super().call(arguments, situation)

    picture = drawn(64, 32)
    one = agent(model, tools={"image_zoom_in_tool": Looking()})
    one.play(one.start(), Situation("What?", (picture,)))

    assert [len(pictures) for pictures in seen] == [1, 2, 3]
    assert seen[0][0] is picture
    assert seen[1][1].tobytes() == picture.crop((0, 0, 32, 32)).tobytes()


def test_a_picture_that_cannot_be_shown_is_told_in_words(model):
    class Showing:
        name = "image_zoom_in_tool"

        def call(self, arguments, situation):
            return Observation("Here: <image>", (Image.new("RGB", (1, 0)),))

    one = agent(model, tools={"image_zoom_in_tool": Showing()})
    episode = one.play(one.start(), Situation("What?"))

    assert episode.stop is Stop.TURN_LIMIT
    assert [len(pictures) for _, pictures, _ in one.thinker.seen] == [0, 0, 0]
    assert "Tool execution failed" in model.decode(one.thinker.seen[1][0])
    assert all("1 x 0" in turn.observation.failure for turn in episode.turns), "it is counted"


def test_a_question_s_picture_that_cannot_be_shown_ends_the_run(model):
    found = agent(model).play(agent(model).start(), Situation("What?", (Image.new("RGB", (0, 3)),)))

    assert (found.stop, found.turns) == (Stop.MEDIA_ERROR, ())
    assert "0 x 3" in found.detail


def test_a_model_that_reads_text_alone_says_so():
    blind = tiny_model()
    one = replace(agent(blind, Plain("Look.\n")), thinker=Selecting(Library.of(blind, TEXTS)))
    found = one.play(one.start(), Situation("What?", (drawn(),)))

    assert found.stop is Stop.MEDIA_ERROR
    assert "reads text alone" in found.detail


def test_words_that_are_cut_leave_the_pictures(model):
    class Wordy:
        name = "image_zoom_in_tool"

        def call(self, arguments, situation):
            return Observation("word " * 90 + "<image>" + "word " * 90, (drawn(),))

    one = agent(model, tools={"image_zoom_in_tool": Wordy()})
    one = replace(one, limits=replace(one.limits, observation_tokens=20, turns=2))
    one.play(one.start(), Situation("What?"))

    assert [len(pictures) for _, pictures, _ in one.thinker.seen] == [0, 1]
    assert model.decode(one.thinker.seen[1][0]).count("word") == 4
