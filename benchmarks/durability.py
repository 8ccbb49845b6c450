"""Several people and crashes: decisions during an import, and what is left of them after kill -9.

    python benchmarks/durability.py                       # 8 writers, 60 s, 100,000 turns, 20 kills; a file
    python benchmarks/durability.py --store postgresql+psycopg://USER@HOST/DATABASE    # an empty database

Each writer is a process that accepts, rejects and rewords candidates of one set as fast as --pause lets it, and writes down what
was acknowledged, with the seconds from the call to its return (the commit is in it). The import is `forethought import`. At the end
every acknowledged decision is looked for in the candidates' histories. The kills end an import and two writers at a random moment,
again and again; the import then goes on to its end. Prints Markdown; exits 1 where a bar is missed.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from sqlmodel import select

from forethought.data import commands
from forethought.data.candidates import Candidate, CandidateSet, Status, written
from forethought.data.commands import Edit, StaleEdit
from forethought.data.formats import read_traces
from forethought.data.store import Store
from forethought.data.tables import RevisionRow
from forethought.ui.importing import import_traces

SET = "shared"
PRELOADED = ["forethought.data.commands", "forethought.ui.importing", "numpy"]
TURNS_A_TRACE = 5
ACCEPT_BAR = 1.0  # seconds, 95th percentile


class Deed(NamedTuple):
    """An acknowledged decision: the version it made, what it was, and its seconds."""

    candidate: str
    version: int
    verb: str
    seconds: float


class Crowd(NamedTuple):
    """What a crowd of writers did while an import ran."""

    deeds: list[Deed]
    lost: int
    errors: list[str]
    conflicts: int
    imported_turns: int
    import_seconds: float
    problems: list[str]

    @property
    def accept_p95(self) -> float:
        return percentile(self.deeds, 95)


class Crashes(NamedTuple):
    """What was there after each kill, and after the last import had gone on to its end."""

    kills: int
    deeds: int
    lost: int
    problems: list[str]
    traces_kept: int
    traces_resumed: int


def percentile(deeds: Sequence[Deed], percent: float) -> float:
    return float(np.percentile([deed.seconds for deed in deeds if deed.verb == "accept"], percent))


def write_traces(path: Path, turns: int, town: str) -> int:
    """A file of runs with some text in each turn, others for each `town`; how many runs."""
    num_traces = turns // TURNS_A_TRACE
    with open(path, "w", encoding="utf-8") as file:
        for number in range(num_traces):
            messages = [
                {"role": "user", "content": f"Question: Who built bridge {number} of {town}?"}
            ]
            for turn in range(TURNS_A_TRACE):
                last = turn == TURNS_A_TRACE - 1
                action = f"finish[{number}]" if last else f"search[bridge {number} part {turn}]"
                thought = f"Step {turn} of run {number}: what I found does not say it, so I should search again. "
                answer = f"Observation: {f'Bridge {number} is long and old. ' * 20}"
                messages.append(
                    {"role": "assistant", "content": f"Thought: {thought}\nAction: {action}"}
                )
                messages.append({"role": "user", "content": answer})
            file.write(json.dumps({"messages": messages}) + "\n")
    return num_traces


def make_set(url: str, candidates: int) -> None:
    store = Store.open(url)
    texts = (f"I should look at place {number} first." for number in range(candidates))
    store.save_set(CandidateSet(SET, tuple(written(text, ["search"]) for text in texts)))
    store.close()


def decide(
    store: Store, actor: str, acknowledged: Callable[[Deed], None], pause: float, seed: int
) -> None:
    """Decide on candidates for ever, from the versions last seen, as someone with a list before them does."""
    chance = random.Random(seed)
    seen = {c.id: c for c in store.candidate_set(SET).candidates}
    ids = sorted(seen)
    while True:
        candidate = seen[chance.choice(ids)]
        verb = _verb(candidate, chance)
        edit = Edit(SET, candidate.id, candidate.version, actor)
        begun = time.perf_counter()
        try:
            if verb == "reword":
                text = f"I should look at {candidate.id} as {actor} says {chance.random()}."
                after = commands.reword(store, edit, text)
            else:
                after = getattr(commands, verb)(store, edit)
        except StaleEdit as conflict:
            seen[candidate.id] = conflict.theirs
            acknowledged(Deed(candidate.id, 0, "conflict", time.perf_counter() - begun))
        else:
            seen[candidate.id] = after
            acknowledged(Deed(after.id, after.version, verb, time.perf_counter() - begun))
        time.sleep(pause * 2 * chance.random())


def _verb(candidate: Candidate, chance: random.Random) -> str:
    if chance.random() < 0.2:
        return "reword"
    return "reject" if candidate.status is Status.ACCEPTED else "accept"


def write(url: str, journal: Path, actor: str, pause: float, seed: int) -> None:
    """A process of its own: decides until it is ended, and writes down each decision once it is acknowledged."""
    with open(journal, "a", encoding="utf-8", buffering=1) as file:
        try:
            store = Store.open(url)
            decide(store, actor, lambda deed: print(json.dumps(deed), file=file), pause, seed)
        except Exception as error:  # noqa: BLE001 - any error at all is what is counted here
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=file)


def take_in(url: str, path: Path) -> None:
    """A process of its own: an import, as the command does it."""
    import_traces(Store.open(url), read_traces([str(path)]))


def read_journal(path: Path) -> Iterator[Deed | str]:
    """Decisions, and errors as texts. A last line that a kill cut short was not acknowledged in full."""
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        yield entry["error"] if isinstance(entry, dict) else Deed(*entry)


def missing(store: Store, actor: str, deeds: Sequence[Deed]) -> int:
    """How many acknowledged decisions of this actor the histories do not have."""
    with store.database.reading() as session:
        rows = session.exec(
            select(RevisionRow.candidate_id, RevisionRow.version, RevisionRow.after).where(
                RevisionRow.actor == actor
            )
        )
        kept = {(id, version): after for id, version, after in rows}
    states = {"accept": "accepted", "reject": "rejected"}
    lost = 0
    for deed in deeds:
        after = kept.get((deed.candidate, deed.version), {})
        wanted = deed.verb in states
        lost += (after.get("status") != states[deed.verb]) if wanted else "text" not in after
    return lost


def processes(jobs: Sequence[tuple[Callable[..., None], tuple]]) -> list[BaseProcess]:
    context = get_context("forkserver")  # each child is quick to start, and shares no connection
    context.set_forkserver_preload(PRELOADED)
    made = [context.Process(target=job, args=arguments, daemon=True) for job, arguments in jobs]
    for process in made:
        process.start()
    return list(made)


def kill(running: Sequence[BaseProcess]) -> None:
    for process in running:
        process.kill()  # SIGKILL
    for process in running:
        process.join()


def wait_until_at_work(running: Sequence[BaseProcess], journals: Sequence[Path]) -> None:
    """Until every journal has a line; RuntimeError where a process ended before that."""
    while not all(path.exists() and path.stat().st_size for path in journals):
        if any(process.exitcode is not None for process in running):
            kill(running)
            raise RuntimeError("a process ended before it was at work; see what it printed")
        time.sleep(0.005)


def crowd(
    url: str, folder: Path, *, writers: int, seconds: float, turns: int, pause: float
) -> Crowd:
    """Writers for so many seconds, beside an import that runs at least as long as it takes."""
    write_traces(folder / "runs.jsonl", turns, "Lisbon")
    journals = {f"writer {n}": folder / f"{n}.journal" for n in range(writers)}
    running = processes(
        [(write, (url, path, actor, pause, n)) for n, (actor, path) in enumerate(journals.items())]
    )
    wait_until_at_work(running, [*journals.values()])
    begun = time.monotonic()
    command = [sys.executable, "-m", "forethought.ui.cli", "import", str(folder / "runs.jsonl")]
    importing = subprocess.Popen(
        [*command, "--store", url, "--json"], stdout=subprocess.PIPE, text=True
    )
    time.sleep(seconds)
    gone = [f"writer {n} ended by itself" for n, one in enumerate(running) if not one.is_alive()]
    kill(running)
    told, _ = importing.communicate()
    import_seconds = time.monotonic() - begun
    store = Store.open(url)
    entries = {actor: list(read_journal(path)) for actor, path in journals.items()}
    done = {
        actor: [e for e in found if isinstance(e, Deed) and e.verb != "conflict"]
        for actor, found in entries.items()
    }
    return Crowd(
        deeds=[deed for deeds in done.values() for deed in deeds],
        lost=sum(missing(store, actor, deeds) for actor, deeds in done.items()),
        errors=gone + [e for found in entries.values() for e in found if isinstance(e, str)],
        conflicts=sum(
            isinstance(e, Deed) and e.verb == "conflict" for f in entries.values() for e in f
        ),
        imported_turns=json.loads(told)["turns"] if importing.returncode == 0 else -1,
        import_seconds=import_seconds,
        problems=store.check(),
    )


def crashes(
    url: str, folder: Path, *, kills: int, turns: int, longest: float, seed: int
) -> Crashes:
    """An import and two writers, killed at `kills` random moments of their first `longest` seconds at work."""
    chance = random.Random(seed)
    num_traces = write_traces(folder / "runs.jsonl", turns, "Porto")
    deeds, lost, problems = 0, 0, []
    for number in range(kills):
        journals = {f"{number} {who}": folder / f"{number}{who}.journal" for who in "ab"}
        jobs: list[tuple[Callable[..., None], tuple]] = [(take_in, (url, folder / "runs.jsonl"))]
        jobs += [(write, (url, path, actor, 0.0, number)) for actor, path in journals.items()]
        running = processes(jobs)
        wait_until_at_work(running[1:], [*journals.values()])
        time.sleep(chance.uniform(0, longest))
        kill(running)
        store = Store.open(url)
        problems += store.check()
        for actor, path in journals.items():
            entries = list(read_journal(path))
            done = [e for e in entries if isinstance(e, Deed) and e.verb != "conflict"]
            problems += [e for e in entries if isinstance(e, str)]
            deeds += len(done)
            lost += missing(store, actor, done)
        store.close()
    store = Store.open(url)
    resumed = import_traces(store, read_traces([str(folder / "runs.jsonl")]))
    again = import_traces(store, read_traces([str(folder / "runs.jsonl")]))
    problems += store.check()
    if (resumed.traces + resumed.duplicates, again.traces) != (num_traces, 0):
        problems.append(f"of {num_traces} traces {resumed.traces} + {resumed.duplicates} are there")
    return Crashes(kills, deeds, lost, problems, resumed.duplicates, resumed.traces)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", help="an empty database; default: a new file")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--candidates", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0.2, help="mean seconds between decisions")
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        url = options.store or str(folder / "forethought.db")
        make_set(url, options.candidates)
        told = crowd(
            url,
            folder,
            writers=options.writers,
            seconds=options.seconds,
            turns=options.turns,
            pause=options.pause,
        )
        print(crowd_table(told, options), flush=True)
        (folder / "crashes").mkdir()
        killed = crashes(
            url,
            folder / "crashes",
            kills=options.kills,
            turns=options.turns // 5,
            longest=1.0,
            seed=0,
        )
        print(crash_table(killed), flush=True)
    good = not (told.errors or told.lost or told.problems or killed.lost or killed.problems)
    return 0 if good and told.accept_p95 < ACCEPT_BAR else 1


def crowd_table(told: Crowd, options: argparse.Namespace) -> str:
    rows = [
        (
            "writers, seconds, candidates",
            f"{options.writers}, {options.seconds:.0f}, {options.candidates}",
        ),
        ("decisions acknowledged", f"{len(told.deeds)}"),
        ("of these not in the histories", f"{told.lost}"),
        ("errors", f"{len(told.errors)} {told.errors[:1] or ''}"),
        ("conflicts told (someone else was first)", f"{told.conflicts}"),
        (
            "accept, from call to commit: p50, p95, p99, most",
            ", ".join(f"{percentile(told.deeds, p) * 1000:.0f} ms" for p in (50, 95, 99, 100)),
        ),
        ("turns imported meanwhile, seconds", f"{told.imported_turns}, {told.import_seconds:.0f}"),
        ("`forethought check`", "; ".join(told.problems[:2]) or "clean"),
    ]
    return "| | |\n| --- | --- |\n" + "\n".join(f"| {what} | {value} |" for what, value in rows)


def crash_table(told: Crashes) -> str:
    rows = [
        ("kill -9 of an import and two writers, at random moments", f"{told.kills}"),
        ("decisions acknowledged before a kill", f"{told.deeds}"),
        ("of these not in the histories", f"{told.lost}"),
        ("`forethought check` after each", "; ".join(told.problems[:2]) or "clean"),
        (
            "traces that the killed imports left; that the last one added",
            f"{told.traces_kept}; {told.traces_resumed}",
        ),
    ]
    return "\n| | |\n| --- | --- |\n" + "\n".join(f"| {what} | {value} |" for what, value in rows)


if __name__ == "__main__":
    sys.exit(main())
