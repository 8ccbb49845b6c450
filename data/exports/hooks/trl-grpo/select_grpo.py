"""Reinforces a model that selects from this export's set: GRPO with the selector, a thought one decision, in TRL's trainer.

python select_grpo.py --config select.yaml --model MODEL    # where Forethought and TRL 1.16 are installed: README.md
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

try:
    from rewards import same_kind
    from trl import GRPOConfig

    from forethought.scorer.training.exported import asked_for, read_export, read_model, run
    from forethought.scorer.training.trl_trainers import SelectorGRPOTrainer
except ImportError as error:
    print(f"select_grpo.py: {error}; README.md says what to install", file=sys.stderr)
    sys.exit(2)

HERE = Path(__file__).parent


@dataclass
class Selecting:
    """Of SSR: `gamma` weights the selection against the generated tokens, alpha and tau are those of the score."""

    model: str = field(metadata={"help": "Folder or hub id of a text model."})
    gamma: float = 1.0
    alpha: float = 1.0
    tau: float = 1.0


def main() -> None:
    own, config = asked_for(Selecting, GRPOConfig)
    exported = read_export(HERE)
    taught = read_model(own.model)
    trainer = SelectorGRPOTrainer(
        taught.network,
        same_kind,
        config,
        train_dataset=exported.rows,
        processing_class=taught.tokenizer,
        library=exported.texts,
        gamma=own.gamma,
        alpha=own.alpha,
        tau=own.tau,
    )
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    run(main)
