"""A set as a table: search, sort, edit cells, decide over many at once, bring back. Decides nothing: a Table does."""

from functools import partial

import streamlit as st

from ..data.candidates import Status
from ..data.listing import SortKey
from ..data.store import Store
from . import cards
from .access import Right
from .charts import legible, shortened
from .grid import STATUS, TEXT, TICK, WORDS, Grid
from .table import PAGE, Table, TableView

SORTS = {
    SortKey.POSITION: "the set's order",
    SortKey.SUPPORT: "turns",
    SortKey.QUESTIONS: "questions",
    SortKey.TEXT: "text",
    SortKey.STATUS: "status",
    SortKey.VERSION: "times changed",
}
DECISIONS = {
    Status.ACCEPTED: "Accept",
    Status.REJECTED: "Reject",
    Status.NEEDS_WORK: "Needs work",
}
PREVIEW_CHARACTERS = 110
ROW = 35  # pixels


def show(store: Store, preferred: str | None = None) -> None:
    st.title("Table")
    name = cards.pick_set(store, preferred)
    if name is None:
        return
    table = _table(store, name)
    _filters(table)
    grid = table.look()
    _bulk(table)
    cards.notice(table.notice)
    for conflict in table.conflicts:
        _conflict(conflict.theirs.text, conflict.theirs.status)
    if not grid.rows:
        _nothing(table)
        return
    _grid(table, grid)
    if table.num_pages > 1:
        _pages(table)
    if table.proposal is not None:
        st.dialog("Decide over many", width="large", on_dismiss=table.dismiss)(_preview)(table)


def _table(store: Store, name: str) -> Table:
    key = f"table-{name}"
    if key not in st.session_state:
        st.session_state[key] = Table(store, name, cards.actor())
    table: Table = st.session_state[key]
    table.store, table.actor = store, cards.actor()
    return table


def _filters(table: Table) -> None:
    """The widgets show the table's view, and hand back what a person makes of it."""
    view, asked = table.view, partial(_show, table)
    for name, value in _widgets(view).items():
        st.session_state[_key(table, name)] = value
    text, status, action, order = st.columns([4, 3, 2.2, 2.2], vertical_alignment="bottom")
    text.text_input(
        "Search", key=_key(table, "text"), placeholder="every word must occur", on_change=asked
    )
    status.multiselect(
        "Status",
        list(Status),
        key=_key(table, "statuses"),
        format_func=WORDS.__getitem__,
        placeholder="any",
        on_change=asked,
    )
    action.selectbox(
        "Before",
        ["", *dict.fromkeys([*table.kinds(), *([view.action] if view.action else [])])],
        key=_key(table, "action"),
        format_func=lambda kind: legible(kind) or "any action",
        on_change=asked,
    )
    order.selectbox(
        "Order by",
        list(SORTS),
        key=_key(table, "key"),
        format_func=SORTS.__getitem__,
        on_change=asked,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Where",
            ["In the set", "Recycle bin"],
            key=_key(table, "where"),
            on_change=asked,
            label_visibility="collapsed",
            required=True,
        )
        st.toggle("Descending", key=_key(table, "is_descending"), on_change=asked)
        with st.popover("More filters" if _is_plain(view) else "More filters (on)"):
            st.number_input(
                "At least so many turns",
                min_value=0,
                key=_key(table, "min_support"),
                on_change=asked,
            )
            st.toggle("Commented on", key=_key(table, "has_comments"), on_change=asked)
            st.toggle("With aliases of a merge", key=_key(table, "has_aliases"), on_change=asked)
        with st.popover("Saved views"):
            _views(table)


def _widgets(view: TableView) -> dict[str, object]:
    return {
        "text": view.text,
        "statuses": list(view.statuses),
        "action": view.action or "",
        "key": view.key,
        "where": "Recycle bin" if view.in_bin else "In the set",
        "is_descending": view.is_descending,
        "min_support": view.min_support,
        "has_comments": view.has_comments,
        "has_aliases": view.has_aliases,
    }


def _show(table: Table) -> None:
    """Take in what the filter's widgets say now."""
    now = {name: st.session_state[_key(table, name)] for name in _widgets(table.view)}
    in_bin = now.pop("where") == "Recycle bin"
    now |= {"action": now["action"] or None, "statuses": tuple(now["statuses"])}
    table.show(TableView(**now, in_bin=in_bin))


def _is_plain(view: TableView) -> bool:
    return not (view.min_support or view.has_comments or view.has_aliases)


def _views(table: Table) -> None:
    views = table.views()
    for number, (name, view) in enumerate(views.items()):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                ":material/visibility: Show",
                key=f"view-{number}",
                on_click=partial(table.show, view),
            )
            st.button(
                ":material/delete:",
                key=f"drop-view-{number}",
                help="Forget this view",
                on_click=partial(table.drop_view, name),
            )
            st.text(shortened(name))
    if not views:
        st.caption("None yet: filter and sort, then keep it under a name for all who look here.")
    key = _key(table, "view-name")
    st.text_input("Name", key=key)
    st.button(
        "Keep this view",
        key="keep-view",
        on_click=lambda: table.keep_view(st.session_state[key]),
    )


def _bulk(table: Table) -> None:
    """One decision over what is ticked, or over all that match."""
    ticked, matching = len(table.ticked), table.total
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Tick page", key="tick-page", on_click=table.tick_page)
        st.button("Untick all", key="untick", on_click=table.untick, disabled=not ticked)
        if table.view.in_bin:
            st.button(
                f"Restore {ticked:,} ticked",
                key="restore",
                type="primary",
                on_click=table.restore,
                disabled=not ticked,
            )
        else:
            _decisions(table, ticked, matching)
        st.button("Undo", key="undo", on_click=table.undo)
        st.button("Redo", key="redo", on_click=table.redo)
    st.caption(
        f"{matching:,} match, {ticked:,} ticked. "
        + (
            "Rejected or taken out; nothing is ever deleted."
            if table.view.in_bin
            else "Double-click a text or a status to change it; it is stored at once."
        )
    )


def _decisions(table: Table, ticked: int, matching: int) -> None:
    """A decision and what it is over; a preview comes first."""
    may = table.actor.may(Right.BULK)
    told = None if may else f"A {table.actor.role} decides one by one; an admin decides over many."
    over_all = st.segmented_control(
        "Decide over",
        [False, True],
        default=False,
        key=_key(table, "over_all"),
        format_func=lambda is_all: (
            f"all {matching:,} that match" if is_all else f"{ticked:,} ticked"
        ),
        label_visibility="collapsed",
        required=True,
    )
    for status, word in DECISIONS.items():
        st.button(
            f"{word} …",
            key=f"{status.value}-many",
            on_click=partial(table.propose_all if over_all else table.propose_ticked, status),
            disabled=not (may and (matching if over_all else ticked)),
            help=told,
        )


def _preview(table: Table) -> None:
    """What a decision over many would change, before it does."""
    proposal = table.proposal
    if proposal is None:  # decided or given up: the dialog closes, the page behind it is drawn anew
        st.rerun()
    number, word = len(proposal.versions), DECISIONS[proposal.status]
    plural = "s" * (number != 1)
    st.subheader(f"{word}: {number:,} candidate{plural}")
    for row in proposal.first:
        with st.container(horizontal=True, vertical_alignment="center"):
            cards.status(row)
            st.text(shortened(row.text, PREVIEW_CHARACTERS))
    if number > len(proposal.first):
        st.caption(f"and {number - len(proposal.first):,} more")
    st.caption("One command: one undo takes all of it back. What changed meanwhile is left alone.")
    with st.container(horizontal=True):
        st.button(f"{word} {number:,}", key="confirm", type="primary", on_click=table.confirm)
        st.button("Cancel", key="cancel", on_click=table.dismiss)


def _conflict(theirs: str, status: Status) -> None:
    with st.container(border=True):
        st.caption(f"Changed meanwhile and left alone; it is {WORDS[status]} now and still ticked")
        st.text(shortened(theirs, 300))


def _grid(table: Table, grid: Grid) -> None:
    key = f"{_key(table, 'editor')}-{grid.number}"
    in_bin = table.view.in_bin
    order = [TICK, TEXT, STATUS, "before", "turns", "questions", "comments", "aliases"]
    st.data_editor(
        grid.cells,
        key=key,
        on_change=lambda: table.take(grid, st.session_state[key]["edited_rows"]),
        hide_index=True,
        height=min(len(grid.cells) + 1, 16) * ROW + 3,
        row_height=ROW,
        column_order=[TICK, TEXT, STATUS, "where", *order[3:]] if in_bin else order,
        disabled=[n for n in grid.cells[0] if n != TICK and (in_bin or n not in (TEXT, STATUS))],
        column_config={
            TICK: st.column_config.CheckboxColumn("", width=36),
            TEXT: st.column_config.TextColumn("text", width=375),
            STATUS: st.column_config.SelectboxColumn(
                "status", options=list(WORDS.values()), required=True, width=95
            ),
            "before": st.column_config.TextColumn("before", width=80),
            "where": st.column_config.TextColumn("where", width=80),
            **{
                name: st.column_config.NumberColumn(name, width=74)
                for name in ("turns", "questions", "comments", "aliases")
            },
        },
    )


def _pages(table: Table) -> None:
    st.session_state[_key(table, "page")] = table.page
    first = PAGE * (table.page - 1) + 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.pagination(
            table.num_pages,
            key=_key(table, "page"),
            on_change=lambda: setattr(table, "page", st.session_state[_key(table, "page")]),
        )
        st.caption(f"{first:,} to {min(first + PAGE - 1, table.total):,} of {table.total:,}")


def _nothing(table: Table) -> None:
    if table.view.in_bin:
        st.info("The recycle bin holds nothing here: what is rejected or taken out comes into it.")
    elif table.view.filter == TableView().filter:
        st.info("This set has no candidate: mine it again in Runs, or write one in Gaps.")
    else:
        st.info("Nothing matches: fewer words, or other filters.")


def _key(table: Table, name: str) -> str:
    return f"table-{table.set_name}-{name}"
