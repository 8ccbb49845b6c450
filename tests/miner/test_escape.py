"""The candidate that says none of the others fits."""

from dataclasses import replace

from forethought.data.candidates import CandidateSet, Status, written
from forethought.miner.escape import ESCAPE, escape_id, with_escape
from forethought.miner.lint import lint

MINED = CandidateSet("moves", (written("I should search again."),), manifest={"seed": 0})


def test_it_stands_last_expects_nothing_and_is_marked():
    found = with_escape(MINED)

    assert found.candidates[:-1] == MINED.candidates
    assert found.candidates[-1].text == ESCAPE
    assert found.candidates[-1].expected_actions == ()
    assert escape_id(found) == found.candidates[-1].id
    assert found.manifest["seed"] == 0
    assert escape_id(MINED) is None


def test_adding_it_again_changes_nothing_and_its_text_can_be_another():
    once = with_escape(MINED)

    assert with_escape(once) == once
    assert with_escape(MINED, "Nothing here fits; I think freely.").candidates[-1].text != ESCAPE


def test_a_rejected_escape_is_no_escape():
    found = with_escape(MINED)
    rejected = replace(found.candidates[-1], status=Status.REJECTED)

    assert escape_id(replace(found, candidates=(rejected,))) is None


def test_its_text_is_one_that_a_candidate_may_have():
    assert lint(ESCAPE) == []
