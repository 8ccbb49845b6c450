"""A store's labelled runs taught to a tiny model: which runs and labels they are, what is left in the folder, and what is refused."""

import json

import pytest
from curated_store import TEXTS, mined
from embedders import HashingEmbedder
from runs import runs
from tiny_folders import save_folder

from forethought.data.errors import ForethoughtError, ModelUnavailable, NotFound, NothingToDo
from forethought.data.identity import Split, candidate_id
from forethought.data.store import Store
from forethought.data.traces import Outcome
from forethought.scorer.model import load_model
from forethought.scorer.training.teaching import MODEL, Schedule
from forethought.ui.training import TrainingPlan, runs_of, train_set

THOUGHTS = sorted(
    {(t, turn.actions[0].kind) for run in runs(60) for turn in run.turns for t in turn.thoughts}
)
SET = mined("said", tuple((thought, (kind,)) for thought, kind in THOUGHTS[:4]))


@pytest.fixture
def store(tmp_path):
    found = Store.open(tmp_path / "forethought.db")
    found.add(runs(60))
    return found


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return str(save_folder(tmp_path_factory.mktemp("tiny")))


def plan(tiny, **changed) -> TrainingPlan:
    schedule = Schedule(rate=3e-3, looks=2)
    return TrainingPlan(tiny, schedule, **{"limit": 6, "budget": 2048} | changed)


def test_runs_are_those_that_may_be_learnt_from_with_the_labels_of_their_thoughts(store):
    found = runs_of(store, SET, HashingEmbedder())
    expected = {
        split: [
            run for run in runs(60) if run.split is split and run.outcome is not Outcome.FAILURE
        ]
        for split in (Split.MINE, Split.CHOOSE)
    }

    assert {split: len(found[split]) for split in found} == {
        s: len(e) for s, e in expected.items() if e
    }
    texts = [candidate.text for candidate in SET.active]
    said = {text for text, _ in THOUGHTS}
    for run in found[Split.MINE]:
        for turn in run:
            assert turn.label is None or texts[turn.label] in said
    labelled = [turn for run in found[Split.MINE] for turn in run if turn.label is not None]
    assert labelled
    for turn in labelled:
        kind = "answer" if turn.action.startswith("<answer>") else "search"
        assert SET.active[turn.label].expects(kind)


def test_the_trained_folder_is_a_model_and_its_report_says_what_was_learnt(store, tiny, tmp_path):
    report = train_set(store, SET, HashingEmbedder(), plan(tiny), tmp_path / "out")
    again = train_set(store, SET, HashingEmbedder(), plan(tiny), tmp_path / "out")

    assert json.loads((tmp_path / "out" / "training.json").read_text()) == report == again
    assert report["curve"][-1]["selection"] < report["curve"][0]["selection"]
    assert report["runs"] <= 6
    trained = load_model(str(tmp_path / "out" / MODEL))
    assert trained.encode("Who?") == load_model(tiny).encode("Who?")
    assert trained.fingerprint() != load_model(tiny).fingerprint()


@pytest.mark.parametrize("changed", [{"limit": 5}, {"budget": 2000}])
def test_a_folder_of_another_training_is_left_alone(store, tiny, tmp_path, changed):
    train_set(store, SET, HashingEmbedder(), plan(tiny), tmp_path / "out")
    with pytest.raises(ForethoughtError, match="another --out"):
        train_set(store, SET, HashingEmbedder(), plan(tiny, **changed), tmp_path / "out")


def test_what_cannot_be_taught_is_one_line(store, tiny, tmp_path):
    nothing = mined("unsaid", TEXTS[:1])
    with pytest.raises(NothingToDo):
        train_set(store, mined("empty", ()), HashingEmbedder(), plan(tiny), tmp_path / "out")
    with pytest.raises(NothingToDo, match="raise the budget"):
        train_set(store, SET, HashingEmbedder(), plan(tiny, budget=20), tmp_path / "out")
    with pytest.raises(ModelUnavailable):
        train_set(store, nothing, HashingEmbedder(), plan("nowhere/at all"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert candidate_id(TEXTS[0][0]) == nothing.active[0].id


def test_a_second_training_into_the_folder_is_told_and_the_first_goes_on(store, tiny, tmp_path):
    told = []

    def meanwhile(done, total):
        with pytest.raises(ForethoughtError, match="out: another .* writes there") as error:
            train_set(store, SET, HashingEmbedder(), plan(tiny, limit=5), tmp_path / "out")
        told.append(str(error.value))

    together = train_set(store, SET, HashingEmbedder(), plan(tiny), tmp_path / "out", meanwhile)
    alone = train_set(store, SET, HashingEmbedder(), plan(tiny), tmp_path / "alone")

    assert told
    for look, other in zip(together["curve"], alone["curve"], strict=True):
        assert look == pytest.approx(other, rel=1e-3)  # threads add up in any order
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left == {"training.json", "curve.jsonl", "model", "checkpoint"}


def test_a_source_that_is_not_there_and_a_file_for_a_folder_are_told_by_name(store, tiny, tmp_path):
    with pytest.raises(NotFound, match="no traces of source 'nosuch'; there are: bridges"):
        train_set(store, SET, HashingEmbedder(), plan(tiny, source="nosuch"), tmp_path / "out")
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ForethoughtError, match="file: is a file; choose another --out"):
        train_set(store, SET, HashingEmbedder(), plan(tiny), tmp_path / "file")

    assert (tmp_path / "file").read_text() == "kept"
    assert not (tmp_path / "out").exists()
