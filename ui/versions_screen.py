"""A set's past: what was done to it, one candidate's history, two versions side by side, releases. Decides nothing: an Archive does."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from ..data import versions
from ..data.candidates import Candidate, Release, Status
from ..data.errors import ForethoughtError
from ..data.set_diff import SetDiff
from ..data.store import Store
from ..miner.embed import Embedder
from . import archive, cards
from .access import Right
from .archive import PAGE, Archive
from .cards import Button, counted
from .charts import figure, interval, legible, shortened
from .computations import Computation
from .history_panel import events_of
from .roster import roster_of

LOG, HISTORY, COMPARE, RELEASES = "Log", "History of a candidate", "Compare", "Releases"
A, B = "versions-a", "versions-b"
SHOWN = 40  # candidates of one kind of change
SOON = 1  # seconds to the next look at what is being worked out
Make = Callable[[], Embedder]


def show(store: Store, preferred: str | None = None, make: Make | None = None) -> None:
    """`make` builds the embedder that two versions are compared by, by default the packaged one."""
    st.title("Versions")
    name = cards.pick_set(store, preferred)
    if name is None:
        return
    desk = _archive(store, name)
    look = st.segmented_control(
        "Look at",
        [LOG, RELEASES, COMPARE, HISTORY],
        default=LOG,
        key="versions-look",
        label_visibility="collapsed",
        required=True,
        bind="query-params",
        on_change=desk.forget,
    )
    cards.notice(desk.notice)
    if look == RELEASES:
        _releases(desk)
    elif look == COMPARE:
        _compare(store, name, make)
    elif look == HISTORY:
        _history(store, name)
    else:
        _log(desk)
    if desk.to_restore is not None:
        st.dialog("Go back to a release", on_dismiss=desk.dismiss)(_confirm)(desk)


def _archive(store: Store, name: str) -> Archive:
    key = f"archive-{name}"
    if key not in st.session_state:
        st.session_state[key] = Archive(store, name, cards.actor())
    found: Archive = st.session_state[key]
    found.store, found.actor = store, cards.actor()
    return found


def _log(desk: Archive) -> None:
    key = f"log-page-{desk.set_name}"
    found = archive.log_page(desk.store, desk.set_name, st.session_state.get(key, 1))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{counted(found.total, 'command')}, newest first. Compare takes a command's name "
            "as a version: the set as it stood after it."
        )
        st.button("Undo the last edit", key="undo", on_click=desk.undo)
    st.dataframe(
        list(found.rows),
        hide_index=True,
        height="content",
        row_height=30,
        column_config={
            "version": st.column_config.TextColumn(width=60),
            "when (UTC)": st.column_config.TextColumn(width=125),
            "who": st.column_config.TextColumn(width=80),
            "what": st.column_config.TextColumn(width=150),
            "about": st.column_config.TextColumn(width=260),
            "candidates": st.column_config.NumberColumn(width=80),
        },
    )
    if found.total > PAGE:
        st.pagination(-(-found.total // PAGE), key=key)


def _make_release(desk: Archive) -> None:
    """The notes stay where they were typed if nothing came of it."""
    before = len(desk.store.releases(desk.set_name))
    desk.release(st.session_state["release-notes"])
    if len(desk.store.releases(desk.set_name)) > before:
        st.session_state["release-notes"] = ""


def _releases(desk: Archive) -> None:
    may = desk.actor.may(Right.RELEASE)
    if may:
        with st.form("release-form", enter_to_submit=False):
            st.text_area(
                "Notes for a new release",
                key="release-notes",
                height=68,
                placeholder="what changed, and what it is for",
            )
            active = roster_of(desk.store, desk.set_name).active
            open_ones = sum(one.status is not Status.ACCEPTED for one in active)
            if open_ones:
                st.caption(
                    f"{counted(open_ones, 'candidate')} of them not accepted: they go in, too."
                )
            st.form_submit_button(
                f"Release the set as it is now ({counted(len(active), 'candidate')})",
                type="primary",
                on_click=partial(_make_release, desk),
            )
    else:
        st.info(f"A {desk.actor.role} may look at releases; an admin makes and restores them.")
    found = desk.store.releases(desk.set_name)
    if not found:
        st.info(
            "No release yet. One freezes all candidates that are not rejected, as they are, under a number and a hash."
        )
    for release in reversed(found):
        _release(desk, release, may=may)


def _release(desk: Archive, release: Release, *, may: bool) -> None:
    number = release.number
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(f"Release {number}", width="content")
            st.text(
                legible(
                    f"{counted(len(release.candidates), 'candidate')} · {release.actor} · {release.at[:16].replace('T', ' ')} UTC"
                )
            )
        if release.notes:
            st.text(legible(release.notes))
        st.code(release.hash, language=None)
        with st.container(horizontal=True):
            st.button(
                "Go back to it …",
                key=f"restore-{number}",
                on_click=partial(desk.propose_restore, number),
                disabled=not may,
            )
            with st.popover("Begin a new set from it", disabled=not may):
                key = f"branch-name-{number}"
                st.text_input("Name of the new set", key=key)
                st.button(
                    "Begin it",
                    key=f"branch-{number}",
                    on_click=lambda: desk.branch(str(number), st.session_state[key]),
                )
            st.button(
                "Compare with now",
                key=f"compare-{number}",
                on_click=partial(_compare_with_now, number),
            )


def _confirm(desk: Archive) -> None:
    if desk.to_restore is None:  # done or given up: closes, and the page behind is drawn anew
        st.rerun()
    st.text(
        f"The set becomes what it was in release {desk.to_restore}: wordings, statuses, order. "
        "What the release lacks goes to the recycle bin. One undo takes it back."
    )
    with st.container(horizontal=True):
        st.button(
            f"Go back to release {desk.to_restore}",
            key="confirm-restore",
            type="primary",
            on_click=desk.restore,
        )
        st.button("Cancel", key="cancel-restore", on_click=desk.dismiss)


def _compare_with_now(number: int) -> None:
    st.session_state["versions-look"] = COMPARE
    st.session_state[A], st.session_state[B] = str(number), versions.NOW


def _compare(store: Store, name: str, make: Make | None) -> None:
    labels = archive.version_labels(store.releases(name))
    oldest = archive.first_version(store, name) or versions.NOW
    labels.setdefault(oldest, f"as it began ({oldest})")
    left, right = st.columns(2)
    for column, title, key, default in (
        (left, "From", A, list(labels)[-1] if len(labels) > 1 else oldest),
        (right, "To", B, versions.NOW),
    ):
        chosen = st.session_state.get(key) or default
        st.session_state[key] = chosen
        column.selectbox(
            title,
            list(dict.fromkeys([*labels, oldest, chosen])),
            key=key,
            format_func=lambda version: labels.get(version, legible(version)),
            accept_new_options=True,
            help="A release, now, a command of the log like @12, or a time like 2026-11-30T09:00",
        )
    a, b = st.session_state[A], st.session_state[B]
    try:
        _diff(versions.diff(store, name, a, b))
    except ForethoughtError as error:
        cards.problem(str(error), "These two cannot be compared.")
        return
    st.header("On the same turns")
    key = f"both-{name}"
    cards.buttons(
        Button(
            "Compare what both cover",
            None,
            lambda: st.session_state.__setitem__(key, (a, b)),
        )
    )
    if st.session_state.get(key) == (a, b):
        asked = archive.coverage_of_both(store, name, a, b, make)
        if asked.is_over:
            _coverage(asked)
        else:
            st.fragment(_wait, run_every=SOON)(asked)


def _wait(asked: Computation[dict[str, object]]) -> None:
    if asked.is_over:
        st.rerun()
    st.caption(f":material/hourglass_empty: {asked.stage or 'begun'} …")


def _coverage(asked: Computation[dict[str, object]]) -> None:
    try:
        found = asked.result() or {}
    except ForethoughtError as error:
        cards.problem(str(error), "What both cover cannot be told.")
        return
    columns = st.columns(3)
    for column, title, key in (
        (columns[0], "Covered by the first", "first"),
        (columns[1], "Covered by the second", "second"),
        (columns[2], "Difference, paired", "difference"),
    ):
        estimate = found[key]
        assert isinstance(estimate, dict)
        column.metric(title, figure(estimate["value"]))
        column.caption(f"95 % interval {interval(estimate)}")
    st.caption(
        f"Share of {found['turns']} choose turns whose masked thought has a candidate within a cosine of "
        f"{found['threshold']}; questions resampled. Test turns are left for the audit."
    )


def _diff(found: SetDiff) -> None:
    if found.is_empty:
        st.success(f"No difference: {counted(found.unchanged, 'candidate')} stand in both.")
        return
    st.caption(f"{counted(found.unchanged, 'candidate')} unchanged")
    pairs = [(pair.before.text, pair.after.text) for pair in found.reworded]
    _changes("Reworded", [[f"− {old}", f"+ {new}"] for old, new in pairs])
    _changes("Added", [[f"+ {one.text}"] for one in found.added])
    _changes("Removed", [[f"− {one.text}"] for one in found.removed])
    _changes(
        "Merged",
        [
            [f"− {gone.text}" for gone in m.others] + [f"into {m.survivor.text}"]
            for m in found.merged
        ],
    )
    _changes(
        "Split",
        [[f"− {s.original.text}"] + [f"+ {part.text}" for part in s.parts] for s in found.split],
    )
    _changes(
        "Decided",
        [
            [f"{p.before.status.value} → {p.after.status.value}: {p.after.text}".replace("_", " ")]
            for p in found.status
        ],
    )
    _changes(
        "Announced actions",
        [[f"{_kinds(p.before)} → {_kinds(p.after)}: {p.after.text}"] for p in found.actions],
    )
    _changes("Moved in the order", [[one.text] for one in found.moved])


def _changes(title: str, changes: Sequence[Sequence[str]]) -> None:
    if not changes:
        return
    st.subheader(f"{title}: {len(changes):,}")
    with st.container(border=True, gap="xsmall"):
        for lines in changes[:SHOWN]:
            st.text("\n".join(legible(line) for line in lines))
        if len(changes) > SHOWN:
            st.caption(f"and {len(changes) - SHOWN:,} more")


def _kinds(candidate: Candidate) -> str:
    return ", ".join(candidate.expected_actions) or "any action"


def _history(store: Store, name: str) -> None:
    roster = roster_of(store, name)
    if not roster.candidates:
        st.info("This set has no candidate.")
        return
    numbers = {id: number for number, id in enumerate(roster.by_id, 1)}
    id = st.selectbox(
        "Candidate",
        list(roster.by_id),
        key=f"history-of-{name}",
        format_func=lambda id: f"{numbers.get(id, 0)}. {shortened(roster.by_id[id].text, 120)}",
    )
    for event in events_of(store, name, str(id)):
        with st.container(border=True, gap=None):
            st.text(
                legible(f"{event.said} · {event.actor} · {event.at[:16].replace('T', ' ')} UTC")
            )
            for line in event.details:
                st.text(legible(line))
