"""Crops are the picture's own pixels, inside it, and what names no part of it is refused in one line."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from forethought.scorer.agent.crop import LEAST_SIDE, Crop, box_of
from forethought.scorer.agent.tools import Situation

PIXELS = np.random.default_rng(0).integers(0, 256, (120, 200, 3), dtype=np.uint8)
PICTURE = Image.fromarray(PIXELS)


def cropped(arguments, pictures=(PICTURE,)):
    return Crop().call(arguments, Situation("What is it?", pictures))


def test_a_crop_is_the_pictures_own_pixels():
    found = cropped({"bbox_2d": [100, 250, 600, 750], "img_idx": 0, "label": "sign"})

    np.testing.assert_array_equal(np.asarray(found.pictures[0]), PIXELS[30:90, 20:120])
    assert found.text == "Zoomed image (registry index 1): <image>"
    assert not found.failure


def test_any_picture_seen_so_far_can_be_cropped():
    other = Image.new("RGB", (100, 100), "red")

    found = cropped({"bbox_2d": [0, 0, 500, 1000], "img_idx": 1.0, "label": ""}, (PICTURE, other))

    assert found.pictures[0].size == (50, 100)
    assert found.pictures[0].getpixel((0, 0)) == (255, 0, 0)
    assert "index 2" in found.text


def test_a_small_crop_is_enlarged_to_the_least_side():
    found = cropped({"bbox_2d": [0, 0, 10, 1000], "img_idx": 0, "label": ""})

    assert found.pictures[0].size == (LEAST_SIDE, 120)


def test_a_picture_is_cropped_as_the_model_sees_it():
    """Upright, as its EXIF data say, and opaque."""
    turned = Image.fromarray(PIXELS).convert("RGBA")
    turned.getexif()[0x0112] = 6  # a quarter to the right

    found = cropped({"bbox_2d": [0, 0, 1000, 500], "img_idx": 0, "label": ""}, (turned,))

    np.testing.assert_array_equal(np.asarray(found.pictures[0]), np.rot90(PIXELS, -1)[:100])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bbox_2d": [0, 0, 9, 9]}, "img_idx None names no picture; 1 were seen"),
        ({"bbox_2d": [0, 0, 9, 9], "img_idx": 1}, "img_idx 1"),
        ({"bbox_2d": [0, 0, 9, 9], "img_idx": -1}, "img_idx -1"),
        ({"bbox_2d": [0, 0, 9, 9], "img_idx": 0.5}, "img_idx 0.5"),
        ({"bbox_2d": [0, 0, 9, 9], "img_idx": True}, "img_idx True"),
        ({"bbox_2d": [0, 0, 9, 9], "img_idx": "0"}, "img_idx 0"),
        ({"bbox_2d": [0, 0, 9, 9], "img_idx": float("nan")}, "img_idx nan"),
        ({"img_idx": 0}, "bbox_2d None is not four numbers"),
        ({"bbox_2d": [0, 0, 9], "img_idx": 0}, "is not four numbers"),
        ({"bbox_2d": "0,0,9,9", "img_idx": 0}, "is not four numbers"),
        ({"bbox_2d": [0, 0, 9, "9"], "img_idx": 0}, "is not four finite numbers"),
        ({"bbox_2d": [0, 0, 9, float("inf")], "img_idx": 0}, "is not four finite numbers"),
        ({"bbox_2d": [500, 0, 500, 900], "img_idx": 0}, "holds no pixel"),
        ({"bbox_2d": [900, 0, 100, 900], "img_idx": 0}, "holds no pixel"),
        ({"bbox_2d": [1000, 0, 2000, 900], "img_idx": 0}, "holds no pixel"),
    ],
)
def test_what_names_no_part_of_a_picture_is_refused_in_one_line(arguments, words):
    found = cropped(arguments)

    assert words in found.failure
    assert "\n" not in found.failure
    assert found.failure in found.text
    assert not found.pictures


def test_a_strip_that_no_image_processor_takes_is_refused():
    long = Image.new("RGB", (6000, 40))

    assert "200 times" in cropped({"bbox_2d": [0, 0, 1000, 500], "img_idx": 0}, (long,)).failure


def test_without_pictures_nothing_is_cropped():
    assert "0 were seen" in cropped({"bbox_2d": [0, 0, 9, 9], "img_idx": 0}, ()).failure


numbers = st.floats() | st.integers(-(10**400), 10**400)
anything = st.recursive(st.none() | st.booleans() | st.text() | numbers, st.lists, max_leaves=5)


@given(st.lists(numbers, min_size=4, max_size=4), st.integers(1, 300), st.integers(1, 300))
def test_a_box_lies_within_its_picture(corners, width, height):
    found = cropped({"bbox_2d": corners, "img_idx": 0}, (Image.new("RGB", (width, height)),))

    if not found.failure:
        box = box_of(corners, width, height)
        assert 0 <= box.left < box.right <= width
        assert 0 <= box.top < box.bottom <= height
        assert min(found.pictures[0].size) >= LEAST_SIDE


@given(st.dictionaries(st.sampled_from(["bbox_2d", "img_idx", "label"]), anything))
def test_no_arguments_break_it(arguments):
    found = cropped(arguments)

    assert bool(found.failure) != bool(found.pictures)
    json.dumps(found.text)
