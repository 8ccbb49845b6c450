"""Run records made elsewhere as a terminal shows them: a bench's table, and how far it agrees with what stands in the records."""

from typing import Any

from .bench_rows import counted
from .bench_table import show_bench
from .terminal import OUT, plain, print_json

Json = dict[str, Any]
SHOWN = 20  # records that are none
NAMED = 5  # figures of a summary that differ
OWN = ("exact", "relaxed", "f1")  # which a bench reckons itself: told where they differ


def show_records(report: Json, *, as_json: bool) -> None:
    if as_json:
        return print_json(report)
    shapes = ", ".join(f"{count} {shape}" for shape, count in report["shapes"].items())
    records, files = counted(report["records"], "record"), counted(report["files"], "file")
    OUT.print(plain(f"{records} in {files}: {shapes}"))
    show_bench(report, as_json=False)
    for label, told in report["told"].items():
        for name, found in told.items():
            if found["agree"] < found["n"] or name not in OWN:
                OUT.print(plain(f"{label}: {_agreement(name, found)}"))
    for one in report["summaries"]:
        differ = "".join(
            f"; {d['figure']} {d['told']:g}, here {d['ours']:g}" for d in one["differ"][:NAMED]
        )
        OUT.print(
            plain(f"{one['where']}: {one['agree']} of {one['figures']} figures agree{differ}")
        )
    for one in report["no_records"][:SHOWN]:
        OUT.print(plain(f"{one['where']}: {one['reason']}"))
    passed_over = sum(report["passed_over"].values())
    counts = {
        "not read as records": len(report["no_records"]),
        "repeated": report["repeated"],
        f"file{'s' * (passed_over != 1)} passed over": passed_over,
        "without a truth": sum(one["without_truth"] for one in report["modes"].values()),
    }
    if any(counts.values()):
        OUT.print(", ".join(f"{count} {what}" for what, count in counts.items() if count))


def _agreement(name: str, found: Json) -> str:
    if not found["n"]:
        return f"{name}: stands in {found['not_comparable']}, none can be compared"
    return (
        f"{name}: {found['agree']} of {found['n']} agree; mean {found['told']:.4f} there, {found['ours']:.4f} here; "
        f"higher there {found['told_more']}, here {found['ours_more']}"
    )
