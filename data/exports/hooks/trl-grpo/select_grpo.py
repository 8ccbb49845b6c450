"""Reinforces a model that selects from this export's set: GRPO with the selector, a thought one decision, in TRL's trainer.

pip install 'forethought[train]'
python select_grpo.py --config select.yaml --model MODEL
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from datasets import load_dataset
from rewards import same_kind
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, TrlParser

from forethought.scorer.training.trl_trainers import SelectorGRPOTrainer

HERE = Path(__file__).parent


@dataclass
class Selecting:
    """Of SSR: `gamma` weights the selection against the generated tokens, alpha and tau are those of the score."""

    model: str = field(metadata={"help": "Folder or hub id of a text model."})
    gamma: float = 1.0
    alpha: float = 1.0
    tau: float = 1.0


def main() -> None:
    own, config = TrlParser((Selecting, GRPOConfig)).parse_args_and_config()
    library = json.loads((HERE / "reasoning_library.json").read_text("utf-8"))
    rows = load_dataset("json", data_files=str(HERE / "train.jsonl"), split="train")
    trainer = SelectorGRPOTrainer(
        AutoModelForCausalLM.from_pretrained(own.model),
        same_kind,
        config,
        train_dataset=rows,
        processing_class=AutoTokenizer.from_pretrained(own.model),
        library=[entry["text"] for entry in library["entries"].values()],
        gamma=own.gamma,
        alpha=own.alpha,
        tau=own.tau,
    )
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    main()
