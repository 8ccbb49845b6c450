"""Teaches a model to select from this export's set: SSR's supervised objective, a thought one decision, in TRL's trainer.

pip install 'forethought[train]'
python select_sft.py --config select.yaml --model MODEL
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, TrlParser

from forethought.scorer.training.trl_trainers import SelectorSFTTrainer

HERE = Path(__file__).parent


@dataclass
class Selecting:
    """Of SSR: `weight` is its lambda of the selection against the action, alpha and tau those of the score."""

    model: str = field(metadata={"help": "Folder or hub id of a text model."})
    weight: float = 1.0
    alpha: float = 1.0
    tau: float = 1.0


def main() -> None:
    own, config = TrlParser((Selecting, SFTConfig)).parse_args_and_config()
    library = json.loads((HERE / "reasoning_library.json").read_text("utf-8"))
    rows = load_dataset("json", data_files=str(HERE / "train.jsonl"), split="train")
    trainer = SelectorSFTTrainer(
        AutoModelForCausalLM.from_pretrained(own.model),
        config,
        train_dataset=rows,
        processing_class=AutoTokenizer.from_pretrained(own.model),
        library=[entry["text"] for entry in library["entries"].values()],
        weight=own.weight,
        alpha=own.alpha,
        tau=own.tau,
    )
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    main()
