"""How fast JSON lines are read, format by format, and what memory that takes: 200 MB of each, made of the shipped traces.

    python benchmarks/import_speed.py                        # all formats; about a minute on two quiet cores
    python benchmarks/import_speed.py --mb 50 react-text     # one, smaller

Each format is read by a process of its own, so that its peak memory is its own. Reading is all that `forethought import`
does before the store: unpacking, parsing, telling the format, making turns, and each trace's id. `--store` puts them into a
fresh SQLite store, too. Seconds are the processor's, since one process reads. Long runs have observations of 3,000 characters, as search agents that read pages do. Prints
Markdown; exits 1 where the fastest format is below the bar or memory grows with the file.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from forethought.data.formats import read_traces
from forethought.data.store import Store
from forethought.data.traces import Trace
from forethought.ui.importing import import_traces

BAR = 50  # MB/s, of the fastest
MOST_GROWTH = 16  # MB
LONG = 3000  # characters


def react_text(trace: Trace) -> dict[str, Any]:
    lines = [f"### Instruction:\n{trace.question}\n\n### Response:"]
    for turn in trace.turns:
        lines += [f"Thought: {text}" for text in turn.thoughts]
        for action, seen in zip(turn.actions, turn.observations, strict=True):
            lines += [f"Action: {action.name}[{action.arguments['input']}]", f"Observation: {seen}"]
    return {"reward": True, "traj": "\n".join(lines)}


def react_chat(trace: Trace) -> dict[str, Any]:
    messages = [{"role": "user", "content": trace.question}]
    for turn in trace.turns:
        lines = [f"Thought: {text}" for text in turn.thoughts]
        lines += [f"Action: {one.name}[{one.arguments['input']}]" for one in turn.actions]
        messages.append({"role": "assistant", "content": "\n".join(lines)})
        messages += [
            {"role": "user", "content": f"Observation: {o}"} for o in turn.observations[:1]
        ]
    return {"messages": messages, "reward": 1}


def openai_chat(trace: Trace) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": trace.question}]
    for number, turn in enumerate(trace.turns):
        calls = [
            {
                "id": f"{number}-{i}",
                "function": {"name": one.name, "arguments": json.dumps(dict(one.arguments))},
            }
            for i, one in enumerate(turn.actions)
        ]
        thought = "\n".join(turn.thoughts)
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": thought,
                "tool_calls": calls,
            }
        )
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": seen}
            for call, seen in zip(calls, turn.observations, strict=True)
        ]
    return {"messages": messages, "reward": 1}


def tagged_text(trace: Trace) -> dict[str, Any]:
    parts = []
    for turn in trace.turns:
        parts += [f"<think>{text}</think>" for text in turn.thoughts]
        for action, seen in zip(turn.actions, turn.observations, strict=True):
            parts.append(
                f"<search>{action.arguments['input']}</search><information>{seen}</information>"
            )
    return {"question": trace.question, "response": "\n".join(parts), "reward": 1}


LAYOUTS: dict[str, Callable[[Trace], dict[str, Any]]] = {
    "react-text": react_text,
    "react-chat": react_chat,
    "openai-chat": openai_chat,
    "tagged-text": tagged_text,
}


def shipped(*, is_long: bool) -> Iterator[Trace]:
    """The shipped traces; long ones with each observation repeated to the length of a page."""
    samples = sorted(Path(str(files("forethought.data"))).glob("samples/*.gz"))
    for trace in read_traces(samples):
        if isinstance(trace, Trace):
            yield stretched(trace) if is_long else trace


def stretched(trace: Trace) -> Trace:
    turns = []
    for turn in trace.turns:
        seen = tuple((o * (LONG // len(o) + 1))[:LONG] if o else o for o in turn.observations)
        turns.append(turn.__class__(turn.thoughts, turn.actions, seen))
    return Trace(trace.question, tuple(turns), trace.outcome)


def write(path: Path, rows: list[str], size: int) -> None:
    with path.open("w", encoding="utf-8") as stream:
        written = 0
        while written < size:
            for row in rows:
                written += stream.write(row)
                if written >= size:
                    break


def measure(path: Path, *, into_store: bool) -> None:
    """In the process that is measured: processor seconds and MB at most, as JSON."""
    started = time.process_time()
    if into_store:
        report = import_traces(Store.open(path.with_suffix(".db")), read_traces([path]))
        traces = report.traces + report.duplicates
    else:
        traces = sum(isinstance(one, Trace) for one in read_traces([path]))
    seconds = time.process_time() - started
    status = Path("/proc/self/status").read_text(
        "ascii"
    )  # getrusage would tell the parent's peak, too
    peak = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) // 1024
    print(json.dumps({"seconds": seconds, "peak": peak, "traces": traces}))


def measured(path: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", str(path), *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("formats", nargs="*", default=list(LAYOUTS))
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure, into_store=given.store)
        return 0
    print("| format | runs | traces | MB/s | peak MB | peak MB of a file a tenth as long |")
    print("| --- | --- | --- | --- | --- | --- |")
    rates, growths = [], []
    options = ("--store",) if given.store else ()
    with TemporaryDirectory() as folder:
        for name in given.formats:
            for is_long in (False, True):
                rows = [f"{json.dumps(LAYOUTS[name](one))}\n" for one in shipped(is_long=is_long)]
                small, large = Path(folder) / "small.jsonl", Path(folder) / "large.jsonl"
                write(small, rows, given.mb * 10**5)
                write(large, rows, given.mb * 10**6)
                before, told = measured(small, *options), measured(large, *options)
                for file in Path(folder).iterdir():
                    file.unlink()
                rate = given.mb / told["seconds"]
                rates.append(rate)
                growths.append(told["peak"] - before["peak"])
                kind = "long" if is_long else "short"
                cells = (
                    name,
                    kind,
                    f"{told['traces']:,}",
                    f"{rate:.0f}",
                    told["peak"],
                    before["peak"],
                )
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    is_good = max(rates) >= BAR and max(growths) <= MOST_GROWTH
    print(f"\nfastest {max(rates):.0f} MB/s (bar {BAR}); memory grows by {max(growths)} MB at most")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
