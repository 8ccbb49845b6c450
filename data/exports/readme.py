"""The README that lies in an export: how to train with it, what a row is, what was left out, whose traces they are.

How to train stands in `recipes/TARGET/README.md`, how to make the trainer select in `hooks/TARGET/README.md` where that can be; the files beside these go along
with the export as they are.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Template
from typing import Any

from .row_shape import RowShape

HERE = Path(__file__).parent
README = "README.md"
PLACES = (HERE / "recipes", HERE / "hooks")
HEAD = Template("""\
# $set for $target

$rows rows$turns, by the set $set (`$hash`); labels: $labels. $loss.
A thought stands in `<thinking>` and a call in `<tool_call>`, both in the text, as an agent that selects writes them; earlier thoughts are
their labels, and one without a label is left out.

## Train

$recipe
## What is in a row

$columns. `manifest.json` has the hash of every file; `forethought export-check .` reads them again.

## What was left out

$left_out

## Where it comes from

$sources
""")


def files_beside(target: str) -> dict[str, Iterable[str]]:
    """The files that go along with every export for this target: configuration, rewards, hooks."""
    found: dict[str, Iterable[str]] = {}
    for place in PLACES:
        for path in sorted((place / target).glob("*")):
            if path.is_file() and path.name not in (README, "__init__.py"):
                found[path.name] = [path.read_text("utf-8")]
    return found


def readme(target: str, shape: RowShape, facts: Mapping[str, Any], columns: Iterable[str]) -> str:
    """The text, by what the manifest says."""
    recipes = [place / target / README for place in PLACES]
    written = "\n".join(
        Template(path.read_text("utf-8")).substitute() for path in recipes if path.is_file()
    )
    return HEAD.substitute(
        target=target,
        set=facts["set"]["name"],
        hash=facts["set"]["hash"],
        rows=facts["rows"],
        turns=f" with {facts['turns']} labelled turns" if facts["turns"] else "",
        labels=facts["inputs"]["labels"],
        loss=f"{shape.loss[:1].upper()}{shape.loss[1:]}",
        recipe=written,
        columns=", ".join(f"`{name}`" for name in columns),
        left_out=listed(f"{count}: {why}" for why, count in facts["left_out"].items()),
        sources=listed(map(source_line, facts["sources"])),
    )


def source_line(source: Mapping[str, Any]) -> str:
    """A source with its licence, on one line."""
    named = (
        f"{source['source'] or 'no name'}: {source['traces']} traces, licence {source['licence']}."
    )
    return f"{named} {source['terms']}".strip()


def listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {one_line(line)}" for line in lines) or "Nothing."


def one_line(text: str) -> str:
    return " ".join(text.split())
