"""How far a command is, in a file that another process reads: $FORETHOUGHT_PROGRESS names it.

Written whole, a few times a second at most; a file that cannot be written costs its reader news, never the command.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "FORETHOUGHT_PROGRESS"
SECONDS = 0.3  # between two writes
FIELDS = 200  # characters of a title or a stage that are kept


@dataclass(frozen=True)
class Progress:
    """What is done, of `total` where that is known, in which stage where there are stages."""

    title: str
    done: int = 0
    total: int | None = None
    stage: str = ""

    @property
    def share(self) -> float | None:
        """0 to 1, None where the total is not known."""
        return min(max(self.done / self.total, 0.0), 1.0) if self.total else None

    @property
    def sentence(self) -> str:
        of = f" of {self.total}" if self.total else ""
        count = f" {self.done}{of}" if self.done or of else ""
        return f"{self.title}{count}" + (f": {self.stage}" if self.stage else "")


def teller() -> Callable[[Progress], None]:
    """What keeps the file up to date; it does nothing where no file is named."""
    name = os.environ.get(VARIABLE)
    if not name:
        return lambda progress: None
    path, told_at, stage = Path(name), 0.0, ""

    def tell(progress: Progress) -> None:
        nonlocal told_at, stage
        now = time.monotonic()
        is_end = progress.total is not None and progress.done >= progress.total
        if now - told_at >= SECONDS or is_end or progress.stage != stage:
            told_at, stage = now, progress.stage
            _write(path, progress)

    return tell


def read(path: Path) -> Progress | None:
    """What the file tells; None for one that is missing or tells nothing."""
    try:
        found = json.loads(path.read_text("utf-8"))
        total = found["total"]
        return Progress(
            title=str(found["title"])[:FIELDS],
            done=int(found["done"]),
            total=None if total is None else int(total),
            stage=str(found["stage"])[:FIELDS],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(path: Path, progress: Progress) -> None:
    partial = path.with_name(f".{path.name}.partial")
    with contextlib.suppress(OSError):
        partial.write_text(json.dumps(asdict(progress)), "utf-8")
        os.replace(partial, path)
