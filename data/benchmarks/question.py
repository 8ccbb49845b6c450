"""What a benchmark asks: a question, its accepted answers, its pictures, as frozen values.

Knows no file format of benchmarks. A picture is opened when it is asked for, not before: a benchmark with pictures missing
can be counted, and one that is broken costs its own question only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BrokenPicture

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")  # none that runs another program
ENDINGS = ("", ".jpg", ".jpeg", ".JPEG", ".JPG", ".png", ".webp")  # InfoSeek names pictures without


@dataclass(frozen=True)
class ImageSource:
    """A picture: its bytes, or its name among the files in `folder` and the folders directly in it.

    `row` says which row of the benchmark names it.
    """

    name: str
    row: str
    content: bytes | None = field(default=None, repr=False)
    folder: Path | None = None

    @property
    def path(self) -> Path | None:
        """The file, where there is one. What lies outside of the folder is looked for inside, by its last name.

        So a row that was written on another machine (/data/bench/image/7.jpg) finds its picture, and none is read from
        anywhere but where the benchmark lies.
        """
        if self.folder is None or "://" in self.name or "\0" in self.name:
            return None
        named, inside = Path(self.name), [self.folder / Path(self.name).name]
        if not named.is_absolute() and ".." not in named.parts:
            inside.insert(0, self.folder / named)
        try:
            inside += [
                folder / named.name for folder in sorted(self.folder.iterdir()) if folder.is_dir()
            ]
            files = (path.with_name(path.name + end) for path in inside for end in ENDINGS)
            return next((path for path in files if path.is_file()), None)
        except (OSError, ValueError):  # a name that no file can have
            return None

    def read(self) -> bytes:
        """The picture's bytes as they are. BrokenPicture where there are none."""
        if self.content is not None:
            return self.content
        path = self.path
        if path is None:
            raise BrokenPicture(
                f"{self.row}: no picture {self.name[:200]!r} in {self.folder or 'it'}, nor in the folders directly in it; put it there"
            )
        try:
            return path.read_bytes()
        except OSError as error:
            raise BrokenPicture(
                f"{self.row}: the picture {path} cannot be read ({error.strerror or error})"
            ) from error

    def open(self) -> "Image":
        """The whole picture, decoded. BrokenPicture for what is none."""
        from PIL import Image  # only those who look need it

        content = self.read()
        try:
            image = Image.open(BytesIO(content), formats=FORMATS)
            image.load()
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            reason = " ".join(str(error).split("<_io")[0].split()) or type(error).__name__
            raise BrokenPicture(
                f"{self.row}: the picture {self.name[:200]!r} ({len(content):,} bytes) cannot be shown ({reason}); replace it or leave the question out"
            ) from error
        return image


@dataclass(frozen=True)
class ImageResult:
    """One hit of a recorded reverse image search; the title is "" where only a picture was recorded."""

    title: str
    thumbnail: ImageSource | None = None
    url: str = ""


@dataclass(frozen=True)
class Question:
    """`answers` are all texts that count as right, at least one; a range of numbers is written "108-132".

    `facts` is what its source says of it and slices go by: category, difficulty, split and the like.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    benchmark: str
    images: tuple[ImageSource, ...] = ()
    image_results: tuple[ImageResult, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Unusable:
    """A row that cannot be asked: which ("data.jsonl:7"), and why."""

    row: str
    reason: str
