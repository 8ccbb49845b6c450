"""The files of a training target: its rows, the set, the pictures, how to train, and an account of all of it."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

from ..errors import ForethoughtError, NothingToDo
from ..library import library_hash
from .bundle import Bundle, Piece, file_pieces, json_lines
from .candidate_rows import candidates_jsonl
from .card import card
from .columns import parquet_pieces
from .conversation import Form
from .examples import Writing
from .export_inputs import ExportInputs
from .findings import Finding, findings_in
from .labelled import LabelledTraces, label_traces
from .licences import sources_json
from .picture_files import PictureFolder
from .readme import README, files_beside, readme
from .row_shape import SHAPES, Container, Pictures, RowShape, Unit, path_of
from .training_rows import Made, Maker, Row, Source, asking, asking_questions, comparing, imitating

MOST_TOLD = 100  # findings in a manifest; all are counted


class Recipe(NamedTuple):
    """How a target's rows are made: what they are for, and the form unless another is asked for."""

    make: Maker
    form: Form = Form.CHAT


RECIPES = {
    "trl-sft": Recipe(imitating, Form.PLAIN),
    "trl-dpo": Recipe(comparing, Form.PLAIN),
    "trl-grpo": Recipe(asking, Form.PLAIN),
    "verl-sft": Recipe(imitating),
    "verl-rl": Recipe(asking_questions),
    "llamafactory": Recipe(imitating),
    "swift": Recipe(imitating),
    "openrlhf": Recipe(imitating),
    "axolotl": Recipe(imitating),
    "nemo-rl": Recipe(imitating),
    "hub": Recipe(imitating, Form.PLAIN),
}


class FindingsRefused(ForethoughtError):
    """Rows that are to be published hold what looks like a secret or personal."""


def training_bundle(target: str, inputs: ExportInputs, described: Mapping[str, Any]) -> Bundle:
    """The files of `target`, the set's library not among them; `described` is what the manifest says of the set.

    NothingToDo where no turn is left, with the reasons; FindingsRefused where a hub's rows hold what should not be published.
    """
    shape = SHAPES[target]
    writing = _writing(target, shape, inputs)
    labelled = label_traces(inputs.traces, inputs.labels, inputs.candidate_set, inputs.options)
    source = Source(labelled, inputs.candidate_set, writing, inputs.seed)
    made = RECIPES[target].make(shape, source)
    if not made.rows:
        reasons = ", ".join(f"{count} {why}" for why, count in made.left_out.most_common())
        raise NothingToDo(f"no turn to export ({reasons or 'no traces'}); nothing was written")
    tables = _tables(target, shape, made.rows)
    findings = [one for name, rows in tables.items() for one in findings_in(name, rows)]
    if target == "hub" and findings and not inputs.allows_findings:
        raise _refusal(findings)
    facts = {**described, **_facts(inputs, labelled, made, writing)}
    facts |= {"tables": {name: len(rows) for name, rows in tables.items()}}
    facts |= {"findings": _told(findings)}
    files: dict[str, Iterable[Piece]] = {
        name: parquet_pieces(rows) if shape.container is Container.PARQUET else json_lines(rows)
        for name, rows in tables.items()
    }
    files |= {path_of(name): file_pieces(writing.pictures.path(name)) for name in made.pictures}
    return Bundle(files | _beside(target, shape, inputs, facts, tables), facts)


def _writing(target: str, shape: RowShape, inputs: ExportInputs) -> Writing:
    form = inputs.form or RECIPES[target].form
    if form is Form.PLAIN and shape.unit is Unit.TRACE:
        raise ForethoughtError(
            f"{target} trains every turn of a trace, which plain rows cannot tell apart; take --prompt chat"
        )
    pictures = PictureFolder(inputs.pictures)
    shows = shape.pictures is not Pictures.NONE
    return Writing(form, inputs.system, inputs.options, pictures, shows)


def _tables(target: str, shape: RowShape, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by file: for a hub one a split, since what may be used for what must not be lost."""
    if target != "hub":
        return {f"train.{shape.container.value}": list(rows)}
    splits = dict.fromkeys(row["split"] for row in rows)
    return {
        f"turns/{split}.parquet": [row for row in rows if row["split"] == split]
        for split in sorted(splits)
    }


def _facts(
    inputs: ExportInputs, labelled: LabelledTraces, made: Made, writing: Writing
) -> dict[str, Any]:
    options = inputs.options
    splits = Counter(
        row["split"] if "split" in row else row["extra_info"]["split"] for row in made.rows
    )
    not_shown = 0 if writing.form is Form.CHAT else made.seen
    return {
        "inputs": {
            "traces": dict(sorted(labelled.sources.items())),
            "failures": options.include_failures,
            "test": options.include_test,
            "budget": writing.budget if options.count_tokens else None,
            "labels": inputs.labelled_by,
            "form": writing.form.value,
            "seed": inputs.seed,
        },
        "rows": len(made.rows),
        "turns": made.turns,
        "splits": dict(sorted(splits.items())),
        "left_out": dict(sorted(made.left_out.items())),
        "repairs": dict(sorted(made.repairs.items())),
        "pictures": {"files": len(made.pictures), "not_shown": not_shown},
        "sources": sources_json(made.traces),
    }


def _beside(
    target: str,
    shape: RowShape,
    inputs: ExportInputs,
    facts: Mapping[str, Any],
    tables: Mapping[str, Sequence[Row]],
) -> dict[str, Iterable[Piece]]:
    """What lies beside the rows: how to read them, and how to train."""
    if target == "hub":
        told = {"forethought": version("forethought"), **facts}
        splits = [name.removeprefix("turns/").removesuffix(".parquet") for name in tables]
        candidates = [json.loads(line) for line in candidates_jsonl(inputs.candidate_set)]
        return {README: [card(told, splits)], "candidates.parquet": parquet_pieces(candidates)}
    (rows,) = tables.values()
    files: dict[str, Iterable[Piece]] = {README: [readme(target, shape, facts, rows[0])]}
    files |= files_beside(target)
    if target == "llamafactory":
        files["dataset_info.json"] = json_lines([_dataset_info(shape, rows[0])])
    return files


def _dataset_info(shape: RowShape, row: Row) -> dict[str, Any]:
    columns = {"messages": shape.messages, "system": shape.system}
    columns |= {"images": "images"} if "images" in row else {}
    tags = {"role_tag": shape.role, "content_tag": shape.content}
    tags |= {f"{role.value}_tag": name for role, name in shape.names.items()}
    return {
        "forethought_turns": {
            "file_name": "train.jsonl",
            "formatting": "sharegpt",
            "columns": columns,
            "tags": tags,
        }
    }


def _told(findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "total": len(findings),
        "rules": dict(sorted(Counter(one.rule for one in findings).items())),
        "first": [one.as_json() for one in findings[:MOST_TOLD]],
    }


def _refusal(findings: Sequence[Finding]) -> FindingsRefused:
    told = ", ".join(f"{one.rule} in {one.file} row {one.row}" for one in findings[:5])
    more = f" and {len(findings) - 5} more" if len(findings) > 5 else ""
    return FindingsRefused(
        f"not for a hub: {told}{more}; take these turns out, or pass --allow-findings if they may be published"
    )


def set_facts(target: str, inputs: ExportInputs) -> dict[str, Any]:
    """What every manifest says of the set."""
    candidate_set = inputs.candidate_set
    return {
        "dialect": target,
        "set": {
            "name": candidate_set.name,
            "version": candidate_set.version,
            "hash": library_hash(candidate_set),
            "candidates": len(candidate_set.active),
        },
    }
