"""What the app's forms ask for, as arguments of the command line. Every text is one argument or part of one: `--name=TEXT`,
or a place behind `--`, so that nothing a person types can become another option.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..data.errors import NothingToDo
from .jobs import OUT


@dataclass(frozen=True)
class ImportRun:
    """Traces into the store; `paths` are files, folders or patterns on the app's machine."""

    paths: tuple[str, ...]
    source: str = ""
    format: str = ""

    def arguments(self) -> list[str]:
        if not self.paths:
            raise NothingToDo("nothing to import: name at least one file, folder or pattern")
        named = {"source": self.source, "format": self.format}
        return ["import", *_options(named), "--", *self.paths]


@dataclass(frozen=True)
class MineRun:
    """A set mined anew, or (`grow`) the set of this name grown by what was imported since.

    `curated` sets, on which people have decided, are mined anew only where `again` says so.
    """

    name: str
    budget: int = 12
    source: str = ""
    admit: bool = False
    escape: bool = False
    grow: bool = False
    again: bool = False
    curated: Collection[str] = ()

    def arguments(self) -> list[str]:
        if not self.name:
            raise NothingToDo("the set has no name: give it one, such as search-v1")
        if self.name in self.curated and not (self.grow or self.again):
            raise NothingToDo(
                f"people have decided on the set {self.name}: choose another name, grow it, or say that it is to be mined anew "
                "(decisions stay, but what was merged or reordered may come back)"
            )
        if self.grow:
            return ["mine", *_options({"grow": self.name, "budget": self.budget})]
        named = {"name": self.name, "budget": self.budget, "source": self.source}
        return ["mine", *_options(named), *_flags(admit=self.admit, escape=self.escape)]


@dataclass(frozen=True)
class AuditRun:
    """A set measured on `limit` held-out turns (0: all), with a report among the files that it makes."""

    name: str
    other: str = ""
    limit: int = 48
    oracle: bool = True
    model: str = ""

    def arguments(self) -> list[str]:
        named = {"limit": self.limit, "model": self.model, "report": f"{OUT}/report.html"}
        oracle = [] if self.oracle else ["--no-oracle"]
        return ["audit", *_options(named), *oracle, "--", *filter(None, (self.name, self.other))]


@dataclass(frozen=True)
class BenchRun:
    """A set that a model selects from against other ways to think, over `limit` questions; its records among the files that it makes."""

    name: str
    modes: tuple[str, ...] = ("select", "think")
    limit: int = 100

    def arguments(self) -> list[str]:
        if not self.modes:
            raise NothingToDo("no mode to play: choose at least one")
        modes = [f"--mode={mode}" for mode in self.modes]
        return ["bench", *_options({"limit": self.limit, "out": OUT}), *modes, "--", self.name]


@dataclass(frozen=True)
class ExportRun:
    """A set in the form that a training run reads, among the files that it makes.

    `label` and the audit's `records` that it is told by, and `prompt`, are as on the command line; "" for what is usual.
    """

    name: str
    to: str
    include_failures: bool = False
    include_test: bool = False
    model: str = ""
    label: str = ""
    records: str = ""
    prompt: str = ""
    allow_findings: bool = False

    def arguments(self) -> list[str]:
        named = {"to": self.to, "out": OUT, "model": self.model}
        named |= {"label": self.label, "records": self.records, "prompt": self.prompt}
        allowed = {"include-failures": self.include_failures, "include-test": self.include_test}
        allowed |= {"allow-findings": self.allow_findings}
        return ["export", *_options(named), *_flags(**allowed), "--", self.name]


def _options(values: Mapping[str, object]) -> list[str]:
    """`--name=value` for each that has one."""
    return [f"--{name}={value}" for name, value in values.items() if value != ""]


def _flags(**wanted: bool) -> list[str]:
    return [f"--{name}" for name, is_wanted in wanted.items() if is_wanted]
