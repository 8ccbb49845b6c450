"""An export for TRL as its own script reads it: what was asked, rows, set, model. Every mistake is one line. Needs the extra `[train]`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from datasets import load_dataset
from datasets.utils import logging
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from trl import TrlParser

from ...data.errors import ForethoughtError, ModelUnavailable, NotFound
from ...data.library import library_hash, read_library
from ..checkpoint import located, told_in_one_line

ROWS, LIBRARY = "train.jsonl", "reasoning_library.json"


class Exported(NamedTuple):
    """The rows of an export's folder, and the texts of the set that they are labelled by."""

    rows: Any
    texts: list[str]


class Teachable(NamedTuple):
    """A text model that a chat can be written for."""

    network: Any
    tokenizer: Any


def run(main: Callable[[], None]) -> None:
    """Calls it; a mistake ends the program in one line, by exit code 2."""
    try:
        main()
    except ForethoughtError as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


def asked_for(*kinds: type) -> tuple[Any, ...]:
    """What the command line and its --config say, an object a kind."""
    try:
        found: tuple[Any, ...] = TrlParser(kinds).parse_args_and_config()
    except (
        Exception
    ) as error:  # a file that is not there or no YAML, values that do not go together
        said = " ".join(str(error).split())
        if "bf16" in said:
            raise ForethoughtError(
                "this machine has no GPU that computes in bf16; add --use_cpu --bf16 false"
            ) from error
        raise ForethoughtError(f"{said}; look at the command and its --config file") from error
    return found


def read_export(folder: Path) -> Exported:
    """NotFound where a file is missing; ForethoughtError for rows of another set, or that a text model cannot be taught."""
    texts, told = _set_in(folder)
    rows = _rows_in(folder)
    if {"prompt", "set_hash"} - set(rows.column_names):
        raise ForethoughtError(f"{folder / ROWS}: no rows of this export; export again")
    if "images" in rows.column_names:
        raise ForethoughtError(
            f"{folder / ROWS}: these rows show pictures, and a text model is taught here; export with --prompt plain"
        )
    if others := set(rows.unique("set_hash")) - {told}:
        raise ForethoughtError(
            f"{folder / LIBRARY}: is the set {told[:12]}, and the rows are of {str(others.pop())[:12]}; put the exported file back, or export the changed set again"
        )
    return Exported(rows, texts)


def read_model(name: str) -> Teachable:
    """From a folder or hub id. ModelUnavailable where it cannot be had, sees, or has no chat template."""
    place = located(name)
    with told_in_one_line(place, "a model"):
        config = AutoConfig.from_pretrained(place, trust_remote_code=False)
        if hasattr(config, "vision_config"):
            raise ModelUnavailable(f"{name}: sees, and a text model is taught here; name one")
        tokenizer = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
        if not tokenizer.chat_template:
            raise ModelUnavailable(
                f"{name}: its tokenizer has no chat template, so the rows cannot be written for it; take an instruct model"
            )
        if tokenizer.eos_token_id is None:
            raise ModelUnavailable(
                f"{name}: its tokenizer has no token that ends what is said; set its eos_token"
            )
        network = AutoModelForCausalLM.from_pretrained(place, trust_remote_code=False)
    return Teachable(network, tokenizer)


def _set_in(folder: Path) -> tuple[list[str], str]:
    """The texts, and the hash."""
    found = read_library(folder / LIBRARY)
    return [candidate.text for candidate in found.candidates], library_hash(found)


def _rows_in(folder: Path) -> Any:
    path = folder / ROWS
    if not path.is_file():
        raise NotFound(f"{path}: not there; run this in the folder of an export, or export again")
    verbosity = logging.get_verbosity()
    logging.set_verbosity(logging.CRITICAL)  # it logs tracebacks, too
    try:
        return load_dataset("json", data_files=str(path), split="train")
    except Exception as error:  # datasets and Arrow raise anything
        said = " ".join(str(error.__cause__ or error).split())
        raise ForethoughtError(f"{path}: cannot be read ({said[:240]}); export again") from error
    finally:
        logging.set_verbosity(verbosity)
