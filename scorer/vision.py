"""Pictures as a vision-language model takes them: patches in, features and positions out.

Knows the Qwen-VL family: a picture's patches lie on a grid, and merge x merge of them become one token. Its tokens stand
at positions (time, height, width) that start where the text before ends; the text after goes on behind the longest
side, so that positions run behind the number of tokens. Nothing here knows contexts or candidates.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..data.errors import ModelUnavailable, PictureMismatch

PROCESSOR_FILES = ("preprocessor_config.json", "processor_config.json")
# How the image processor names what the tower is built for.
CUTS = {
    "patch_size": "patch_size",
    "merge_size": "spatial_merge_size",
    "temporal_patch_size": "temporal_patch_size",
}


class Picture(NamedTuple):
    """A prepared picture: `patches` (t * h * w, values of a patch) on the `grid` (t, h, w), before merging."""

    patches: Tensor
    grid: tuple[int, int, int]


class Features(NamedTuple):
    """What the model reads in the place of a picture's n tokens.

    `embeddings` (n, H) come instead of the tokens' own. `layers` (n, H) each are added after the first layers
    (DeepStack of Qwen3-VL); there are none for other models.
    """

    embeddings: Tensor
    layers: tuple[Tensor, ...]

    def part(self, start: int, stop: int) -> "Features":
        return Features(
            self.embeddings[start:stop], tuple(layer[start:stop] for layer in self.layers)
        )


def read_image_processor(path: str, tower: Any) -> Any | None:
    """The image processor at a folder or hub id, computing with PIL; None where a folder has none.

    `tower` is the vision side's configuration. ModelUnavailable where the two cut pictures differently.
    """
    from transformers import (
        Qwen2VLImageProcessorPil,  # only those who look need it, and not all releases have it
    )

    folder = Path(path)
    if folder.is_dir() and not any((folder / name).is_file() for name in PROCESSOR_FILES):
        return None
    processor = Qwen2VLImageProcessorPil.from_pretrained(path)
    for own, theirs in CUTS.items():
        cut, expected = getattr(processor, own, None), getattr(tower, theirs, None)
        if cut != expected:
            raise ModelUnavailable(
                f"{path}: the image processor has {own} {cut} and the model {expected}; take the model's own "
                "preprocessor_config.json"
            )
    return processor


class Eyes:
    """The vision side of a network: how it cuts pictures and which tokens stand for them."""

    def __init__(self, network: Any, image_processor: Any = None) -> None:
        self._network = network
        self._processor = image_processor
        self._merge = network.config.vision_config.spatial_merge_size
        self.token = int(network.config.image_token_id)

    def prepare(self, image: Any) -> Picture:
        """A PIL image as the model's own processor cuts it.

        It is turned upright as its EXIF data say; what is transparent becomes white; 16-bit grey keeps its shades.
        PictureMismatch for anything that is no whole PIL image of at least one pixel, and which the processor refuses.
        """
        if self._processor is None:
            raise PictureMismatch(
                "this model came without an image processor, so it takes no pictures; put its "
                "preprocessor_config.json into its folder"
            )
        try:
            cut = self._processor(images=[upright_rgb(image)], return_tensors="pt")
        except (OSError, ValueError, SyntaxError) as error:  # PIL's words for damaged files
            raise PictureMismatch(
                f"the picture cannot be read ({error}); pass a whole image, as PIL.Image.open gives it"
            ) from error
        return Picture(cut["pixel_values"], tuple(cut["image_grid_thw"][0].tolist()))

    def tokens(self, picture: Picture) -> list[int]:
        """The ids that stand for `picture` in a text, its markers included."""
        config = self._network.config
        inside = [self.token] * self.count(picture)
        return [config.vision_start_token_id, *inside, config.vision_end_token_id]

    def count(self, picture: Picture) -> int:
        """How many tokens stand for `picture`, without markers."""
        self._require_whole(picture)
        _, height, width = picture.grid
        return height * width // self._merge**2

    def positions(self, picture: Picture, start: int) -> np.ndarray:
        """(3, n) positions of its tokens: time, height, width."""
        frames, height, width = picture.grid
        shape = (frames, height // self._merge, width // self._merge)
        return np.indices(shape).reshape(3, -1) + start

    def span(self, picture: Picture) -> int:
        """How far behind the picture's first position the text goes on."""
        return max(picture.grid[1:]) // self._merge

    def _require_whole(self, picture: Picture) -> None:
        """PictureMismatch for patches that do not make a picture of this tower."""
        vision = self._network.config.vision_config
        channels = getattr(vision, "in_channels", 3)
        width = channels * vision.temporal_patch_size * vision.patch_size**2
        frames, *sides = picture.grid
        if frames != 1 or any(side < 1 or side % self._merge for side in sides):
            raise PictureMismatch(
                f"a picture's grid is (1, height, width) in multiples of {self._merge}, not {picture.grid}"
            )
        if tuple(picture.patches.shape) != (sides[0] * sides[1], width):
            raise PictureMismatch(
                f"a picture on a grid of {picture.grid} has patches of shape {(sides[0] * sides[1], width)}, "
                f"not {tuple(picture.patches.shape)}"
            )
        if not torch.isfinite(picture.patches).all():
            raise PictureMismatch("a picture holds a value that is no number")

    @torch.inference_mode()
    def features(self, picture: Picture) -> Features:
        """One pass of the vision tower."""
        model = self._network.model
        found = model.get_image_features(
            picture.patches.to(self._network.device),
            torch.tensor([picture.grid], device=self._network.device),
            return_dict=True,
        )
        dtype = self._network.dtype
        layers = getattr(found, "deepstack_features", None) or ()
        embeddings = torch.cat(tuple(found.pooler_output)).to(dtype)
        # A layer comes as one (n, H) in transformers 5.17, as one for each picture in 5.24.
        flat = (torch.cat(tuple(layer)).to(dtype) for layer in layers)
        return Features(embeddings, tuple(own.reshape(embeddings.shape) for own in flat))


def upright_rgb(image: Any) -> Any:
    """Upright, opaque, eight bits a colour. PictureMismatch for what is no image."""
    from PIL import Image, ImageOps  # only those who look need it

    if not isinstance(image, Image.Image):
        raise PictureMismatch(
            f"a picture must be a PIL image, not {type(image).__name__}; open files with PIL.Image.open, "
            "make arrays one with PIL.Image.fromarray"
        )
    if not all(image.size):
        raise PictureMismatch(f"a picture of {image.width} x {image.height} pixels shows nothing")
    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I"):  # 16 bits, of which PIL would cut all above 255
        shades = np.asarray(upright, dtype=np.float64) / 257
        return Image.fromarray(shades.clip(0, 255).round().astype(np.uint8)).convert("RGB")
    if upright.has_transparency_data:
        colours = upright.convert("RGBA")
        white = Image.new("RGBA", colours.size, "white")
        return Image.alpha_composite(white, colours).convert("RGB")
    return upright.convert("RGB")
