"""What a set is said to need, over its life."""

import pytest
from curated_store import TEXTS, audit_report, curated, mined

from forethought.data import commands
from forethought.data.commands import Edit
from forethought.data.store import Store
from forethought.ui.likeness import vectors_of
from forethought.ui.next_steps import next_steps
from forethought.ui.roster import roster_of

NAME = "search-v1"


@pytest.fixture
def store(tmp_path) -> Store:
    return curated(tmp_path / "store.db")


def steps(store: Store, report=None, vectors=None, name: str = NAME):
    return next_steps(name, roster_of(store, name), report, vectors)


def accept_all(store: Store) -> None:
    for one in store.candidate_set(NAME).candidates:
        commands.accept(store, Edit(NAME, one.id, one.version, "ann"))


def test_what_waits_comes_first_and_the_audit_after_it(store):
    waiting, audit = steps(store)

    assert (waiting.sentence, waiting.page) == ("3 candidates wait for your decision.", "Review")
    assert (audit.page, audit.command) == ("Runs", f"forethought audit {NAME}")


def test_a_reviewed_and_measured_set_is_to_be_released_and_exported(store):
    report = audit_report(store.candidate_set(NAME))
    accept_all(store)
    report["escape"] = report["semantic_coverage"] = None

    assert [step.page for step in steps(store, report)] == ["Versions", "Export"]


def test_uncovered_turns_lead_to_the_gaps(store):
    report = audit_report(store.candidate_set(NAME)) | {"semantic_coverage": {"value": 0.86}}
    accept_all(store)
    said = [(step.sentence, step.page) for step in steps(store, report)]

    assert ("On 10 % of held-out turns no candidate fits.", "Gaps") in said
    assert ("14 % of held-out thoughts are far from every candidate's wording.", "Gaps") in said


def test_a_change_after_the_audit_is_told(store):
    report = audit_report(store.candidate_set(NAME))
    first = store.candidate_set(NAME).candidates[0]
    commands.reword(store, Edit(NAME, first.id, first.version, "ann"), "I should search first.")

    assert any("changed since its audit" in step.sentence for step in steps(store, report))


def test_near_duplicates_are_counted_once_the_vectors_are_there(tmp_path):
    texts = (TEXTS[0], (TEXTS[0][0].replace("fact", "Fact!"), ()), TEXTS[2])
    store = curated(tmp_path / "twins.db", mined(NAME, texts))
    vectors = vectors_of(roster_of(store, NAME), wait=30)

    assert not any("nearly the same" in step.sentence for step in steps(store))
    assert any("1 pair of candidates" in step.sentence for step in steps(store, None, vectors))


def test_a_set_without_candidates_is_to_be_filled(store):
    for one in store.candidate_set(NAME).candidates:
        commands.reject(store, Edit(NAME, one.id, one.version, "ann"))

    assert [step.page for step in steps(store)] == ["Gaps"]


def test_a_sets_name_is_quoted_in_the_command_that_it_stands_in(tmp_path):
    store = curated(tmp_path / "name.db", mined("my set; rm x"))

    assert steps(store, name="my set; rm x")[-1].command == "forethought audit 'my set; rm x'"
