"""What `forethought score` says about a set after a context, and when it warns."""

import json

import numpy as np
import pytest
import torch
from scripted_models import scripted_model
from tiny_models import VOCABULARY, ByteTokenizer, tiny_model, tiny_network

from forethought.data.candidates import CandidateSet, written
from forethought.data.errors import ForethoughtError, InvalidCandidate, NothingToDo
from forethought.data.store import Store
from forethought.scorer.calibrate import Fit
from forethought.scorer.model import wrap
from forethought.scorer.selection import Normalisation
from forethought.ui.calibrations import calibration_key
from forethought.ui.score_options import Calibration, Method, ScoreOptions, parse_normalisation
from forethought.ui.scoring import score_set, score_with_store

CONTEXT = "Question: Who?\n"
TEXTS = ("I should look this up first.", "I should answer.", "Déjà vu: I know it.")


def set_of(*texts):
    return CandidateSet("set", tuple(written(text) for text in texts))


def score(*texts, model=None, context=CONTEXT, learned=None, **options):
    model = model or tiny_model(dtype="float64")
    found = score_set(set_of(*texts), context, model, ScoreOptions(**options), learned)
    json.dumps(found, allow_nan=False)
    return found


def column(found, key):
    return np.array([row[key] for row in found["candidates"]])


def test_a_score_repeats_what_was_asked_for_and_has_what_it_promises():
    found = score(*TEXTS, tau=0.5)

    assert found["options"] == {
        "method": "shared",
        "calibration": "raw",
        "normalisation": "mean",
        "alpha": 1.0,
        "tau": 0.5,
        "constrained": False,
    }
    assert found["normalisation"] == "mean"
    assert found["warnings"] == []
    assert found["log_z"] == pytest.approx(np.logaddexp.reduce(column(found, "sum")))
    first, second = sorted(column(found, "score"))[:-3:-1]
    assert found["gap"] == pytest.approx(first - second)
    assert found["stable"] is True
    assert "trie_local" not in found["candidates"][0]
    assert "constrained" not in found


@pytest.mark.parametrize(
    ("written_as", "lengths"),
    [
        ("sum", lambda found: 1),
        ("mean", lambda found: column(found, "tokens")),
        ("byte", lambda found: column(found, "bytes")),
        ("alpha=0.5", lambda found: column(found, "tokens") ** 0.5),
    ],
)
def test_each_normalisation_divides_by_its_own_length(written_as, lengths):
    found = score(*TEXTS, normalisation=Normalisation.parse(written_as))

    assert column(found, "score") == pytest.approx(column(found, "sum") / lengths(found))
    assert found["normalisation"] == found["options"]["normalisation"] == written_as


def test_log_z_is_of_the_sums_whatever_the_score_is():
    one, other = score(*TEXTS), score(*TEXTS, calibration=Calibration.PMI, tau=0.0)

    assert one["log_z"] == other["log_z"]


def test_a_single_candidate_is_scored_has_no_gap_and_no_warning():
    found = score("Only this.", constrained=True)

    assert found["candidates"][0]["probability"] == 1.0
    assert found["candidates"][0]["trie_local"] == 1.0
    assert (found["gap"], found["stable"], found["warnings"]) == (None, True, [])


def test_scores_that_are_all_equal_are_warned_of_and_not_stable():
    """As from a backend that answers the same for every token."""
    indifferent = scripted_model(torch.zeros(VOCABULARY, VOCABULARY))

    found = score(*TEXTS, model=indifferent)

    assert len(found["warnings"]) == 1
    assert "same score" in found["warnings"][0]
    assert found["stable"] is False
    assert score(*TEXTS, model=indifferent, normalisation=Normalisation(0.0))["warnings"] == []


def test_a_lead_inside_the_dtypes_noise_is_told():
    """x is a little likelier than y: more than float32 rounds, less than bfloat16 does."""
    logits = torch.zeros(VOCABULARY, VOCABULARY)
    logits[:, ord("x")] = 0.01
    found = score("I say x", "I say y", model=scripted_model(logits))
    coarse = wrap(scripted_model(logits).network.bfloat16(), ByteTokenizer(), "coarse", "0")

    assert found["candidates"][0]["id"] == found["selected"]
    assert found["stable"] is True
    assert score("I say x", "I say y", model=coarse)["stable"] is False


@pytest.mark.parametrize("method", Method)
def test_constrained_decoding_stands_beside_the_exact_choice(method):
    found = score(*TEXTS, method=method, constrained=True)

    assert column(found, "trie_local").sum() == pytest.approx(1)
    best = found["candidates"][int(column(found, "trie_local").argmax())]["id"]
    assert found["constrained"]["selected"] == best
    assert found["constrained"]["disagrees"] == (best != found["selected"])
    greedy = found["constrained"]["greedy"]
    assert found["constrained"]["greedy_disagrees"] == (greedy != found["selected"])
    assert column(found, "sum") == pytest.approx(column(score(*TEXTS), "sum"))


class Merging(ByteTokenizer):
    """Knows two newlines with a tag's beginning as one token."""

    def __call__(self, text, **options):
        found = super().__call__(text, **options)
        found.input_ids = list(bytes(found.input_ids).replace(b"\n\n<", b"\xff"))
        return found


def test_a_context_whose_end_would_merge_with_candidates_is_warned_of():
    model = wrap(tiny_network().double(), Merging(), "merging", "0")

    assert score(*TEXTS, model=model)["warnings"] == []
    (warning,) = score(*TEXTS, model=model, context=f"{CONTEXT}\n")["warnings"]
    assert warning.startswith("3 of 3 candidates")
    assert "\n" not in warning


def test_the_fitted_calibration_chooses_by_its_offsets_and_temperature(tmp_path):
    model, store, options = tiny_model(), Store.open(tmp_path / "a.db"), ScoreOptions()
    candidates = set_of(*TEXTS)
    fitted = ScoreOptions(calibration=Calibration.FITTED)
    with pytest.raises(NothingToDo, match="no fitted calibration"):
        score_with_store(None, candidates, CONTEXT, model, fitted)
    with pytest.raises(NothingToDo, match="forethought audit"):
        score_with_store(store, candidates, CONTEXT, model, fitted)
    bias = {candidate.id: 0.1 * place for place, candidate in enumerate(candidates.active)}
    fit = Fit(np.zeros(3), 0.2, 40, 1.5, 1.1)._asdict() | {"bias": bias}
    key = calibration_key(candidates, model.revision, options.normalisation)
    store.put("calibration", key, {"bias": bias, "fit": fit})

    raw = score_with_store(store, candidates, CONTEXT, model, options)
    found = score_with_store(store, candidates, CONTEXT, model, fitted)

    expected = np.exp((column(raw, "score") + [0, 0.1, 0.2]) / 0.2)
    assert column(found, "probability") == pytest.approx(expected / expected.sum())


def test_byte_and_token_calibrations_are_kept_apart():
    candidates = set_of(*TEXTS)
    keys = {
        calibration_key(candidates, "r" * 20, Normalisation.parse(text))
        for text in ("sum", "mean", "byte", "alpha=0.5")
    }

    assert len(keys) == 4


def test_a_set_that_cannot_be_scored_is_refused():
    with pytest.raises(NothingToDo, match="no candidate"):
        score()
    two = set_of("Look.", "Stop.")
    twice = CandidateSet("twice", (two.candidates[0], written("Look.")))
    with pytest.raises(InvalidCandidate, match="same tokens"):
        score_set(twice, CONTEXT, tiny_model(), ScoreOptions())


def test_alpha_is_short_for_a_normalisation_and_never_beside_one():
    assert parse_normalisation(None, None) == Normalisation(1.0)
    assert parse_normalisation(None, 0.5) == parse_normalisation("alpha=0.5", None)
    with pytest.raises(ForethoughtError, match="not both"):
        parse_normalisation("mean", 1.0)
