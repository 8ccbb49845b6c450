"""A part of a picture, enlarged for the model by being shown alone: `image_zoom_in_tool` on real pixels.

As SSR's harness cuts (GitHub zfy0314/ssr-unofficial, src/ssr/media.py, commit 2d554730): corners in thousandths of the
sides, clamped; a side under 28 pixels is enlarged to 28 by Lanczos, each for itself, as in SenseNova-MARS
(verl/verl/tools/image_zoom_in_tool.py, commit c26a3e00), whose margin of 20 % around the box SSR leaves out.
"""

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple, TypeGuard

from PIL.Image import Image, Resampling

from ..vision import upright_rgb
from .tools import PICTURE, Observation, Situation, failed

SCALE = 1000  # what a box's corners are fractions of
LEAST_SIDE = 28  # pixels
MOST_RATIO = 200  # of a picture's sides, which Qwen's image processors allow


class Box(NamedTuple):
    """Pixels from (left, top), which belong to it, to (right, bottom), which do not."""

    left: int
    top: int
    right: int
    bottom: int


class Crop:
    """`image_zoom_in_tool`: {"bbox_2d": [x1, y1, x2, y2], "img_idx": number of a picture seen so far, "label": any}."""

    name = "image_zoom_in_tool"

    def call(self, arguments: Mapping[str, Any], situation: Situation) -> Observation:
        corners, number = arguments.get("bbox_2d"), arguments.get("img_idx")
        seen = len(situation.pictures)
        if not (is_number(number) and number == int(number) and 0 <= number < seen):
            return failed(f"img_idx {_shown(number)} names no picture; {seen} were seen, from 0 on")
        if not (isinstance(corners, list | tuple) and len(corners) == 4):
            return failed(f"bbox_2d {_shown(corners)} is not four numbers [x1, y1, x2, y2]")
        if not all(map(is_number, corners)):
            return failed(f"bbox_2d {_shown(corners)} is not four finite numbers")
        picture = upright_rgb(situation.pictures[int(number)])
        box = box_of(corners, picture.width, picture.height)
        if box.right <= box.left or box.bottom <= box.top:
            return failed(f"bbox_2d {_shown(corners)} holds no pixel of the picture")
        part = _enlarged(picture.crop(box))
        if max(part.size) > MOST_RATIO * min(part.size):
            return failed(f"bbox_2d {_shown(corners)} is over {MOST_RATIO} times as long as wide")
        return Observation(f"Zoomed image (registry index {seen}): {PICTURE}", (part,))


def box_of(corners: list | tuple, width: int, height: int) -> Box:
    """Four corners in thousandths, clamped, as pixels of a picture; maybe none."""
    sides = (width, height, width, height)
    return Box(
        *(
            int(min(SCALE, max(0, corner)) / SCALE * side)
            for corner, side in zip(corners, sides, strict=True)
        )
    )


def is_number(value: Any) -> TypeGuard[float]:
    """Whether it is a finite number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -inf < value < inf


def _enlarged(part: Image) -> Image:
    width, height = (max(side, LEAST_SIDE) for side in part.size)
    return (
        part if part.size == (width, height) else part.resize((width, height), Resampling.LANCZOS)
    )


def _shown(value: Any) -> str:
    return str(value)[:60]
