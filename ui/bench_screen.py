"""The latest bench of a set: what may be claimed, success and time by mode and benchmark, what was selected. Decides nothing."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ..data.candidates import CandidateSet
from ..data.published_results import published
from ..data.store import Store
from . import bench_rows as rows
from . import cards, plots
from .bench_decisions import Decision, decisions
from .bench_rows import KIND, Against, Agreement, ModeRow, Part
from .bench_settings import settings
from .bench_summary import (
    AGREEMENT,
    DASH,
    Card,
    ShareTable,
    claim,
    coverage_told,
    metric,
    share_table,
)
from .bench_summary import cards as headlines
from .charts import legible, shortened
from .pareto import left_out, pareto_points

Json = Mapping[str, Any]
QUESTION = 90  # characters of one in a table
MOST_HEADLINES = 5  # beside each other
PAGES = "pages"  # the app's pages by title, as `app` leaves them


def show(store: Store, preferred: str | None = None) -> None:
    st.title("Bench")
    name = cards.pick_set(store, preferred)
    if name is None:
        return
    report = store.document(KIND, name)
    if report is None:
        return _how_to(name)
    part = rows.pooled(report)
    _claim(report, part)
    _headlines(headlines(report))
    if (texts := rows.texts(report)) and texts != _texts_now(store.candidate_set(name)):
        st.warning("The figures are of the set as it was when it was played; it has changed since.")
    if part.is_floor:
        _agreements(rows.parts(report))
    _success(report)
    _pareto(report, part, store)
    _time(part)
    _against(part.against)
    if not part.is_floor:
        _agreements(rows.parts(report))
    _sent(part)
    _decisions(decisions(report), store)
    _selected(share_table(report))
    _ends(report, part)
    _published()


def _how_to(name: str) -> None:
    st.info(
        "This set was not benched yet. A bench lets an agent play questions selecting from it and thinking freely:"
    )
    cards.verbatim(f"forethought bench {shlex.quote(name)} --mode select --mode think --limit 100")
    if page := st.session_state.get(PAGES, {}).get("Runs"):
        st.page_link(page, label="Or start it in Runs")


def _texts_now(candidate_set: CandidateSet) -> dict[str, str]:
    return rows.texts({"texts": {one.id: one.text for one in candidate_set.active}})


def _claim(report: Json, part: Part) -> None:
    with st.container(border=True, gap="xsmall"):
        st.caption("What may be claimed")
        st.text(legible(claim(report)))
        st.text(f"{part.name or 'no benchmark'} · {settings(report).get('model', '')}")


def _headlines(found: Sequence[Card]) -> None:
    for first in range(0, len(found), MOST_HEADLINES):
        some = found[first : first + MOST_HEADLINES]
        for column, card in zip(st.columns(MOST_HEADLINES), some, strict=False):
            column.metric(card.what.capitalize(), card.value)
            column.caption(f"{card.range} {card.says}".strip())


def _success(report: Json) -> None:
    st.header("Success by benchmark")
    if unlike := rows.unlike(report):
        st.warning(
            "No judge was at hand: benchmarks that want one are scored by their words, which counts fewer answers as right."
        )
        st.text(", ".join(f"{part.name}: {metric(part.metric)}" for part in unlike))
    parts, mean = rows.parts(report), rows.mean_success(report)
    table = [
        {
            "mode": mode,
            **({"mean": rows.percent(mean.get(mode))} if len(parts) > 1 else {}),
            **{part.name + ", floor" * part.is_floor: _told(part.mode(mode)) for part in parts},
        }
        for mode in rows.modes_of(parts)
    ]
    _table(table)
    floor = "Floor: every mode succeeds on less than a tenth of the questions, too few to tell modes apart. "
    st.caption(
        "With 95 % intervals and the questions behind each. Those that nobody answered or could judge are no success, and stay in. "
        f"{floor * any(part.is_floor for part in parts)}{DASH}"
    )


def _told(row: ModeRow | None) -> str:
    if row is None:
        return ""
    told = f"{rows.percent(row.success.value)} {rows.range_of(row.success)} of {row.success.n}"
    counted = {
        "unanswered": row.failed,
        "unjudged": row.unjudged,
        "without a truth": row.without_truth,
    }
    return ", ".join([told, *(f"{count} {what}" for what, count in counted.items() if count)])


def _pareto(report: Json, part: Part, store: Store) -> None:
    others = store.documents(KIND)
    points = pareto_points(report, others)
    if not points:
        return
    st.header("Success against time")
    st.altair_chart(plots.pareto_plot(points, has_frontier=not part.is_floor), width="stretch")
    st.caption(
        f"Up and to the left is better{'' if part.is_floor else ', dashed what nothing beats'}. Numbers are the candidates selected from; "
        "other shapes the latest runs of other sets with the same model, benchmarks, settings and number of questions. "
        f"{left_out(report, others)}"
    )


def _time(part: Part) -> None:
    st.header("How long it takes")
    _table(
        [
            {
                "mode": row.mode,
                "reasoning ms a turn, p50": rows.plain(row.reasoning.p50, 0),
                "p95": rows.plain(row.reasoning.p95, 0),
                "model s a question, p50": rows.plain(row.model.p50, 2),
                "p95 ": rows.plain(row.model.p95, 2),
                "mean": rows.plain(row.model.mean, 2),
                "turns": rows.plain(row.turns),
                **{f"{kind} tokens": rows.plain(row.tokens[kind]) for kind in rows.TOKENS},
                "thoughts cut": rows.percent(row.capped),
            }
            for row in part.modes
        ]
    )
    st.caption("Where a question's seconds go:")
    _table(
        [
            {"mode": row.mode, **{one: rows.plain(row.seconds[one], 3) for one in rows.SECONDS}}
            for row in part.modes
        ]
    )


def _against(found: Sequence[Against]) -> None:
    if not found:
        return
    st.header("Selecting against each other mode")
    _table(
        [
            {
                "select less": one.mode,
                "questions": str(one.difference.n),
                "in one only": str(one.unpaired),
                "success, points": rows.points(one.difference),
                "right in select only": str(one.only_select),
                "in the other only": str(one.only_other),
                "p": rows.chance(one.p),
                "reasoning saved": rows.saved(one.reasoning_saved),
                "model time saved": rows.saved(one.model_saved),
            }
            for one in found
        ]
    )
    st.caption("[–]: all questions differ alike, which gives no interval.")


def _agreements(parts: Sequence[Part]) -> None:
    for part in parts:
        if part.agreement:
            _agreement(part.name, part.agreement)


def _agreement(name: str, found: Agreement) -> None:
    st.header("Action agreement under the recorded history")
    st.caption(AGREEMENT)
    st.text(f"{name}, {rows.counted(found.turns, 'recorded turn')}")
    _table(
        [
            {
                "mode": mode,
                "agrees": f"{rows.percent(told.value)} {rows.range_of(told)}",
                "select less this mode, points": rows.points(found.against[mode])
                if mode in found.against
                else "",
            }
            for mode, told in found.modes.items()
        ]
    )
    st.caption(
        f"Always taking the most frequent action would agree on {rows.percent(found.constant)}."
    )


def _decisions(found: Sequence[Decision], store: Store) -> None:
    if not found:
        return
    st.header("What each policy chose, turn by turn")
    modes = list(dict.fromkeys(mode for one in found for mode in one.agrees))
    traces = store.traces_of({one.trace for one in found})
    questions = {trace.id: shortened(trace.question, QUESTION) for trace in traces}
    _table(
        [
            {
                "question": legible(questions.get(one.trace, one.trace)),
                "turn": one.place,
                **{mode: one.told(mode) for mode in modes},
            }
            for one in found
        ],
        wide="question",
    )
    st.caption("✓: the action was then of the recorded kind.")


def _selected(shares: ShareTable) -> None:
    st.header("What was selected")
    if not shares.columns:
        st.info("No candidate was selected.")
        return
    lines = [(one.text, one.shares) for one in shares.rows]
    lines.append(("→ then the announced action", shares.announced))
    lines.append(("→ coverage", shares.coverage))
    _table(
        [
            {
                "candidate": text,
                **dict(zip(shares.columns, map(rows.percent, told), strict=True)),
            }
            for text, told in lines
        ],
        wide="candidate",
    )
    st.caption(coverage_told(shares.least_log_z))


def _sent(part: Part) -> None:
    found = rows.sent(part)
    if not found:
        return
    st.header("Where policies sent turns and questions")
    _table([{"policy": one.mode, "sent": one.what, "to": _counts(one.counts)} for one in found])


def _ends(report: Json, part: Part) -> None:
    st.header("How runs end")
    _table(
        [
            {
                "mode": row.mode,
                "ends": _counts(row.stops),
                "faults in actions": _counts(row.faults),
                "recorded results found": _counts(row.matches),
                "tools failed": str(row.tool_failures),
            }
            for row in part.modes
        ]
    )
    for one in rows.parts(report):
        for what, counts in (("not asked", one.left_out), ("the judge said", one.verdicts)):
            if counts:
                st.text(f"{one.name}, {what}: {_counts(counts)}")
    with st.expander("What was played"):
        for key, value in settings(report).items():
            st.text(f"{key}: {value}")


def _published() -> None:
    found = published()
    st.header("Published, not run here, other harness")
    st.caption(f"What SSR's authors report ({found.paper}): other models, tools, machine, judge.")
    with st.expander("Published rows"):
        _table(
            [
                {
                    "success, %": row.method
                    + ", as SSR's authors reproduced it" * row.is_reproduced,
                    "size": row.size,
                    **{name: rows.plain(row.by_benchmark[name], 2) for name in found.benchmarks},
                    "mean": rows.plain(row.mean, 2),
                }
                for row in found.success
            ]
        )
        _table(
            [
                {
                    "latency": row.method,
                    "size": row.size,
                    "reasoning s a turn": rows.plain(row.reasoning_s, 3),
                    "p95": rows.plain(row.reasoning_s_p95, 3),
                    "model s a question": rows.plain(row.model_s, 3),
                    "p95 ": rows.plain(row.model_s_p95, 3),
                }
                for row in found.latency
            ]
        )


def _table(table: Sequence[Mapping[str, str]], wide: str | None = None) -> None:
    """Lines of text, every one of them seen."""
    columns = {wide: st.column_config.TextColumn(width="large")} if wide else None
    st.dataframe(list(table), hide_index=True, height="content", column_config=columns)


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in found.items())
