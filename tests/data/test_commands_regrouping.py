"""Merge, split, add, bulk decisions and undo by number: what each does, refuses and tells, in every kind of database."""

from dataclasses import replace

import pytest

from forethought.data import activity, commands, drafts
from forethought.data.candidates import Candidate, CandidateSet, Status, written
from forethought.data.commands import Edit, NewCandidate, StaleEdit
from forethought.data.drafts import StoredDraft
from forethought.data.errors import Conflict, InvalidCandidate, NotFound, NothingToDo
from forethought.data.library import library_hash
from forethought.data.set_diff import Kinship
from forethought.data.store import Store
from forethought.data.traces import Trace, Turn, turn_id

TRACES = [
    Trace(question, (Turn(("Look.",)), Turn(("Again.",))))
    for question in ("Who?", "who? ", "Where?", "When?")
]
TURNS = tuple(turn_id(trace.id, number) for trace in TRACES for number in range(2))
A, B, C = (
    replace(written(text, [action]), support=TURNS[start : start + 4], questions=2 if start else 1)
    for text, action, start in (
        ("Look.", "search", 0),
        ("Seek.", "find", 2),
        ("Answer.", "answer", 4),
    )
)


@pytest.fixture
def store(store_url):
    store = Store.open(store_url)
    store.add(TRACES)
    store.save_set(CandidateSet("s", (A, B, C)))
    yield store
    assert store.check() == []
    store.close()


def edit(store: Store, candidate: Candidate, actor="ann") -> Edit:
    return Edit("s", candidate.id, store.candidate_set("s").get(candidate.id).version, actor)


def texts(store: Store) -> list[str]:
    return [candidate.text for candidate in store.candidate_set("s").candidates]


def test_a_merge_joins_turns_actions_and_texts(store):
    merged = commands.merge(store, edit(store, A), [edit(store, B)], excluded=[TURNS[5]])

    assert merged.support == TURNS[:5]
    assert merged.questions == 2  # "Who?" and "who? " are one, "Where?" the other
    assert merged.expected_actions == ("search", "find")
    assert merged.aliases == ("Seek.",)
    assert texts(store) == ["Look.", "Answer."]
    assert activity.lineage(store, "s") == [Kinship(B.id, A.id, "merge")]


def test_the_survivor_may_take_the_others_text(store):
    merged = commands.merge(store, edit(store, A), [edit(store, B)], text="Seek.")

    assert (merged.id, merged.text, merged.aliases) == (A.id, "Seek.", ())


def test_a_merge_is_undone_by_one_undo(store):
    before = store.candidate_set("s")
    commands.merge(store, edit(store, A), [edit(store, B), edit(store, C)], text="Seek.")

    commands.undo(store, "s", "bob")

    assert [replace(c, version=1) for c in store.candidate_set("s").candidates] == list(
        before.candidates
    )
    assert activity.lineage(store, "s") == []
    assert commands.redo(store, "s", "bob").text == "Seek."
    assert len(activity.lineage(store, "s")) == 2


def test_what_was_merged_is_not_mined_again(store):
    commands.merge(store, edit(store, A), [edit(store, B)])

    store.save_set(CandidateSet("s", (B, C, A)))

    assert sorted(texts(store)) == ["Answer.", "Look."]
    assert store.candidate_set("s").get(A.id).aliases == ("Seek.",)


def test_aliases_are_no_part_of_the_authors_hash(store):
    before = library_hash(store.candidate_set("s").first(1))
    merged = commands.merge(store, edit(store, A), [edit(store, B)])

    alone = replace(merged, expected_actions=A.expected_actions)
    assert library_hash(CandidateSet("s[:1]", (alone,))) == before


@pytest.mark.parametrize(
    ("others", "options", "told"),
    [
        ([], {}, "cannot be merged"),
        ([A], {}, "with itself"),
        ([B, B], {}, "with itself"),
        ([B], {"excluded": ["t_0:0"]}, "turn t_0:0 supports none"),
        ([B], {"text": " "}, "text is empty"),
        ([B], {"text": "ANSWER."}, "has this text already"),
    ],
)
def test_a_merge_that_makes_no_sense_is_refused(store, others, options, told):
    with pytest.raises((InvalidCandidate, NothingToDo), match=told):
        commands.merge(store, edit(store, A), [edit(store, other) for other in others], **options)

    assert texts(store) == ["Look.", "Seek.", "Answer."]


def test_a_merge_with_a_candidate_changed_meanwhile_writes_nothing(store):
    stale = edit(store, B)
    commands.reword(store, stale, "Search.")

    with pytest.raises(StaleEdit) as error:
        commands.merge(store, edit(store, A), [stale])

    assert (error.value.base.text, error.value.theirs.text) == ("Seek.", "Search.")
    assert texts(store) == ["Look.", "Search.", "Answer."]


def test_a_split_deals_every_turn_to_one_part(store):
    parts = [NewCandidate("Look.", TURNS[:2]), NewCandidate("Once more.", TURNS[2:3], ("open",))]

    first, second = commands.split(store, edit(store, A), parts, left_out=TURNS[3:4])

    assert (first.id, first.support, first.expected_actions) == (A.id, TURNS[:2], ("search",))
    assert (second.support, second.questions, second.expected_actions) == (
        TURNS[2:3],
        1,
        ("open",),
    )
    assert texts(store) == ["Look.", "Once more.", "Seek.", "Answer."]
    assert activity.lineage(store, "s") == [Kinship(A.id, second.id, "split")]
    store.save_set(CandidateSet("s", (A, B, C)))  # mined again, the parts stay as they are
    assert store.candidate_set("s").get(A.id).support == TURNS[:2]


def test_a_split_into_other_texts_rejects_the_candidate(store):
    parts = [NewCandidate("One.", TURNS[:2]), NewCandidate("Two.", TURNS[2:4])]

    commands.split(store, edit(store, A), parts)

    assert texts(store) == ["Look.", "One.", "Two.", "Seek.", "Answer."]
    assert store.candidate_set("s").get(A.id).status is Status.REJECTED


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ([("One.", TURNS[:4])], "no split"),
        ([("One.", TURNS[:2]), ("ONE. ", TURNS[2:4])], "same text"),
        ([("One.", TURNS[:3]), ("Two.", TURNS[2:4])], "stands in two parts"),
        ([("One.", TURNS[:3]), ("Two.", TURNS[4:5])], "no support"),
        ([("One.", TURNS[:2]), ("Two.", ())], "2 turns .* in no part"),
        ([("One.", TURNS[:2]), ("Seek.", TURNS[2:4])], "has this text already"),
    ],
)
def test_a_split_that_loses_or_doubles_something_is_refused(store, parts, told):
    with pytest.raises((InvalidCandidate, NothingToDo), match=told):
        commands.split(store, edit(store, A), [NewCandidate(*part) for part in parts])

    assert texts(store) == ["Look.", "Seek.", "Answer."]


def test_an_added_candidate_stands_last_and_stays_when_mined_again(store):
    new = NewCandidate("Compare.", TURNS[:4], ("search",), derived_from=A.id)
    added = commands.add(store, "s", new, "ann", "a gap")

    assert (added.status, added.questions, added.support) == (Status.PROPOSED, 1, TURNS[:4])
    assert store.revisions("s", added.id)[0].reason == "a gap"
    assert activity.lineage(store, "s") == [Kinship(A.id, added.id, "derived")]
    with pytest.raises(InvalidCandidate):
        commands.add(store, "s", NewCandidate("compare."), "ann")
    store.save_set(CandidateSet("s", (B,)))
    assert texts(store) == ["Compare.", "Seek."]


def test_a_bulk_decision_leaves_alone_what_was_changed_meanwhile(store):
    edits = [edit(store, candidate, "bob") for candidate in (A, B, C)]
    commands.reword(store, edits[0], "Look closely.")

    decided = commands.decide_many(store, "s", edits, Status.REJECTED)

    assert decided.applied == (B.id, C.id)
    (stale,) = decided.conflicts
    assert (stale.base.text, stale.theirs.text, stale.yours.status) == (
        "Look.",
        "Look closely.",
        Status.REJECTED,
    )
    commands.undo(store, "s", "bob")
    assert {c.status for c in store.candidate_set("s").candidates} == {Status.PROPOSED}


def test_a_bulk_decision_tells_of_what_was_merged_away(store):
    edits = [edit(store, candidate) for candidate in (A, B, C)]
    commands.merge(store, edit(store, A), [edit(store, B)])

    decided = commands.decide_many(store, "s", edits, Status.ACCEPTED)

    assert decided.applied == (C.id,)
    assert {stale.theirs.id for stale in decided.conflicts} == {A.id, B.id}
    with pytest.raises(NotFound, match="taken out of set"):
        commands.accept(store, edits[1])


def test_a_move_in_the_order_conflicts_with_no_edit(store):
    shown = edit(store, A)
    commands.place(store, shown, 2)

    assert commands.accept(store, shown).status is Status.ACCEPTED
    assert texts(store) == ["Seek.", "Answer.", "Look."]


def test_an_older_command_is_undone_by_its_number(store):
    commands.accept(store, edit(store, A))
    commands.reject(store, edit(store, B))
    accepted = activity.log(store, "s").entries[1].command_id

    assert commands.undo(store, "s", "ann", accepted).status is Status.PROPOSED

    with pytest.raises(Conflict, match="undone already"):
        commands.undo(store, "s", "ann", accepted)
    assert store.candidate_set("s").get(B.id).status is Status.REJECTED
    assert commands.redo(store, "s", "ann").status is Status.ACCEPTED


def test_undo_is_refused_where_a_later_command_touched_the_same(store):
    commands.reword(store, edit(store, A), "Look closely.")
    reworded = activity.log(store, "s").entries[0].command_id
    commands.merge(store, edit(store, A), [edit(store, B)], text="Seek.")

    with pytest.raises(StaleEdit):
        commands.undo(store, "s", "ann", reworded)
    with pytest.raises(NothingToDo, match="none that can be undone"):
        commands.undo(store, "s", "ann", activity.log(store, "s").entries[-1].command_id)


def test_the_order_can_be_changed_without_end(store):
    """Halving the room between two neighbours runs out after some fifty moves; then all are placed anew."""
    for number in range(120):
        commands.place(store, edit(store, (A, B)[number % 2]), 1)
        moved = store.candidate_set("s").candidates[1]
        assert moved.id == (A, B)[number % 2].id


def test_comments_and_the_log_are_newest_first_and_paged(store):
    commands.comment(store, edit(store, A, "ann"), "first")
    commands.comment(store, edit(store, A, "bob"), "second")
    store.release("s", "frozen", "ann")

    said = activity.comments(store, "s", A.id)
    assert [(comment.actor, comment.text) for comment in said] == [
        ("ann", "first"),
        ("bob", "second"),
    ]
    page = activity.log(store, "s", offset=0, limit=2)
    assert [(e.command, e.actor, e.num_candidates) for e in page.entries] == [
        ("release", "ann", 0),
        ("comment", "bob", 0),
    ]
    assert page.total == 4
    assert activity.log(store, "s", offset=3).entries[0].num_candidates == 3
    assert store.candidate_set("s").get(A.id).version == 1


def test_a_draft_outlives_the_browser_and_is_one_persons(store):
    drafts.keep_draft(store, StoredDraft("s", A.id, "ann", "Loo", 1))
    drafts.keep_draft(store, StoredDraft("s", A.id, "ann", "Look h", 1))
    drafts.keep_draft(store, StoredDraft("s", A.id, "bob", "mine", 1))

    kept = drafts.drafts(store, "s", "ann")
    assert {id: (draft.text, draft.base_version) for id, draft in kept.items()} == {
        A.id: ("Look h", 1)
    }
    drafts.drop_draft(store, "s", A.id, "ann")
    drafts.drop_draft(store, "s", A.id, "ann")
    assert drafts.drafts(store, "s", "ann") == {}
    assert list(drafts.drafts(store, "s", "bob")) == [A.id]
    with pytest.raises(NotFound):
        drafts.keep_draft(store, StoredDraft("s", "c_none", "ann", "x", 1))


def test_views_are_kept_by_name(store):
    drafts.save_view(store, "s", "mine", {"statuses": ["proposed"]})
    drafts.save_view(store, "s", "weak", {"min_support": 3})
    drafts.save_view(store, "s", "mine", {"text": "look"})

    assert drafts.views(store, "s") == {"mine": {"text": "look"}, "weak": {"min_support": 3}}
    drafts.drop_view(store, "s", "mine")
    assert list(drafts.views(store, "s")) == ["weak"]
    assert drafts.views(store, "other") == {}
