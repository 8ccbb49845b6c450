"""The README that lies in an export: how to train with it, what a row is, what was left out, whose traces they are.

How to train stands in `recipes/TARGET/README.md`, how to make the trainer select in `hooks/TARGET/README.md` where that can be; the files beside these go along
with the export as they are.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Template
from typing import Any

from .labelled import LeftOut
from .row_shape import SHAPES, Pictures, RowShape

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
$not_shown
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
        left_out=listed(map(left_out_line, facts["left_out"].items())),
        not_shown=f"\n{not_shown_line(facts)}\n" if not_shown_line(facts) else "",
        sources=listed(map(source_line, facts["sources"])),
    )


def left_out_line(counted: tuple[str, int]) -> str:
    """A reason, and what it means."""
    reason, count = counted
    return f"{count}: {reason} ({LeftOut(reason).meaning})"


def not_shown_line(facts: Mapping[str, Any]) -> str:
    """What became of pictures that rows have no place for, and what shows them; "" where there are none."""
    count = facts.get("pictures", {}).get("not_shown")
    if not count:
        return ""
    target = facts["dialect"]
    again = f"`forethought export {facts['set']['name']} --to {target} --prompt chat` shows them"
    is_read = SHAPES[target].pictures is not Pictures.NONE
    how = again if is_read else f"{target} reads none, other targets do"
    return f"Pictures of these runs that are not shown, since the rows are plain: {count}; {how}."


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
