"""What the terminal shows: JSON on standard output for scripts, tables for people, progress on standard error.

Text from traces is untrusted: it is shown without markup and without control characters.
"""

import json
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..data.candidates import CandidateSet
from ..data.exports.readme import not_shown_line
from ..data.library import library_hash
from ..data.traces import Trace
from . import progress_file

OUT = Console(soft_wrap=not sys.stdout.isatty())  # no torn paths in a pipe
ERR = Console(stderr=True)
SHOWN_PROBLEMS = 10
SHOWN_FILES = 10  # of an export that was removed
SILENCE = 30.0  # seconds between two lines where no bar can be drawn
BIDI_CONTROLS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
Json = Mapping[str, Any]


def plain(text: str) -> Text:
    """Untrusted text as it stands, control characters replaced."""
    return Text("".join(map(_shown, text)))


def printable(text: str) -> str:
    """Untrusted text on one line."""
    return " ".join("".join(map(_shown, text)).split())


def _shown(character: str) -> str:
    """The character, U+FFFD for one that steers the terminal or turns the direction of reading."""
    if character in "\n\t":
        return character
    steers = unicodedata.category(character) in ("Cc", "Cs")
    turns = unicodedata.bidirectional(character) in BIDI_CONTROLS
    return "\ufffd" if steers or turns else character


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False))


@contextmanager
def bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error; call it with what is done and the total."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=ERR, transient=True, disable=quiet) as progress:
        task, tell = progress.add_task(title, total=None), progress_file.teller()
        said = time.monotonic()

        def show(done: int, total: int) -> None:
            nonlocal said
            progress.update(task, completed=done, total=total)
            tell(progress_file.Progress(title, done, total))
            if not (quiet or ERR.is_terminal) and time.monotonic() - said > SILENCE:
                said = time.monotonic()
                ERR.print(f"{title}: {done:,} of {total:,}")

        yield show


@contextmanager
def counter(title: str, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """A running count on standard error, where the total is not known."""
    columns = (TextColumn("{task.description}"), TextColumn("{task.completed} traces"))
    with Progress(*columns, console=ERR, transient=True, disable=quiet) as progress:
        task, tell = progress.add_task(title, total=None), progress_file.teller()

        def show(done: int) -> None:
            progress.update(task, completed=done)
            tell(progress_file.Progress(title, done))

        yield show


@contextmanager
def stages(title: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """The stage at work, on standard error."""
    with Progress(
        TextColumn("{task.description}"), BarColumn(), console=ERR, transient=True, disable=quiet
    ) as progress:
        task, tell = progress.add_task(title, total=None), progress_file.teller()

        def show(stage: str) -> None:
            progress.update(task, description=f"{title}: {stage}")
            tell(progress_file.Progress(title, stage=stage))

        yield show


def show_traces(rows: Sequence[Json], *, as_json: bool) -> None:
    if as_json:
        return print_json(rows)
    table = Table("id", "turns", "outcome", "question")
    for row in rows:
        table.add_row(
            row["id"], str(row["turns"]), row["outcome"] or "unknown", plain(row["question"])
        )
    OUT.print(table)


def trace_json(trace: Trace) -> dict[str, Any]:
    """A trace as `traces show --json` prints it; observation i answers action i."""
    return {
        "id": trace.id,
        "question": trace.question,
        "outcome": trace.outcome,
        "source": trace.source,
        "format": trace.format,
        "file": trace.file,
        "position": trace.position,
        "model": trace.model,
        "run": trace.run,
        "repairs": list(trace.repairs),
        "split": trace.split,
        "turns": [
            {
                "thoughts": list(turn.thoughts),
                "actions": [{"name": a.name, "arguments": dict(a.arguments)} for a in turn.actions],
                "observations": list(turn.observations),
                "images": list(turn.images),
                "is_cut": turn.is_cut,
                "summaries": list(turn.summaries),
                "redacted": turn.redacted,
            }
            for turn in trace.turns
        ],
    }


def show_trace(trace: Trace, *, as_json: bool) -> None:
    if as_json:
        return print_json(trace_json(trace))
    OUT.print(
        plain(f"{trace.id}  {trace.source}  {trace.outcome or 'outcome unknown'}  {trace.split}")
    )
    OUT.print(plain(f"Question: {trace.question}"), style="bold")
    for index, turn in enumerate(trace.turns):
        for thought in turn.thoughts:
            OUT.print(plain(f"[{index}] {thought}"), style="cyan")
        for i, action in enumerate(turn.actions):
            arguments = json.dumps(dict(action.arguments), ensure_ascii=False)
            OUT.print(plain(f"    {action.name} {arguments}"))
            if i < len(turn.observations) and turn.observations[i]:
                OUT.print(plain(f"    -> {turn.observations[i]}"), style="dim")


def set_json(candidate_set: CandidateSet) -> dict[str, Any]:
    """A set as `sets show --json` prints it; support and questions are counts."""
    return {
        "name": candidate_set.name,
        "hash": library_hash(candidate_set),
        "candidates": [
            {
                "id": c.id,
                "text": c.text,
                "expected_actions": list(c.expected_actions),
                "support": len(c.support),
                "questions": c.questions,
                "status": c.status,
            }
            for c in candidate_set.candidates
        ],
    }


def show_set(candidate_set: CandidateSet, *, as_json: bool = False) -> None:
    if as_json:
        return print_json(set_json(candidate_set))
    table = Table(
        "candidate", "then", "support", "questions", "status", title=plain(candidate_set.name)
    )
    for c in candidate_set.candidates:
        actions = plain(", ".join(c.expected_actions) or "-")
        table.add_row(plain(c.text), actions, str(len(c.support)), str(c.questions), c.status)
    OUT.print(table)


def show_sets(rows: Sequence[Json], *, as_json: bool) -> None:
    if as_json:
        return print_json(rows)
    table = Table("set", "candidates", "hash")
    for row in rows:
        table.add_row(plain(row["name"]), str(row["candidates"]), row["hash"][:16])
    OUT.print(table)


def show_scores(scored: Json, *, as_json: bool) -> None:
    if as_json:
        return print_json(scored)
    local = ["constrained"] if "constrained" in scored else []
    table = Table("", "candidate", "tokens", "sum", "score", "probability", *local)
    for row in scored["candidates"]:
        mark = ">" if row["id"] == scored["selected"] else ""
        numbers = [f"{row['sum']:.2f}", f"{row['score']:.3f}", f"{row['probability']:.3f}"]
        numbers += [f"{row['trie_local']:.3f}"] if local else []
        table.add_row(mark, plain(row["text"]), str(row["tokens"]), *numbers)
    OUT.print(table)
    OUT.print(_confidence(scored))
    parts = ", ".join(f"{part} {ms:.0f} ms" for part, ms in scored["milliseconds"].items())
    place = f" by {scored['engine']['label']}" if "engine" in scored else ""
    OUT.print(
        plain(f"{scored['context_tokens']} context tokens, {scored['model']}{place}; {parts}")
    )


def _confidence(scored: Json) -> str:
    """How sure the choice is, in one line."""
    parts = [f"score by {scored['normalisation']}", f"log Z {scored['log_z']:.2f}"]
    if scored["gap"] is not None:
        doubt = "" if scored["stable"] else ", inside the noise of the model's dtype"
        parts.append(f"gap {scored['gap']:.3g}{doubt}")
    if "constrained" in scored:
        differs = scored["constrained"]["disagrees"]
        parts.append(f"constrained decoding {'takes another' if differs else 'agrees'}")
    return "; ".join(parts)


def show_export(manifest: Json, folder: Path, *, as_json: bool) -> None:
    if as_json:
        return print_json(manifest)
    OUT.print(plain(f"wrote {', '.join(manifest['files'])} and manifest.json to {folder}"))
    _show_former(manifest.get("before", {}))
    if "rows" in manifest:
        left = ", ".join(f"{n} {why}" for why, n in manifest["left_out"].items()) or "nothing"
        told = "" if left == "nothing" else " (README.md says what that means)"
        OUT.print(f"{manifest['rows']} rows; left out: {left}{told}")
        if unseen := not_shown_line(manifest):
            OUT.print(plain(unseen))
    if repairs := manifest.get("repairs"):
        OUT.print(plain("repaired: " + ", ".join(f"{n} {what}" for what, n in repairs.items())))
    if manifest.get("findings", {}).get("total"):
        rules = ", ".join(f"{n} {rule}" for rule, n in manifest["findings"]["rules"].items())
        OUT.print(
            plain(f"look at these before anybody else does: {rules} (manifest.json has the rows)")
        )


def _show_former(before: Json) -> None:
    """What became of an export that lay in the folder."""
    if removed := before.get("removed"):
        more = [f"{len(removed) - SHOWN_FILES} more"] if len(removed) > SHOWN_FILES else []
        told = ", ".join([*removed[:SHOWN_FILES], *more])
        OUT.print(plain(f"removed what the {before['dialect']} export there had: {told}"))
    if kept := before.get("kept"):
        OUT.print(plain(f"set aside, since they were changed or are not ours: {', '.join(kept)}"))


def show_export_check(report: Json, *, as_json: bool) -> None:
    if as_json:
        return print_json(report)
    table = Table("check", "of", "problems")
    for check in report["checks"]:
        shown = check["problems"][:SHOWN_PROBLEMS]
        more = [f"and {check['found'] - len(shown)} more"] if check["found"] > len(shown) else []
        table.add_row(check["check"], str(check["of"]), plain("\n".join([*shown, *more]) or "none"))
    OUT.print(table)
    for left in report["not_checked"]:
        OUT.print(plain(f"not checked: {left['check']} ({left['reason']})"))
    OUT.print("ok" if report["ok"] else "not ok")


def show_check(problems: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        return print_json({"ok": not problems, "problems": list(problems)})
    for problem in problems:
        OUT.print(plain(problem))
    if not problems:
        OUT.print("ok")
