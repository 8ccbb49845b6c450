"""A store in which whatever can be a stranger's text attacks the page that shows it."""

from dataclasses import replace
from pathlib import Path

from curated_store import HOSTILE, audit_report, mined, trace

from forethought.data import commands, drafts
from forethought.data.commands import Edit
from forethought.data.drafts import StoredDraft
from forethought.data.store import Quarantined, Store
from forethought.data.traces import Action, Outcome, Trace, Turn

MARK = "<img src=x onerror=attacked()>"  # what must stand on a page, letter by letter
ATTACK = (
    f"{MARK} ![p](http://127.0.0.1:9/p.png) ![q](https://elsewhere.example/q.png) "
    "[c](javascript:attacked()) </script><script>attacked()</script> <iframe src='https://elsewhere.example'>"
)
FORMULAS = ("=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=2", "＝1", "- check the file first")
BIDI = "\u202eto the left\u2066 and \u2067back\u2069 \u200f\u061cשלום"
LONG = "All work and no play. " * 50_000  # 1.1 MB
NAME = "hostile <b>set</b> ![s](https://elsewhere.example/s.png)"
TEXTS = (ATTACK, *HOSTILE, BIDI, *FORMULAS, LONG)


def hostile_traces() -> tuple[Trace, ...]:
    """A run a text, in which every field holds it; questions of all splits among them."""
    return tuple(
        Trace(
            question=f"{text[:2_000]} ({number})",
            turns=(
                Turn((text,), (Action(ATTACK, {"input": text, ATTACK: text}),), (text,)),
                Turn((f"Then {text}",), (Action("finish", {"input": text}),)),
            ),
            outcome=Outcome.SUCCESS if number % 2 else Outcome.FAILURE,
            source=ATTACK,
            file=f"{ATTACK}.jsonl",
            position=number,
        )
        for number, text in enumerate(TEXTS)
    ) + tuple(
        replace(trace(f"{ATTACK} {number}", f"{ATTACK} I should compare both."), source=ATTACK)
        for number in range(30)
    )


def hostile_store(path: Path) -> Store:
    """With a set, an audit of it, releases, comments, drafts, views and rows in quarantine."""
    store = Store.open(path)
    traces = hostile_traces()
    store.add(traces)
    rows = [(text, (ATTACK, "search")) for text in TEXTS]
    candidate_set = replace(mined(NAME, rows, traces[: len(TEXTS)]), note=ATTACK)
    store.save_set(candidate_set, ATTACK, ATTACK)
    store.put("audit", NAME, audit_report(candidate_set))
    drafts.save_view(store, NAME, ATTACK, {"text": ATTACK})
    first, second = (candidate.id for candidate in candidate_set.candidates[:2])
    commands.comment(store, Edit(NAME, first, 1, ATTACK), ATTACK)
    store.release(NAME, ATTACK, ATTACK)
    commands.reword(store, Edit(NAME, second, 1, ATTACK, ATTACK), f"{ATTACK} reworded")
    drafts.keep_draft(store, StoredDraft(NAME, first, "ann", f"{ATTACK} drafted", 1))
    store.quarantine(
        Quarantined(f"{ATTACK}.jsonl", str(n), f"{ATTACK} is wrong", text[:5_000], "")
        for n, text in enumerate(TEXTS)
    )
    return store
