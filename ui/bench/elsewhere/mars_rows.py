"""SenseNova-MARS's evaluation records: a line a question, the whole transcript in `output`, `llm_score` or `em_score_mcq` beside.

The shape is that of GitHub OpenSenseNova/SenseNova-MARS, commit c6e45eb9, inference/eval.py (results.jsonl, summary.json); veRL's dumps of
validation runs (`input`, `output`, `gts`, `score`, `step`) are the same without an id. They tell neither seconds nor tokens.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ....data.formats.tags import CLOSING, tagged
from ....scorer.agent.action_text import Invalid, parse_action
from ....scorer.agent.answers import last_answer
from ....scorer.agent.episode import Stop
from .found import Figures, Json, Run, number, numbers, record_of, text, texts, turn_of

NAME = "sensenova-mars"
SCORES = ("llm_score", "em_score_mcq", "score")
OBSERVATION = re.compile(r"<tool_response>(.*?)</tool_response>", re.DOTALL)
ROLE = re.compile(r"<\|im_start\|>(\w+)\n?")
ASSISTANT, END = "<|im_start|>assistant\n", "<|im_end|>"
PICTURE = re.compile(r"\[IMAGE \d+\]|<image>|<\|vision_start\|>.*?<\|vision_end\|>", re.DOTALL)
ENDED = ("", "no_tool_calls", "stop")  # by the model itself
REPLACED = {"max_turns": Stop.TURN_LIMIT.value}
LETTER = re.compile(r"(?<![A-Za-z])[A-D](?![A-Za-z])")
MARKED = re.compile(r"\(([A-D])\)|\[([A-D])\]|(?<![A-Za-z])([A-D])[.)\]]", re.IGNORECASE)


def is_run(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("output"), str) and _has_score(value)


def run_of(value: Json, name: str) -> Run:
    """A question as it was evaluated; `name` is its id where it has none."""
    turns = list(_turns(value["output"]))
    answer = _answer(turns[-1]["action_text"]) if turns else None
    reason = text(value.get("finish_reason"))
    stop = REPLACED.get(reason, reason)
    if reason in ENDED:
        stop = (Stop.INVALID_OUTPUT if answer is None else Stop.ANSWER).value
    dataset = value.get("dataset")
    record = record_of(
        str(value.get("sample_id") or name),
        _question(text(value.get("input"))),
        texts(value.get("gts")),
        answer,
        stop=stop,
        detail=text(value.get("error")),
        turns=turns,
        facts={"dataset": dataset} if isinstance(dataset, str) else {},
    )
    told = {key: value[key] for key in (*SCORES, "num_round") if number(value.get(key)) is not None}
    return Run(record, told)


def choice_match(answer: str | None, truths: Sequence[str]) -> bool:
    """Whether the lettered choice that an answer makes, A to D, is any of the truths: the last marked letter, else the last alone."""
    return answer is not None and _letter(answer.strip()) in {one.strip().upper() for one in truths}


def counts_told(value: Json) -> Figures:
    """A summary.json's figures by data set."""
    return numbers(value["datasets"])


def counts_of(runs: Iterable[Run]) -> Figures:
    """The same figures out of what stands in the rows."""
    found: dict[str, float] = {}
    for run in runs:
        name = run.record["facts"].get("dataset", "")
        found[f"{name}.total"] = found.get(f"{name}.total", 0) + 1
        found[f"{name}.errors"] = found.get(f"{name}.errors", 0) + bool(run.record["detail"])
        for key, score in (("em", "em_score_mcq"), ("llm", "llm_score")):
            if score in run.told:
                total, correct = f"{name}.{key}_total", f"{name}.{key}_correct"
                found[total] = found.get(total, 0) + 1
                found[correct] = found.get(correct, 0) + (run.told[score] > 0.5)
                found[f"{name}.{key}_accuracy"] = found[correct] / found[total]
    return found


def _has_score(value: Json) -> bool:
    return "gts" in value or any(key in value for key in SCORES)


def _turns(output: str) -> Iterable[Json]:
    """What the model said, with what came back; the last says nothing where the turns ran out."""
    parts = OBSERVATION.split(output)
    for place in range(0, len(parts), 2):
        said = parts[place].rpartition(ASSISTANT)[2]
        if not said.strip():
            continue
        words = said.split(END)[0]
        parsed = parse_action(_after_thought(words))
        yield turn_of(
            {
                "reasoning": "\n".join(tagged(words).thoughts),
                "action_text": words,
                "action": None if isinstance(parsed, Invalid) else parsed._asdict(),
                "fault": parsed.fault.value if isinstance(parsed, Invalid) else None,
                "observation": parts[place + 1].strip() if place + 1 < len(parts) else None,
            }
        )


def _after_thought(words: str) -> str:
    return CLOSING.split(words)[-1]


def _answer(words: str) -> str | None:
    return last_answer(_after_thought(words)) or None


def _question(prompt: str) -> str:
    """What the user asks last in a prompt with roles, or the prompt."""
    parts = ROLE.split(prompt)
    asked = [said for role, said in zip(parts[1::2], parts[2::2], strict=True) if role == "user"]
    return PICTURE.sub("", (asked or [prompt])[-1].split(END)[0]).strip()


def _letter(answer: str) -> str | None:
    marked = [next(filter(None, found)) for found in MARKED.findall(answer)]
    if len(answer) == 1 or marked:
        return (marked or [answer])[-1].upper()
    alone = LETTER.findall(answer)
    return alone[-1] if alone else None
