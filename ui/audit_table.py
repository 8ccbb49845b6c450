"""An audit and a mining run as tables in the terminal."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from ..data.candidates import CandidateSet
from ..miner.mine import MiningResult
from .mining import figures
from .terminal import OUT, plain, print_json, set_json, show_set

Json = Mapping[str, Any]
FAULTS = {
    "truncated": "are longer than the embedder reads",
    "nan": "have a vector with a NaN and were left out",
    "infinite": "have an infinite vector and were left out",
    "zero": "have a vector of length zero and were left out",
    "constant": "have a vector of equal components and were left out",
}


def show_mining(candidate_set: CandidateSet, result: MiningResult, *, as_json: bool) -> None:
    if as_json:
        told = {"mining": figures(result), "flags": candidate_set.manifest["flags"]}
        return print_json(set_json(candidate_set) | told | {"embedding": _faults(candidate_set)})
    show_set(candidate_set)
    OUT.print(
        f"{result.num_thoughts} thoughts ({result.num_distinct} distinct once masked), "
        f"{result.num_clusters} clusters, {result.num_phrases} instance-free sentences; "
        f"the set's move fits {result.assigned_share:.0%} of the thoughts"
    )
    for left in result.left_out:
        OUT.print(
            f"{left.group.share:.0%} of the thoughts make a move that is not in the set: {left.reason}"
        )
    faults = _faults(candidate_set)
    for fault, said in FAULTS.items():
        if faults[fault]:
            OUT.print(f"{faults[fault]} of {faults['texts']} distinct thoughts {said}")
    show_flags(candidate_set)
    admission: Json = dict(candidate_set.manifest).get("admission") or {"trials": ()}  # type: ignore[assignment]
    for trial in admission["trials"]:
        added = trial["added"]
        OUT.print(
            plain(
                f"{trial['verdict']}: {trial['text']} adds {added['value']:.2f} "
                f"[{added['low']:.2f}, {added['high']:.2f}] {admission['unit']}"
            )
        )


def _faults(candidate_set: CandidateSet) -> dict[str, int]:
    """How many distinct thoughts have which fault; the manifest names them."""
    report: Json = candidate_set.manifest["embedding"]  # type: ignore[assignment]
    return {"texts": report["num_texts"]} | {fault: len(report[fault]) for fault in FAULTS}


def show_flags(candidate_set: CandidateSet) -> None:
    """What a person should look at in a set that was mined or grown just now."""
    flags: Sequence[Json] = candidate_set.manifest.get("flags") or ()  # type: ignore[assignment]
    if flags:
        OUT.print(f"{len({flag['id'] for flag in flags})} texts flagged:")
    for flag in flags:
        OUT.print(plain(f"  {flag['text']}  {flag['problem']}"))


def show_audit(report: Json, *, as_json: bool) -> None:
    if as_json:
        return print_json(report)
    turns, main = report["turns"], report["set"]
    shown = {name: found for name, found in report["sets"].items() if name in _shown(report)}
    title = f"Recovery of {main} on {turns['test']} test turns, {turns['choose']} choose turns"
    _print(title, ("set", "size", "assigned", "routed", "kind nats"), shown, _recoveries)
    title = "What the model selects now, by calibration"
    _print(title, ("set", "raw", "pmi", "batch", "most used, raw"), shown, _selections)
    OUT.print(f"best constant: {interval(report['constant_recovery'])}")
    free = report["free_gain"]
    OUT.print(f"the free thought gains {interval(free)} nats over a neutral sentence")
    for other, found in report["differences"].items():
        if "[:" not in other:
            OUT.print(
                plain(
                    f"{main} less {other}: assigned {interval(found['assigned_recovery'])}, "
                    f"routed {interval(found['routed_recovery'])}"
                )
            )
    show_latency(report["latency"])


def show_latency(latency: Json) -> None:
    """Reasoning latency a turn of each mode."""
    table = Table("reasoning a turn, ms", "p50", "p95")
    for mode in ("select", "think", "think_65"):
        table.add_row(mode, f"{latency[mode]['p50']:.0f}", f"{latency[mode]['p95']:.0f}")
    OUT.print(table)


def _shown(report: Json) -> set[str]:
    """The sets that the terminal shows: of the main set's smaller sizes only the six, as many as SSR's."""
    smaller = f"{report['set']}[:"
    return {
        name for name in report["sets"] if name == f"{smaller}6]" or not name.startswith(smaller)
    }


def _print(
    title: str, columns: Sequence[str], sets: Mapping[str, Json], cells: Callable[[Json], list[str]]
) -> None:
    table = Table(*columns, title=plain(title), title_justify="left", box=SIMPLE_HEAD)
    for name, found in sets.items():
        table.add_row(plain(name), *cells(found))
    OUT.print(table)


def _recoveries(found: Json) -> list[str]:
    return [
        str(found["size"]),
        interval(found["assigned_recovery"]),
        interval(found["routed_recovery"]),
        f"{found['assigned_recovery']['kind_nats']:+.2f}",
    ]


def _selections(found: Json) -> list[str]:
    selected = found["selected_recovery"]
    return [
        *(value(selected[calibration]) for calibration in ("raw", "pmi", "batch")),
        f"{found['collapse']['top_share']['value']:.0%}",
    ]


def value(estimate: Json) -> str:
    """A figure to two places."""
    return "not told" if estimate["value"] is None else f"{estimate['value']:.2f}"


def interval(estimate: Json) -> str:
    """A figure with its interval; nats where no recovery can be told."""
    if estimate["value"] is None:
        return f"not told ({estimate['nats']:+.2f} nats)" if "nats" in estimate else "not told"
    return f"{estimate['value']:.2f} [{estimate['low']:.2f}, {estimate['high']:.2f}]"
