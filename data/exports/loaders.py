"""Exported rows as the trainers themselves read them, where they are installed: each row must come out of the trainer's own loader.

Nothing here is needed to export. A loader may want a tokenizer; what it throws is what is told.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .checking import Check, Exported
from .row_checks import text_of

FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
LOADS = Callable[[Exported, Any], Iterator[str]]


@dataclass(frozen=True)
class Loader:
    """`loads` yields what is wrong; it runs where `package` is installed, with a tokenizer where it needs one."""

    package: str
    targets: Sequence[str]
    loads: LOADS
    needs_tokenizer: bool = False

    def check(self, exported: Exported, tokenizer: Any) -> Check:
        """By this loader, with the export's folder as the current one, to which paths are relative."""
        check = Check(f"loaded by {self.package}")
        if not _is_installed(self.package):
            check.skipped = f"{self.package} is not installed"
        elif self.needs_tokenizer and tokenizer is None:
            check.skipped = "no --model whose tokenizer it could load with"
        else:
            check.of = sum(map(len, exported.tables.values()))
            try:
                with _within(exported.folder):
                    check.note("", self.loads(exported, tokenizer))
            except ImportError as error:  # the trainer's own trouble
                check.skipped = f"{self.package} cannot be imported ({error})"
            except FAILURES as error:
                told = str(error).strip().splitlines()
                check.note("", [f"{type(error).__name__}: {told[0] if told else ''}"])
        return check


def loader_checks(exported: Exported, tokenizer: Any = None) -> list[Check]:
    """By every loader of the export's target; none for a target without rows."""
    if exported.shape is None:
        return []
    own = (one for one in LOADERS if not one.targets or exported.target in one.targets)
    return [one.check(exported, tokenizer) for one in own]


def _by_datasets(exported: Exported, tokenizer: Any) -> Iterator[str]:
    """Hugging Face datasets, on which all of them build: the same rows, nothing filled in."""
    from datasets import load_dataset

    with TemporaryDirectory() as cache:
        for name, rows in exported.tables.items():
            kind = "parquet" if name.endswith(".parquet") else "json"
            loaded = load_dataset(kind, data_files=name, split="train", cache_dir=cache)
            yield from _same_count(name, len(loaded), len(rows))
            differing = sum(
                _bare(one) != _bare(own) for one, own in zip(loaded, rows, strict=False)
            )
            if differing:
                yield f"{name}: {differing} rows come out otherwise"


def _by_trl(exported: Exported, tokenizer: Any) -> Iterator[str]:
    """TRL's own view of a row, and its own rendering."""
    from trl.data_utils import apply_chat_template, is_conversational

    keys = ("prompt", "completion", "chosen", "rejected")
    for name, rows in exported.tables.items():
        for number, row in enumerate(rows, start=1):
            if not is_conversational(dict(row)):
                yield f"{name} row {number}: not conversational to TRL"
            own = {key: row[key] for key in keys if key in row}
            rendered = apply_chat_template(own, tokenizer)
            if any(not rendered[key] for key in own):
                yield f"{name} row {number}: TRL renders nothing"


def _by_verl(exported: Exported, tokenizer: Any) -> Iterator[str]:
    """verl's dataset of whole traces; its own check compares pieces and whole."""
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset

    config = {"pad_mode": "no_padding", "max_length": 2**20, "truncation": "error"}
    for name, rows in exported.tables.items():
        loaded = MultiTurnSFTDataset(name, tokenizer, config)
        yield from _same_count(name, len(loaded), len(rows))
        for number in range(len(loaded)):
            if not loaded[number]["loss_mask"].sum():
                yield f"{name} row {number + 1}: nothing is trained"


def _by_verl_prompts(exported: Exported, tokenizer: Any) -> Iterator[str]:
    """verl's dataset of prompts, which leaves out those too long for it."""
    from omegaconf import OmegaConf
    from verl.utils.dataset.rl_dataset import RLHFDataset

    with TemporaryDirectory() as cache:
        settings = {
            "cache_dir": cache,
            "max_prompt_length": 2**20,
            "filter_overlong_prompts_workers": 1,
        }
        for name, rows in exported.tables.items():
            loaded = RLHFDataset(name, tokenizer, OmegaConf.create(settings))
            yield from _same_count(name, len(loaded), len(rows))
            if any(not loaded[number]["raw_prompt"] for number in range(len(loaded))):
                yield f"{name}: an empty prompt"


def _by_llamafactory(exported: Exported, tokenizer: Any) -> Iterator[str]:
    """LLaMA-Factory's converter, which drops a row with a warning alone."""
    from llamafactory.data.converter import get_dataset_converter
    from llamafactory.data.parser import get_dataset_list
    from llamafactory.hparams import DataArguments

    arguments = DataArguments(dataset_dir=".", media_dir=".")
    (attributes,) = get_dataset_list(["forethought_turns"], ".")
    convert = get_dataset_converter(attributes.formatting, attributes, arguments)
    for name, rows in exported.tables.items():
        for number, row in enumerate(rows, start=1):
            if len(convert(dict(row))["_prompt"]) % 2 != 1:
                yield f"{name} row {number}: LLaMA-Factory drops it"


def _by_swift(exported: Exported, tokenizer: Any) -> Iterator[str]:
    """ms-swift's preprocessors, in their strict mode."""
    from swift.dataset import load_dataset

    for name, rows in exported.tables.items():
        loaded, _ = load_dataset(
            [str(Path(name).absolute())], strict=True, load_from_cache_file=False
        )
        yield from _same_count(name, len(loaded), len(rows))
        for number, row in enumerate(loaded, start=1):
            agents = [one for one in row["messages"] if one["role"] == "assistant"]
            if [bool(one.get("loss")) for one in agents] != [False] * (len(agents) - 1) + [True]:
                yield f"{name} row {number}: ms-swift would train other messages"


def _by_openrlhf(exported: Exported, tokenizer: Any) -> Iterator[str]:
    """OpenRLHF's dataset, without its strategy."""
    from types import SimpleNamespace as Space

    from datasets import load_dataset
    from openrlhf.datasets.sft_dataset import SFTDataset

    data = Space(
        input_key="messages",
        output_key=None,
        apply_chat_template=True,
        tokenizer_chat_template=None,
    )
    strategy = Space(args=Space(data=data))
    with TemporaryDirectory() as cache:
        for name, rows in exported.tables.items():
            given = load_dataset("json", data_files=name, split="train", cache_dir=cache)
            loaded = SFTDataset(given, tokenizer, 2**20, strategy, num_processors=1)
            yield from _same_count(name, len(loaded), len(rows))
            if any(not text for text in loaded.responses):
                yield f"{name}: a row with nothing to train"


def _by_axolotl(exported: Exported, tokenizer: Any) -> Iterator[str]:
    """axolotl's tokenizing, as `axolotl.yaml` asks for it: what it trains is the last message."""
    from axolotl.prompt_strategies.chat_template import ChatTemplatePrompter, ChatTemplateStrategy

    prompter = ChatTemplatePrompter(
        tokenizer, tokenizer.chat_template, max_length=2**20, message_field_training="train"
    )
    strategy = ChatTemplateStrategy(prompter, tokenizer, False, 2**20, [], "turn")
    for name, rows in exported.tables.items():
        for number, row in enumerate(rows, start=1):
            labels = [label for label in strategy.tokenize_prompt(row)["labels"] if label >= 0]
            last = text_of(row["messages"][-1]["content"]).strip()
            if not tokenizer.decode(labels).strip().startswith(last):
                yield f"{name} row {number}: axolotl would train other words"


def _same_count(name: str, found: int, told: int) -> Iterator[str]:
    if found != told:
        yield f"{name}: {found} of {told} rows are left"


def _bare(value: Any) -> Any:
    """Without what was filled in: datasets give every message the keys of all others."""
    if isinstance(value, Mapping):
        return {key: _bare(inner) for key, inner in value.items() if inner is not None}
    return [_bare(inner) for inner in value] if isinstance(value, list | tuple) else value


def _is_installed(package: str) -> bool:
    return find_spec(package) is not None


@contextmanager
def _within(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


LOADERS = (
    Loader("datasets", (), _by_datasets),
    Loader("trl", ("trl-sft", "trl-dpo", "trl-grpo"), _by_trl, needs_tokenizer=True),
    Loader("verl", ("verl-sft",), _by_verl, needs_tokenizer=True),
    Loader("verl", ("verl-rl",), _by_verl_prompts, needs_tokenizer=True),
    Loader("llamafactory", ("llamafactory",), _by_llamafactory),
    Loader("swift", ("swift",), _by_swift),
    Loader("openrlhf", ("openrlhf",), _by_openrlhf, needs_tokenizer=True),
    Loader("axolotl", ("axolotl",), _by_axolotl, needs_tokenizer=True),
)
