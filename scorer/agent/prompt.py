"""SSR's system prompt: the strategies to choose from, where they are listed, then SenseNova-MARS' words on turns and tools.

As GitHub zfy0314/ssr-unofficial renders it (commit 2d554730); to the byte where all three tools are there. Knows no model.
"""

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from ...data.candidates import Candidate

FOLDER = Path(__file__).parents[2] / "data" / "prompts"
SIGNATURE = '{"type": "function"'  # how the line of a tool begins


def system_prompt(tools: Collection[str], listed: Sequence[Candidate] = ()) -> str:
    """With the signatures of `tools` alone, and each listed candidate with the actions it announces."""
    return _strategies(listed) + _with_tools(_read("ssr_system.txt"), tools)


def _strategies(listed: Sequence[Candidate]) -> str:
    if not listed:
        return ""
    return _read("ssr_strategies.txt").format(
        num_candidates=len(listed), reasoning_library=listing(listed)
    )


def listing(candidates: Sequence[Candidate]) -> str:
    """A line each, by their numbers."""
    lines = zip(numbers(candidates), map(_line, candidates), strict=True)
    return "\n".join(f"[{number}] {line}" for number, line in sorted(lines))


def numbers(candidates: Sequence[Candidate]) -> tuple[int, ...]:
    """The number of each in a listing: from 0, in the order of their ids."""
    ids = sorted(candidate.id for candidate in candidates)
    return tuple(ids.index(candidate.id) for candidate in candidates)


def _line(candidate: Candidate) -> str:
    actions = ", ".join(candidate.expected_actions)
    announced = f"  (expected action: {actions})" if actions else ""
    return f'"{candidate.text}"{announced}'


def _with_tools(prompt: str, tools: Collection[str]) -> str:
    lines = [line for line in prompt.split("\n") if _is_kept(line, tools)]
    return "\n".join(lines)


def _is_kept(line: str, tools: Collection[str]) -> bool:
    return not line.startswith(SIGNATURE) or json.loads(line)["function"]["name"] in tools


def _read(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")
