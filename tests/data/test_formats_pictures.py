"""Pictures: kept by what is in them, read only within the import's folder, and the agents whose turns are tied to them."""

import base64
import json
from hashlib import sha256
from pathlib import Path

import pytest

from forethought.data.formats import Quarantined, read_traces
from forethought.data.traces import Action, Trace

SAMPLES = Path(__file__).parent / "samples"
PIXELS = (SAMPLES / "screenshot1.png").read_bytes()
NAME = f"{sha256(PIXELS).hexdigest()}.png"
URI = f"data:image/png;base64,{base64.b64encode(PIXELS).decode()}"


def one(path, **options):
    (trace,) = (found for found in read_traces([path], **options) if isinstance(found, Trace))
    return trace


def shown(tmp_path, part, **fields):
    """The trace of an answer to a question that comes with this part."""
    question = {"role": "user", "content": [{"type": "text", "text": "What?"}, part]}
    row = {"messages": [question, {"role": "assistant", "content": "That."}], **fields}
    folder = tmp_path / "import"
    folder.mkdir(exist_ok=True)
    (folder / "a.jsonl").write_text(json.dumps(row))
    return one(folder, images=tmp_path / "kept")


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": URI}},
        {"type": "image_url", "image_url": URI},
        {"type": "input_image", "image_url": URI},
        {"type": "image", "image": URI},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": URI[22:]},
        },
    ],
    ids=["object", "string", "responses", "bare", "anthropic"],
)
def test_an_inline_picture_is_kept_as_a_file_named_by_its_hash(tmp_path, part):
    trace = shown(tmp_path, part)

    assert trace.turns[0].images == (NAME,)
    assert (tmp_path / "kept" / NAME).read_bytes() == PIXELS
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [NAME]


def test_a_file_within_the_folder_is_kept_and_has_the_id_of_the_same_picture_inline(tmp_path):
    inline = shown(tmp_path, {"type": "image_url", "image_url": {"url": URI}})
    (tmp_path / "import" / "shot.png").write_bytes(PIXELS)
    placed = shown(tmp_path, {"type": "image", "path": "shot.png"})

    assert placed.turns[0].images == (NAME,)
    assert placed.id == inline.id


@pytest.mark.parametrize(
    "place",
    ["../secret.png", "/etc/passwd", "file:///etc/passwd", "https://example.org/a.png", "link.png"],
)
def test_what_lies_outside_of_the_folder_is_recorded_and_never_read(tmp_path, place):
    (tmp_path / "secret.png").write_bytes(PIXELS)
    (tmp_path / "import").mkdir()
    (tmp_path / "import" / "link.png").symlink_to(tmp_path / "secret.png")
    trace = shown(tmp_path, {"type": "image", "path": place})

    assert trace.turns[0].images == (place,)
    assert trace.repairs == ("image_elsewhere",)
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("place", "images", "repair"),
    [
        ("none.png", ("none.png",), "image_missing"),
        ("a.jsonl", ("a.jsonl",), "image_unreadable"),
        ("data:image/png;base64,AAAA", (), "image_unreadable"),
        ("data:text/html,<p>", (), "image_unreadable"),
        ("\x00", ("\x00",), "image_elsewhere"),
    ],
)
def test_what_is_no_picture_is_told(tmp_path, place, images, repair):
    trace = shown(tmp_path, {"type": "image", "path": place})

    assert (trace.turns[0].images, trace.repairs) == (images, (repair,))


def test_a_list_of_pictures_fills_the_places_in_the_messages_in_order(tmp_path):
    messages = [
        {"role": "user", "content": "<image>\nWhich year?"},
        {"role": "assistant", "content": "<think>a</think><search>x</search>"},
        {"role": "user", "content": "<tool_response><image></tool_response>"},
        {"role": "assistant", "content": "<think>b</think><answer>c</answer>"},
    ]
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"messages": messages, "images": ["1.png", "2.png"]})
    )
    first, second = one(tmp_path / "a.jsonl").turns

    assert (first.images, second.images) == (("1.png",), ("2.png",))


def test_a_picture_given_as_one_string_is_one_picture(tmp_path):
    trace = shown(tmp_path, {"type": "image"}, images="shot.png")

    assert trace.turns[0].images == ("shot.png",)


def test_a_picture_after_the_last_turn_is_told(tmp_path):
    messages = [
        {"role": "user", "content": "Q"},
        {"role": "assistant", "content": "<think>a</think><search>x</search>"},
        {"role": "user", "content": [{"type": "image", "path": "late.png"}]},
    ]
    (tmp_path / "a.jsonl").write_text(json.dumps({"messages": messages}))

    assert one(tmp_path / "a.jsonl").repairs == ("image_unseen",)


def test_screenshots_of_webvoyager_belong_to_turns_by_number_and_may_be_missing(tmp_path):
    trace = one(SAMPLES / "webvoyager.messages.json", images=tmp_path)
    first, last = trace.turns

    assert trace.question == "Find the year of the bridge. (https://example.org/)"
    assert (first.thoughts, first.actions) == (
        ("The search box is element 3.",),
        (Action("type", {"input": "3", "text": "year of the bridge"}),),
    )
    assert first.observations == ("please analyze the attached screenshot.",)
    assert last.actions == (Action("answer", {"input": "1932"}),)
    assert (first.images, last.images) == ((NAME,), ("screenshot2.png",))
    assert trace.repairs == ("image_missing",)


def test_a_sketchpads_examples_and_made_up_turns_are_left_out_and_its_drawings_kept(tmp_path):
    trace = one(SAMPLES / "visual-sketchpad.output.json", images=tmp_path)
    first, last = trace.turns

    assert trace.question == "What is the flow?"
    assert (first.thoughts, first.actions) == (
        ("I should draw the graph.",),
        (Action("python", {"input": "draw()"}),),
    )
    assert first.observations == ("Execution success. The output is as follows:",)
    assert (last.thoughts, last.actions) == (
        ("The drawing shows it.",),
        (Action("answer", {"input": "10."}),),
    )
    assert [(tmp_path / name).is_file() for name in last.images] == [True]


def test_visual_arfts_log_has_a_case_between_rulers_and_two_thoughts_may_precede_an_act():
    coding, search = read_traces([SAMPLES / "visual-arft-log.coding.log"])

    assert [turn.thoughts for turn in coding.turns] == [
        ("The image must be turned.",),
        ("I turn it by 180 degrees.",),
        ("Now it can be read.",),
    ]
    assert [turn.actions[0].name for turn in coding.turns] == ["problem", "code", "answer"]
    assert [turn.images for turn in coding.turns] == [(NAME,), (), ("missing.png",)]
    assert search.question == "Which museum is it?"
    assert search.turns[0].observations == ("[{'title': 'The museum'}]",)


def test_no_picture_reaches_the_quarantine(tmp_path):
    row = {
        "messages": [
            {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": URI * 9}}]}
        ]
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    (lost,) = read_traces([tmp_path])

    assert isinstance(lost, Quarantined)
    assert len(lost.raw) <= 500
