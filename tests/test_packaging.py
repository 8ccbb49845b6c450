"""What a wheel would hold, and what a bare machine installs."""

import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_the_listed_packages_are_the_folders_on_disk():
    listed = set(PROJECT["tool"]["setuptools"]["packages"])
    on_disk = {
        ".".join(("forethought", *path.parent.relative_to(ROOT).parts))
        for folder in ("data", "miner", "scorer", "ui")
        for path in (ROOT / folder).rglob("__init__.py")
    }

    assert listed == on_disk


def test_every_folder_says_it_is_typed():
    for folder in ("data", "miner", "scorer", "ui"):
        assert (ROOT / folder / "py.typed").exists()


def test_every_requirement_is_pinned_and_installed_as_pinned():
    lines = (ROOT / "requirements.txt").read_text("utf-8").split()
    for line in lines:
        name, _, pinned = line.partition("==")
        assert pinned, line
        assert version(name).split("+")[0] == pinned, line


def test_the_samples_and_their_notice_are_there():
    samples = {path.name for path in (ROOT / "data" / "samples").iterdir()}
    notice = (ROOT / "NOTICE").read_text("utf-8")

    assert len({name for name in samples if name.startswith("fireact-")}) == 3
    assert "CC BY-SA 4.0" in notice
    assert "data/samples" in notice
