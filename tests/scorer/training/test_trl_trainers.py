"""TRL's trainers with a selector, run for real on a tiny model: they learn what is rewarded, and their first loss is the formula's."""

import math

import pytest
import torch
from datasets import Dataset
from tiny_folders import QWEN_CHAT, byte_tokenizer
from tiny_models import tiny_network

from forethought.data.errors import NothingToDo
from forethought.data.render import render_thought
from forethought.scorer.training.objectives import Decision, sft_loss

trl = pytest.importorskip("trl")
from forethought.scorer.training.trl_trainers import (  # noqa: E402
    SelectorGRPOTrainer,
    SelectorSFTTrainer,
)

TEXTS = ("I should search.", "I can answer now.", "I look again.")


def tokenizer():
    found = byte_tokenizer(special=("<|im_start|>",))
    found.chat_template = QWEN_CHAT
    found.pad_token = found.eos_token
    return found


def network():
    return tiny_network(vocab_size=260, eos_token_id=256, pad_token_id=256)


def arguments(kind, folder, **options):
    return kind(
        output_dir=str(folder),
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        logging_steps=1,
        disable_tqdm=True,
        bf16=False,
        gradient_checkpointing=False,
        lr_scheduler_type="constant",
        **options,
    )


def rows(count: int) -> Dataset:
    """What the question ends with says which candidate fits."""
    return Dataset.from_list(
        [
            {
                "prompt": [{"role": "user", "content": f"Question {n} {'?' if n % 2 else '!'}"}],
                "completion": [
                    {
                        "role": "assistant",
                        "content": f"{render_thought(TEXTS[n % 2])}\n<do {n % 2}>",
                    }
                ],
                "candidate": f"c_{n % 2}",
            }
            for n in range(count)
        ]
    )


def test_the_supervised_trainer_s_loss_is_ssrs_and_falls(tmp_path):
    net, own = network(), tokenizer()
    options = arguments(
        trl.SFTConfig,
        tmp_path,
        per_device_train_batch_size=2,
        max_steps=30,
        learning_rate=5e-3,
        seed=1,
    )
    trainer = SelectorSFTTrainer(
        net, options, train_dataset=rows(12), processing_class=own, library=TEXTS
    )
    first = trainer.train_dataset[0]
    decision = Decision(
        first["start"],
        trainer._selector.ids,
        first["chosen"],
        (first["action"], len(first["input_ids"])),
    )
    with torch.no_grad():
        expected = sft_loss(net, first["input_ids"], [decision]).loss
        found = trainer.compute_loss(net, {"rows": [first]})
    trainer.train()
    told = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]

    assert own.decode(first["input_ids"]) == (
        "<|im_start|>user\nQuestion 0 !<|im_end|>\n<|im_start|>assistant\n"
        f"{render_thought(TEXTS[0])}\n<do 0><|im_end|>"
    )
    assert found.item() == pytest.approx(expected.item())
    assert sum(told[-5:]) < 0.3 * sum(told[:5])


def test_a_row_of_another_set_is_refused_by_its_number(tmp_path):
    options = arguments(trl.SFTConfig, tmp_path)
    with pytest.raises(NothingToDo, match="row 1: .*no candidate"):
        SelectorSFTTrainer(
            network(),
            options,
            train_dataset=rows(2),
            processing_class=tokenizer(),
            library=TEXTS[:1],
        )


def test_the_reinforced_trainer_learns_to_draw_what_is_rewarded(tmp_path):
    torch.manual_seed(0)
    seen = []

    def reward(prompts, completions, **_):
        texts = [completion[0]["content"] for completion in completions]
        seen.append([text.startswith(render_thought(TEXTS[0])) for text in texts])
        return [float(hit) for hit in seen[-1]]

    options = arguments(
        trl.GRPOConfig,
        tmp_path,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=40,
        max_steps=40,
        learning_rate=5e-3,
        beta=0.0,
        seed=1,
    )
    trainer = SelectorGRPOTrainer(
        network(), reward, options, train_dataset=rows(8).select_columns(["prompt"]),
        processing_class=tokenizer(), library=TEXTS,
    )  # fmt: skip
    before = [p.clone() for p in trainer.model.parameters()]
    trainer.train()
    hits = [sum(group) / len(group) for group in seen]

    assert any(
        not torch.equal(a, b) for a, b in zip(before, trainer.model.parameters(), strict=True)
    )
    assert sum(hits[-10:]) / 10 > sum(hits[:10]) / 10 + 0.3


def test_an_evaluation_between_two_uses_of_a_rollout_loses_no_draw(tmp_path):
    asked = rows(4).select_columns(["prompt"])
    options = arguments(
        trl.GRPOConfig, tmp_path,
        per_device_train_batch_size=4, per_device_eval_batch_size=4, num_generations=4, num_iterations=2,
        max_completion_length=34, max_steps=4, eval_strategy="steps", eval_steps=1,
    )  # fmt: skip
    trainer = SelectorGRPOTrainer(
        network(), lambda completions, **_: [float(n) for n in range(len(completions))], options,
        train_dataset=asked, eval_dataset=asked, processing_class=tokenizer(), library=TEXTS,
    )  # fmt: skip
    trainer.train()

    told = [entry["eval_loss"] for entry in trainer.state.log_history if "eval_loss" in entry]
    assert len(told) == 4
    assert all(map(math.isfinite, told))
