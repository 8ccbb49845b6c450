"""Does GRPO with the selector raise a reward that is known? A small model on the contexts of an export, on this machine.

    forethought export demo --to trl-grpo --out grpo
    .venv/bin/python benchmarks/reinforce.py grpo              # 40 steps of 8 rollouts, about a quarter of an hour on two cores

The reward is 1 where the thought that was drawn announces the kind of action that the run then took, else 0. *mine* turns teach; on *choose* turns the
expected reward, sum of q(z | h) r(z), is reckoned exactly before and after. Prints Markdown.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch loads

import numpy as np
import torch
from datasets import Dataset
from trl import GRPOConfig

from forethought.data.render import render_thought
from forethought.scorer.metrics import Estimate, Resampler
from forethought.scorer.training.networks import trainable
from forethought.scorer.training.packing import Branch, log_probs
from forethought.scorer.training.selector import log_q, scores
from forethought.scorer.training.trl_trainers import Selector, SelectorGRPOTrainer

Row = Mapping[str, Any]
PACKAGES = ("trl", "transformers", "torch")


@dataclass(frozen=True)
class Library:
    """Texts of candidates and the kinds of action that each announces."""

    texts: Sequence[str]
    kinds: Sequence[Sequence[str]]

    def rewards(self, kind: str) -> list[float]:
        """(N,), one a candidate."""
        return [float(kind in own) for own in self.kinds]

    def reward(self, completions: Sequence[str], kind: Sequence[str], **_: Any) -> list[float]:
        """Of what was generated, as TRL asks."""
        thoughts = [render_thought(text) for text in self.texts]
        drawn = [
            next(i for i, own in enumerate(thoughts) if one.startswith(own)) for one in completions
        ]
        return [self.rewards(own)[place] for place, own in zip(drawn, kind, strict=True)]


def main() -> None:
    arguments = parse()
    library = read_library(arguments.folder)
    found = trainable(arguments.model)
    found.network.config.use_cache = True
    selector = Selector(found.tokenizer, library.texts, 1.0, arguments.tau)
    taught, held_out = (
        read_rows(arguments.folder, split, selector, arguments) for split in ("mine", "choose")
    )
    held_out = held_out[: arguments.held_out]
    before = worth(found.network, selector, library, held_out)
    trainer = make_trainer(found, library, taught, arguments)
    started = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - started
    after = worth(found.network, selector, library, held_out)
    print(
        f"`{' '.join(['python', *sys.argv])}`: {', '.join(f'{one} {version(one)}' for one in PACKAGES)}.\n"
    )
    print_steps(trainer, seconds)
    print_worth(before, after, held_out)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="an export --to trl-grpo")
    parser.add_argument("--model", help="default: the packaged SmolLM2")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument(
        "--prompts", type=int, default=2, help="a step, each drawn for `group` times"
    )
    parser.add_argument("--group", type=int, default=4)
    parser.add_argument("--context", type=int, default=256, help="most tokens of a context")
    parser.add_argument("--action", type=int, default=12, help="tokens generated after a thought")
    parser.add_argument("--held-out", type=int, default=60, help="*choose* turns")
    parser.add_argument("--rate", type=float, default=2e-5)
    parser.add_argument("--tau", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def read_library(folder: Path) -> Library:
    entries = json.loads((folder / "reasoning_library.json").read_text("utf-8"))["entries"].values()
    return Library([one["text"] for one in entries], [one["expected_actions"] for one in entries])


def read_rows(
    folder: Path, split: str, selector: Selector, arguments: argparse.Namespace
) -> list[Row]:
    """Turns of a split whose context is short enough, in the export's order."""
    rows = []
    for line in (folder / "train.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        prompt = row["prompt"][-1]["content"]
        if row["split"] == split and len(selector.encode(prompt)) <= arguments.context:
            rows.append({**row, "prompt": prompt})
    return rows


def make_trainer(
    found: Any, library: Library, rows: Sequence[Row], arguments: argparse.Namespace
) -> SelectorGRPOTrainer:
    longest = max(len(found.tokenizer(render_thought(text))["input_ids"]) for text in library.texts)
    options = GRPOConfig(
        output_dir="out/reinforce",
        use_cpu=not torch.cuda.is_available(),
        bf16=False,
        report_to=[],
        save_strategy="no",
        logging_steps=1,
        disable_tqdm=True,
        gradient_checkpointing=False,
        per_device_train_batch_size=arguments.prompts * arguments.group,
        num_generations=arguments.group,
        max_completion_length=longest + arguments.action,
        max_steps=arguments.steps,
        learning_rate=arguments.rate,
        beta=0.0,
        seed=arguments.seed,
    )
    return SelectorGRPOTrainer(
        found.network,
        library.reward,
        options,
        train_dataset=Dataset.from_list(
            [{"prompt": one["prompt"], "kind": one["kind"]} for one in rows]
        ),
        processing_class=found.tokenizer,
        library=library.texts,
        tau=arguments.tau,
    )


@torch.no_grad()
def worth(network: Any, selector: Selector, library: Library, rows: Sequence[Row]) -> np.ndarray:
    """(rows, 2): the expected reward, and the reward of the likeliest candidate."""
    network.eval()
    told = []
    for row in rows:
        prompt = selector.encode(row["prompt"])
        branches = [Branch(len(prompt), ids) for ids in selector.ids]
        chances = log_q(
            scores(log_probs(network, prompt, branches, asked=()).branches), selector.tau
        )
        rewards = torch.tensor(library.rewards(row["kind"]))
        told.append([float(chances.exp() @ rewards), float(rewards[chances.argmax()])])
    return np.array(told)


def print_steps(trainer: SelectorGRPOTrainer, seconds: float) -> None:
    told = [one["reward"] for one in trainer.state.log_history if "reward" in one]
    third = max(1, len(told) // 3)
    print(
        f"{len(told)} steps, {seconds / len(told):.1f} s each. Mean reward of the rollouts, by third of the steps: ",
        end="",
    )
    print(
        ", ".join(f"{np.mean(told[at : at + third]):.2f}" for at in range(0, third * 3, third))
        + ".\n"
    )


def print_worth(before: np.ndarray, after: np.ndarray, rows: Sequence[Row]) -> None:
    kinds = Counter(row["kind"] for row in rows)
    resampler = Resampler([{"question": row["prompt"].split("\n", 1)[0]} for row in rows])
    print(
        f"{len(rows)} held-out turns; always the best kind: {max(kinds.values()) / len(rows):.2f}.\n"
    )
    print("| reward on held-out turns | before | after | difference |\n| --- | --- | --- | --- |")
    for place, name in enumerate(("expected, drawing", "of the likeliest")):
        values = (before[:, place], after[:, place], after[:, place] - before[:, place])
        print(f"| {name} | " + " | ".join(told(resampler.mean(one)) for one in values) + " |")


def told(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


if __name__ == "__main__":
    main()
