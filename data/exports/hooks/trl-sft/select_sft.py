"""Teaches a model to select from this export's set: SSR's supervised objective, a thought one decision, in TRL's trainer.

python select_sft.py --config select.yaml --model MODEL    # where Forethought and TRL 1.16 are installed: README.md
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

try:
    from trl import SFTConfig

    from forethought.scorer.training.exported import asked_for, read_export, read_model, run
    from forethought.scorer.training.trl_trainers import SelectorSFTTrainer
except ImportError as error:
    print(f"select_sft.py: {error}; README.md says what to install", file=sys.stderr)
    sys.exit(2)

HERE = Path(__file__).parent


@dataclass
class Selecting:
    """Of SSR: `weight` is its lambda of the selection against the action, alpha and tau those of the score."""

    model: str = field(metadata={"help": "Folder or hub id of a text model."})
    weight: float = 1.0
    alpha: float = 1.0
    tau: float = 1.0


def main() -> None:
    own, config = asked_for(Selecting, SFTConfig)
    exported = read_export(HERE)
    taught = read_model(own.model)
    trainer = SelectorSFTTrainer(
        taught.network,
        config,
        train_dataset=exported.rows,
        processing_class=taught.tokenizer,
        library=exported.texts,
        weight=own.weight,
        alpha=own.alpha,
        tau=own.tau,
    )
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    run(main)
