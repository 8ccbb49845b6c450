"""What a set needs now, a line each, the most urgent first; every line leads to the page where it is done."""

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..data.candidates import Status
from ..miner.confusions import ALIKE_AT
from .likeness import Vectors
from .roster import Roster

Report = Mapping[str, Any]


class NextStep(NamedTuple):
    """One sentence, the title of the page where it is done, and the command that does it, where there is one."""

    sentence: str
    page: str
    command: str = ""


def next_steps(
    set_name: str, roster: Roster, report: Report | None, vectors: Vectors | None
) -> list[NextStep]:
    """`vectors` None: near-duplicates are not known yet, and not told."""
    if not roster.active:
        return [
            NextStep(
                "No candidate is left: make some out of uncovered turns, or mine again.", "Gaps"
            )
        ]
    steps = _reviewing(roster)
    twins = num_twins(roster, vectors) if vectors is not None else 0
    if twins:
        pairs = "pair of candidates says" if twins == 1 else "pairs of candidates say"
        steps.append(
            NextStep(f"{twins:,} {pairs} nearly the same: merge, or word them apart.", "Review")
        )
    steps += _measuring(set_name, roster, report)
    if not steps:
        export = f"forethought export {shlex.quote(set_name)} --to trl-sft --out out/"
        steps = [
            NextStep("Reviewed and measured: release it.", "Versions"),
            NextStep("Take it into training.", "Export", export),
        ]
    return steps


def is_outdated(set_name: str, roster: Roster, report: Report) -> bool:
    """Whether the audit measured other sentences than the set holds now."""
    texts = report.get("texts") or {}
    audited = [texts.get(id) for id in (report.get("members") or {}).get(set_name) or ()]
    return audited != [candidate.text for candidate in roster.active]


def num_twins(roster: Roster, vectors: Vectors) -> int:
    """Pairs of active candidates whose texts say nearly the same."""
    active = {one.id for one in roster.active}
    rows = vectors.rows[[id in active for id in vectors.ids]]
    return int(np.triu(rows @ rows.T >= ALIKE_AT, k=1).sum())


def _reviewing(roster: Roster) -> list[NextStep]:
    steps = []
    if waiting := roster.counts[Status.PROPOSED]:
        wait = "candidate waits" if waiting == 1 else "candidates wait"
        steps.append(NextStep(f"{waiting:,} {wait} for your decision.", "Review"))
    if weak := roster.counts[Status.NEEDS_WORK]:
        need = "candidate needs" if weak == 1 else "candidates need"
        steps.append(NextStep(f"{weak:,} {need} work: reword and accept, or reject.", "Review"))
    return steps


def _measuring(set_name: str, roster: Roster, report: Report | None) -> list[NextStep]:
    audit = f"forethought audit {shlex.quote(set_name)}"
    if report is None:
        return [NextStep("The set is not audited yet: measure what it is worth.", "Runs", audit)]
    steps = []
    if is_outdated(set_name, roster, report):
        steps.append(
            NextStep("The set has changed since its audit: measure it again.", "Runs", audit)
        )
    escaped = (report.get("escape") or {}).get("value")
    if escaped:
        steps.append(
            NextStep(f"On {100 * escaped:.0f} % of held-out turns no candidate fits.", "Gaps")
        )
    covered = (report.get("semantic_coverage") or {}).get("value")
    if covered is not None and covered < 1:
        said = f"{100 * (1 - covered):.0f} % of held-out thoughts are far from every candidate's wording."
        steps.append(NextStep(said, "Gaps"))
    return steps
