"""Run records as other programs write them, made here with figures that are known.

SSR's in the very shape that GitHub zfy0314/ssr-unofficial, commit 2d554730, writes (src/ssr/inference.py, cli.py, profiling.py);
SenseNova-MARS's in that of GitHub OpenSenseNova/SenseNova-MARS, commit c6e45eb9 (inference/eval.py). Keys are theirs, values made up.
"""

import json
from pathlib import Path

LIBRARY = {
    "answer_from_image": ("I can read the answer in the image.", ["answer"]),
    "lookup_fact": ("I know the entity and need a fact about it.", ["text_search_tool"]),
}
TOTALS = {
    "media_preparation_seconds": 0.01,
    "prefill_seconds": 0.2,
    "scoring_setup_seconds": 0.001,
    "action_generation_seconds": 0.5,
    "orchestration_seconds": 0.002,
}


def ssr_turn(number: int, index: int, action: dict | str, reasoning_s: float) -> dict:
    """A turn that takes candidate `index`, from 1; `action` is an answer, or a call, or {} for an invalid output."""
    text = list(LIBRARY.values())[index - 1][0]
    is_call = isinstance(action, dict) and action
    turn = {
        "turn": number,
        "h": [1, 2, 3],
        "context_tokens": 300 + 100 * number,
        **TOTALS,
        "prefill_meta": {"cached_tokens": 250 + 100 * number, "prompt_tokens": 300},
        "candidate_meta": [{"cached_tokens": 299}, {"cached_tokens": 299}],
        "index": index,
        "z": [5] * 9,
        "a": [6] * 20,
        "scores": [-1.0, -2.0],
        "candidate_token_logprobs": [[-1.0, -1.0], [-2.0, -2.0]],
        "selection_probabilities": [float(index == 1), float(index == 2)],
        "selected_candidate_logprob": 0.0,
        "thinking_only_seconds": reasoning_s,
        "total_generation_seconds": 0.2 + 0.001 + reasoning_s + 0.5,
        "total_generated_tokens": 20,
        "total_response_tokens": 29,
        "candidate_tokens_scored": 18,
        "selected_candidate_tokens": 9,
        "action_meta": {"completion_tokens": 20},
        "tool_seconds": 1.5 if is_call else 0.0,
        "observation_tokens": 40 if is_call else 0,
        "turn_wall_seconds": 3.0,
        "candidate_id": list(LIBRARY)[index - 1],
        "reasoning": f"<thinking>{text}</thinking>",
        "thinking_tokens": 7,
        "generated_thinking_tokens": 0,
        "thinking_span_found": True,
    }
    if isinstance(action, str):
        turn |= {"parsed": {"kind": "answer", "answer": action}, "delta": "answer"}
        return turn | {"action": f"<answer>{action}</answer><|im_end|>"}
    if not action:
        reason = "Expected one complete nonempty answer or tool call"
        turn |= {"parsed": {"kind": "invalid", "reason": reason}, "delta": "invalid-output"}
        return turn | {"action": "Hm.<|im_end|>"}
    result = action | {"status": "ok", "result": {}, "observation": "Porto was founded early."}
    turn |= {"parsed": {"kind": "tool", **action}, "delta": "continue", "o": [7] * 40}
    call = f"<tool_call>{json.dumps(action)}</tool_call><|im_end|>"
    return turn | {"action": call, "tool_result": result}


def ssr_trajectory(id: str, turns: list[dict], **asked: object) -> dict:
    """A question's trajectory.json; `asked` are other fields of the row that was asked."""
    fields = [
        "media_preparation_seconds",
        "prefill_seconds",
        "scoring_setup_seconds",
        "thinking_only_seconds",
        "action_generation_seconds",
        "total_generation_seconds",
        "tool_seconds",
        "total_generated_tokens",
        "total_response_tokens",
        "selected_candidate_tokens",
        "generated_thinking_tokens",
        "observation_tokens",
    ]
    totals = {key: sum(turn[key] for turn in turns) for key in fields}
    row = {"id": id, "image": f"/pictures/{id}.jpg", "question": f"What is {id}?"} | asked
    return {
        "h": [1] * 10,
        "delta": turns[-1]["delta"],
        "turns": turns,
        "system_prefill_seconds": 0.3,
        "inference_wall_seconds": 5.0,
        "input": row,
        "sample": 1,
        "selection_seed": 42,
        "elapsed_wall_seconds": 5.1,
        "setup_seconds": 0.1,
        "serpapi_requests": 1,
        "context_text": "<|im_start|>system\n",
        "images": [],
        "summary": totals | {"elapsed_wall_seconds": 5.1, "serpapi_requests": 1},
    }


def write_ssr_run(folder: Path, trajectories: list[dict]) -> Path:
    """An --output folder of its inference command."""
    profiles = []
    for number, trajectory in enumerate(trajectories, start=1):
        example = folder / f"example_{number:04}_sample_001"
        example.mkdir(parents=True)
        lines = [json.dumps(turn) for turn in trajectory["turns"]]
        (example / "turns.jsonl").write_text("\n".join(lines) + "\n")
        (example / "trajectory.json").write_text(json.dumps(trajectory, indent=2, sort_keys=True))
        profile = {
            "schema_version": 1,
            "status": trajectory["delta"],
            "completed_turns": len(trajectory["turns"]),
            "totals": trajectory["summary"],
            "per_turn": [],
            "tool_status_counts": {"ok": 1},
            "final_context_tokens": 10,
        }
        (example / "profiling.json").write_text(json.dumps(profile, indent=2))
        profiles.append({"example_index": number, "sample": 1, "output": "x", **profile})
    keys = profiles[0]["totals"]
    run = {
        "schema_version": 1,
        "trajectories_completed": len(profiles),
        "completed_turns": sum(one["completed_turns"] for one in profiles),
        "engine_load_seconds": 60.0,
        "totals": {key: sum(one["totals"][key] for one in profiles) for key in keys},
        "status_counts": {},
        "trajectories": profiles,
    }
    for one in profiles:
        run["status_counts"][one["status"]] = run["status_counts"].get(one["status"], 0) + 1
    (folder / "profiling.json").write_text(json.dumps(run, indent=2))
    candidates = [
        {"id": id, "token_ids": [5] * 9, "text": text, "expected_actions": actions}
        for id, (text, actions) in LIBRARY.items()
    ]
    settings = {"alpha": 1.0, "tau": 0.0, "eta": {"max_new_tokens": 8192}, "candidates": candidates}
    (folder / "settings.json").write_text(json.dumps(settings, indent=2))
    (folder / "engine_compatibility.json").write_text("{}")
    (folder / "system_prompt.txt").write_text("You are an agent.")
    return folder


def mars_row(id: str, said: list[str], truths: list[str], **scores: object) -> dict:
    """A line of results.jsonl: what the model said, turn by turn, a search's result between two."""
    between = (
        "<|im_end|><|im_start|>user\n<tool_response>\nIt is Porto.\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    return {
        "sample_id": id,
        "dataset": id.split("-")[0],
        "input": "<|im_start|>system\nTools.<|im_end|>\n<|im_start|>user\n[IMAGE 1]\n"
        f"What is {id}?<|im_end|>\n<|im_start|>assistant\n",
        "output": between.join(said) + "<|im_end|>",
        "gts": truths,
        "finish_reason": "no_tool_calls",
        "num_round": len(said),
    } | scores
