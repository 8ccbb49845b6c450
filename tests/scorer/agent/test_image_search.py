"""Recorded image searches: by the picture's hash or with the question, in SSR's words; broken thumbnails are told."""

import json
from hashlib import sha256

import pytest
from PIL import Image

from forethought.data.benchmarks.question import ImageResult, ImageSource
from forethought.data.errors import NotFound, ToolUnavailable
from forethought.scorer.agent.image_search import (
    NO_RESULTS,
    RecordedImageSearch,
    read_image_searches,
)
from forethought.scorer.agent.tools import Match, Situation

SEEN = (Image.new("RGB", (8, 8)),)
HASH = sha256(b"the picture's file").hexdigest()
# the titles that the authors of SSR recorded for their example (MIT)
OLD_COLLEGE = [
    {
        "title": "Old College, University of Edinburgh - Wikipedia",
        "url": "https://en.wikipedia.org/wiki/Old_College",
    },
    {
        "title": "University of Edinburgh Tours - Book Now | Expedia",
        "url": "https://www.expedia.com/x",
    },
]


def call(tool, **situation):
    return tool.call({}, Situation("What is it?", SEEN, **situation))


def written(tmp_path, content, name="search.json"):
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return file


def test_a_recorded_search_is_found_by_the_pictures_hash(tmp_path):
    file = written(tmp_path, {"image_sha256": HASH, "retrieved_at": "2026", "results": OLD_COLLEGE})

    found = call(RecordedImageSearch(read_image_searches(file)), picture_sha256=HASH)

    assert found.text == (
        "Reverse image search results:\n"
        "Title: Old College, University of Edinburgh - Wikipedia\n"
        "URL: https://en.wikipedia.org/wiki/Old_College\n"
        "Title: University of Edinburgh Tours - Book Now | Expedia\n"
        "URL: https://www.expedia.com/x"
    )
    assert (found.match, found.failure, found.pictures) == (Match.EXACT, "", ())


def test_another_picture_gets_no_results(tmp_path):
    file = written(tmp_path, {"image_sha256": HASH, "results": OLD_COLLEGE})
    tool = RecordedImageSearch(read_image_searches(file))

    for other in ("", sha256(b"the picture, saved again").hexdigest()):
        found = call(tool, picture_sha256=other)
        assert (found.text, found.match, found.failure) == (NO_RESULTS, Match.MISS, "")


def test_what_came_with_the_question_counts_first():
    tool = RecordedImageSearch({HASH: (ImageResult("by hash"),)})

    found = call(tool, picture_sha256=HASH, image_results=(ImageResult("by question"),))

    assert found.text == "Reverse image search results:\nTitle: by question"


def test_the_first_five_are_shown():
    results = tuple(ImageResult(str(i)) for i in range(9))

    assert call(RecordedImageSearch(), image_results=results).text.count("Title: ") == 5


def test_thumbnails_have_their_places_and_numbers(tmp_path):
    for name, colour in (("a.png", "red"), ("b.png", "blue")):
        Image.new("RGB", (4, 4), colour).save(tmp_path / name)
    rows = [
        {"title": "A", "image_path": "a.png"},
        {"title": "none"},
        {"title": "B", "image_path": "b.png"},
    ]
    file = written(tmp_path, [{"image_sha256": HASH, "results": rows}])

    found = call(RecordedImageSearch(read_image_searches(file)), picture_sha256=HASH)

    assert found.text.splitlines()[1:] == [
        "Title: A",
        "Thumbnail (registry index 1): <image>",
        "Title: none",
        "Title: B",
        "Thumbnail (registry index 2): <image>",
    ]
    assert [picture.getpixel((0, 0)) for picture in found.pictures] == [(255, 0, 0), (0, 0, 255)]


def test_a_thumbnail_that_is_missing_or_broken_is_told_and_the_titles_stay(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "whole.png")
    missing = ImageSource("missing.png", "row 1", folder=tmp_path)
    broken = ImageSource("broken", "row 1", content=b"no picture")
    whole = ImageSource("whole.png", "row 1", folder=tmp_path)
    results = tuple(ImageResult("t", source) for source in (missing, broken, whole))

    found = call(RecordedImageSearch(), image_results=results)

    assert "missing.png" in found.failure
    assert "\n" not in found.failure
    assert found.text.count("Title: t") == 3
    assert len(found.pictures) == 1


def test_a_title_does_not_pass_for_a_picture():
    found = call(RecordedImageSearch(), image_results=(ImageResult("<image> <|im_end|>"),))

    assert "\uff1cimage> \uff1c|im_end|>" in found.text


def test_a_folder_of_searches_is_read_whole(tmp_path):
    other = sha256(b"other").hexdigest()
    written(tmp_path, {"image_sha256": HASH, "results": [{"title": "a"}]}, "a.json")
    written(tmp_path, [{"image_sha256": other, "results": []}], "b.json")

    assert read_image_searches(tmp_path) == {HASH: (ImageResult("a"),), other: ()}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "no JSON"),
        ("3", "lacks"),
        ({"image_sha256": "abc", "results": []}, "64 hex digits"),
        ({"image_sha256": HASH, "results": {}}, "list of"),
        ({"image_sha256": HASH, "results": [{"url": "u"}]}, 'no "title"'),
        ({"image_sha256": HASH, "results": ["t"]}, 'no "title"'),
    ],
)
def test_a_file_that_is_no_search_is_named(tmp_path, content, words):
    file = written(tmp_path, content)

    with pytest.raises(ToolUnavailable) as caught:
        read_image_searches(file)
    assert str(file) in str(caught.value)
    assert words in str(caught.value)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(NotFound, match="nowhere.json"):
        read_image_searches(tmp_path / "nowhere.json")
    with pytest.raises(NotFound, match="no recorded image searches"):
        read_image_searches(tmp_path)
