"""Documentation that cannot drift: the commands, the tree, the measurements' commands."""

import re
from pathlib import Path

import pytest
import typer

from forethought.ui.cli import app

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
GROUP = typer.main.get_command(app)
COMMANDS = sorted(
    f"{name} {sub}" if hasattr(command, "commands") else name
    for name, command in GROUP.commands.items()
    for sub in (getattr(command, "commands", None) or [""])
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_in_the_readme_and_has_help(command):
    found = GROUP
    for part in command.split():
        found = found.commands[part]

    assert f"forethought {command}" in README
    assert found.help
    assert all(getattr(p, "help", None) for p in found.params), [p.name for p in found.params]


def test_the_tree_in_contributing_equals_the_folders():
    tree = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for folder in ("data", "miner", "scorer", "ui"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.stem != "__init__" and "versions" not in path.parts:
                assert re.search(rf"\b{path.stem}\b", tree), (
                    f"{path.relative_to(ROOT)} is not in the tree"
                )


def test_every_table_of_measurements_names_its_command():
    text = (ROOT / "docs" / "measurements.md").read_text("utf-8")
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        assert re.search(r"`[^`\n]*(make|python|forethought) [^`\n]*`", section), section[:60]


def test_links_to_files_of_the_project_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:\s]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_test_that_the_features_name_is_there():
    named = re.findall(
        r"`(test_\w+\.py)::(test_\w+)`", (ROOT / "docs" / "features.md").read_text("utf-8")
    )

    assert named
    for file, name in named:
        (path,) = (ROOT / "tests").rglob(file)
        assert f"def {name}(" in path.read_text("utf-8"), f"{file}::{name}"
