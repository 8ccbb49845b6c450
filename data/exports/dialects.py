"""The table of export targets: a name, and what makes its files. A new one is a row and a function.

What conversational rows look like is a table of its own (`row_shape`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..candidates import CandidateSet
from ..errors import NotFound, NothingToDo
from ..history import now
from ..library import library_json, library_text, side_json, side_path
from .bundle import Bundle, Piece, write_bundle
from .candidate_rows import candidates_csv, candidates_jsonl
from .constraints import choices_json, ebnf, regex, tokens_json
from .export_inputs import ExportInputs
from .training_bundle import set_facts, training_bundle

LIBRARY = Path("reasoning_library.json")


@dataclass(frozen=True)
class Dialect:
    """One target. `needs_labels`: whether it reads traces and their labels beside the set; `needs_tokens`: the set's token ids."""

    name: str
    description: str
    needs_labels: bool
    bundle: Callable[[ExportInputs], Bundle]
    needs_tokens: bool = False


def ssr_library(inputs: ExportInputs) -> Bundle:
    side = side_json(inputs.candidate_set, written_at=now())
    own = {side_path(LIBRARY).name: [library_text(side)]}
    return Bundle(_library(inputs.candidate_set) | own)


def csv_list(inputs: ExportInputs) -> Bundle:
    return Bundle({"candidates.csv": candidates_csv(inputs.candidate_set)})


def json_list(inputs: ExportInputs) -> Bundle:
    return Bundle({"candidates.jsonl": candidates_jsonl(inputs.candidate_set)})


def choices(inputs: ExportInputs) -> Bundle:
    return Bundle({"choices.json": [choices_json(inputs.candidate_set)]})


def grammar(inputs: ExportInputs) -> Bundle:
    files = {"candidates.ebnf": [ebnf(inputs.candidate_set)]}
    return Bundle(files | {"candidates.regex": [regex(inputs.candidate_set)]})


def tokens(inputs: ExportInputs) -> Bundle:
    assert inputs.tokens is not None, "whoever exports tokens hands them in"
    named = {"name": inputs.tokens.name, "sha256": inputs.tokens.sha256}
    written = tokens_json(inputs.candidate_set, inputs.tokens)
    return Bundle({"tokens.json": [written]}, {"tokenizer": named})


def training(target: str, inputs: ExportInputs) -> Bundle:
    """Rows name candidates by id and the set by hash; the set lies beside them."""
    return training_bundle(target, inputs, set_facts(target, inputs))


def _library(candidate_set: CandidateSet) -> dict[str, Iterable[Piece]]:
    """The set itself, which travels with every export."""
    return {LIBRARY.name: [library_text(library_json(candidate_set))]}


def _trained(name: str, description: str) -> Dialect:
    return Dialect(name, description, True, partial(training, name))


DIALECTS = (
    Dialect("ssr-library", "the set in the SSR authors' format", False, ssr_library),
    Dialect("csv", "a list for spreadsheets, formulas disarmed", False, csv_list),
    Dialect("jsonl", "a list as JSON lines, exact", False, json_list),
    _trained("trl-sft", "prompt and completion rows for TRL's SFTTrainer"),
    _trained("trl-dpo", "the turn's candidate against another, for TRL's DPOTrainer"),
    _trained("trl-grpo", "contexts with the action taken, for TRL's GRPOTrainer"),
    _trained("verl-sft", "whole traces for verl's supervised training"),
    _trained("verl-rl", "questions with known answers for verl's reinforcement learning"),
    _trained("llamafactory", "turns as ShareGPT, with dataset_info.json"),
    _trained("swift", "turns for ms-swift, the last message alone trained"),
    _trained("openrlhf", "turns for OpenRLHF's supervised training"),
    _trained("axolotl", "turns for axolotl, with its configuration"),
    _trained("nemo-rl", "whole traces for NeMo-RL's supervised training"),
    _trained("hub", "a dataset with a card, to be published"),
    Dialect("choices", "a list of choices for constrained decoding", False, choices),
    Dialect("grammar", "EBNF and a regular expression", False, grammar),
    Dialect("tokens", "the token ids of each candidate", False, tokens, needs_tokens=True),
)


def dialect(name: str) -> Dialect:
    for row in DIALECTS:
        if row.name == name:
            return row
    names = ", ".join(row.name for row in DIALECTS)
    raise NotFound(f"no export format {name!r}; there are: {names}")


def export(name: str, inputs: ExportInputs, folder: str | Path) -> dict[str, Any]:
    """Write the files of one dialect into `folder`; the content of its manifest.

    Raises NotFound for an unknown dialect, NothingToDo for an empty set or no usable turn.
    """
    return write_bundle(bundle_of(name, inputs), Path(folder))


def bundle_of(name: str, inputs: ExportInputs) -> Bundle:
    """The files of one dialect, not written yet; raises as `export` does."""
    candidate_set = inputs.candidate_set
    target = dialect(name)
    if not candidate_set.active:
        raise NothingToDo(f"set {candidate_set.name!r} has no candidate that is not rejected")
    bundle = target.bundle(inputs)
    facts = {**set_facts(name, inputs), **bundle.facts}
    return Bundle(dict(bundle.files) | _library(candidate_set), facts)
