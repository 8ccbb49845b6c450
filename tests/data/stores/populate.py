"""Writes the store that is checked in as NUMBER.db, once, when its schema is released.

    python tests/data/stores/populate.py tests/data/stores/0002.db

A store that is checked in is never written again: it stands for those that users have.
"""

import sys
from typing import NamedTuple

from forethought.data import commands
from forethought.data.candidates import CandidateSet, written
from forethought.data.commands import Edit, NewCandidate
from forethought.data.drafts import StoredDraft, keep_draft, save_view
from forethought.data.store import Store
from forethought.data.traces import Action, Outcome, Trace, Turn


class Row(NamedTuple):
    file: str
    position: str
    reason: str
    raw: str


def main(path: str) -> None:
    store = Store.open(path)
    searching = Turn(("Look it up.",), (Action("search", {"input": "é 💩"}),), ("found",))
    answering = Turn(("I know it.",), (Action("finish", {"input": "1932"}),), ("",))
    silent = Turn((), (Action("search", {"input": "x"}),), ("nothing",), ("a.png",))
    store.add(
        [
            Trace("When?", (searching, answering), Outcome.SUCCESS, "one", "react", "a.json", 0),
            Trace("Who\ud83d?", (searching,), Outcome.FAILURE, "one", "react", "a.json", 1),
            Trace("Where?", (silent,), None, "two", "messages", "b.jsonl", 0),
        ]
    )
    store.quarantine([Row("b.jsonl", "line 2", "not JSON", "{")])
    texts = ("Look it up.", "I know it.", "Look again.")
    candidates = tuple(written(text, ["search"]) for text in texts)
    store.save_set(CandidateSet("first", candidates, "a note", manifest={"seed": 0}))
    first, second, third = candidates
    commands.accept(store, Edit("first", first.id, 1, "ann", "clear"))
    commands.reword(store, Edit("first", first.id, 2, "ann"), "Look it up first.")
    commands.undo(store, "first", "ann")
    commands.redo(store, "first", "bob")
    commands.reject(store, Edit("first", second.id, 1, "bob", "too vague"))
    store.release("first", "for the test", "ann")
    commands.comment(store, Edit("first", third.id, 1, "bob"), "too like the first")
    commands.add(store, "first", NewCandidate("Compare.", derived_from=third.id), "ann", "a gap")
    commands.undo(store, "first", "ann")
    keep_draft(store, StoredDraft("first", third.id, "ann", "Look ag", 1))
    save_view(store, "first", "mine", {"statuses": ["proposed"]})
    store.put("audit", "first", {"n": 3})
    assert store.check() == []
    store.close()


if __name__ == "__main__":
    main(sys.argv[1])
