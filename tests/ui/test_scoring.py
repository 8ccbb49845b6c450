"""What `forethought score` says about a set after a context, and when it warns."""

import json
import re

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw
from scripted_models import scripted_model
from tiny_folders import byte_tokenizer, save_seeing_folder
from tiny_models import VOCABULARY, ByteTokenizer, tiny_model, tiny_network

from forethought.data.candidates import CandidateSet, written
from forethought.data.errors import (
    ForethoughtError,
    InvalidCandidate,
    NotFound,
    NothingToDo,
    PictureMismatch,
)
from forethought.data.store import Store
from forethought.scorer.calibrate import Fit
from forethought.scorer.compiled_set import compile_set
from forethought.scorer.model import load_model, wrap
from forethought.scorer.plain import score_plainly, totals
from forethought.scorer.selection import Normalisation, Unit
from forethought.ui.calibrations import calibration_key
from forethought.ui.context_file import Illustrated, read_context
from forethought.ui.score_options import (
    Calibration,
    Method,
    ScoreOptions,
    parse_normalisation,
    parse_visual_budget,
)
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
        "special_tokens": False,
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


@pytest.mark.parametrize("alpha", [200.0, -200.0, 1e6, -1e6, 150.0])
@pytest.mark.parametrize("unit", Unit)
@pytest.mark.filterwarnings("error")
def test_an_alpha_that_leaves_no_number_to_divide_by_is_refused_with_the_range(alpha, unit):
    with pytest.raises(ForethoughtError) as told:
        score(*TEXTS, normalisation=Normalisation(alpha, unit))

    most = int(re.search(r"between -(\d+) and", str(told.value))[1])
    assert f"{alpha:g}" in str(told.value)
    for edge in (most, -most):
        found = score(*TEXTS, normalisation=Normalisation(edge, unit), tau=1e-6)
        assert column(found, "probability").sum() == pytest.approx(1)


def chatting_model():
    tokenizer = byte_tokenizer(special=("<|im_start|>",))
    return wrap(tiny_network(vocab_size=300).double(), tokenizer, "chatting", "0")


CHAT = "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n"


def test_special_tokens_in_a_context_are_told_of_and_read_as_tokens_when_asked():
    model = chatting_model()

    (warning,) = score(*TEXTS, model=model, context=CHAT)["warnings"]
    assert "<|im_end|>, <|im_start|>" in warning
    assert "--special-tokens" in warning
    assert "\n" not in warning
    found = score(*TEXTS, model=model, context=CHAT, special_tokens=True)
    assert found["warnings"] == []
    assert found["context_tokens"] == len(CHAT) - 2 * len("<|im_start|>") - len("<|im_end|>") + 3
    ids = model.tokenizer(CHAT).input_ids
    compiled = compile_set(model, TEXTS)
    expected = totals(score_plainly(model, ids, compiled.ids))
    assert column(found, "sum") == pytest.approx(expected, abs=1e-9)


def test_a_candidate_never_merges_with_a_special_token_at_the_end():
    tokenizer = byte_tokenizer()
    tokenizer.add_tokens(["><"])  # not special: it is found in any text
    model = wrap(tiny_network(vocab_size=300).double(), tokenizer, "merging", "0")

    assert len(score(*TEXTS, model=model, context="Who?<|im_end|>")["warnings"]) == 2
    ended = score(*TEXTS, model=model, context="Who?<|im_end|>", special_tokens=True)
    assert ended["warnings"] == []


@pytest.fixture(scope="module")
def seeing(tmp_path_factory):
    return load_model(str(save_seeing_folder(tmp_path_factory.mktemp("seeing"))), "float64")


@pytest.fixture
def drawing():
    image = Image.new("RGB", (40, 24), (200, 10, 10))
    ImageDraw.Draw(image).ellipse((4, 4, 20, 20), fill=(0, 90, 200))
    return image


@pytest.mark.parametrize("method", Method)
def test_a_set_is_scored_after_text_with_pictures_in_its_places(seeing, drawing, method):
    other = drawing.rotate(90, expand=True)
    context = Illustrated("One: <image>\nTwo: <image>\n", (drawing, other))

    found = score(*TEXTS, model=seeing, context=context, method=method)

    pictures = [seeing.eyes.prepare(image) for image in (drawing, other)]
    one, two = map(seeing.eyes.tokens, pictures)
    ids = [*seeing.encode("One: "), *one, *seeing.encode("\nTwo: "), *two, *seeing.encode("\n")]
    sequences = compile_set(seeing, TEXTS).ids
    expected = totals(score_plainly(seeing, ids, sequences, pictures=pictures))
    assert column(found, "sum") == pytest.approx(expected, abs=1e-9)
    assert (found["pictures"], found["context_tokens"], found["warnings"]) == (2, len(ids), [])


def test_with_a_visual_budget_both_methods_agree_and_what_was_looked_at_is_told(seeing, drawing):
    context = Illustrated("One: <image>\nWho?\n", (drawing.resize((64, 48)),))
    budget = parse_visual_budget("10-30,anchor=1,block=4")

    found, plain = (
        score(*TEXTS, model=seeing, context=context, method=method, visual_budget=budget)
        for method in Method
    )

    assert column(found, "sum") == pytest.approx(column(plain, "sum"), abs=1e-9)
    assert (
        abs(
            column(found, "sum") - column(score(*TEXTS, model=seeing, context=context), "sum")
        ).max()
        > 1e-3
    )
    assert found["options"]["visual_budget"] == "10-30,anchor=1,temperature=0.4,block=4"
    assert found["visual"]["tokens"] == 48
    assert 8 <= found["visual"]["kept"] <= 24


def test_a_visual_budget_without_a_picture_changes_nothing_and_says_so(seeing):
    budget = parse_visual_budget("10,anchor=0")

    found, without = score(*TEXTS, model=seeing, visual_budget=budget), score(*TEXTS, model=seeing)

    assert np.array_equal(column(found, "sum"), column(without, "sum"))
    assert found["visual"] == {"tokens": 0, "kept": 0}
    assert any("visual budget changes nothing" in warning for warning in found["warnings"])


def test_a_visual_budget_for_a_model_that_reads_text_alone_is_refused():
    with pytest.raises(PictureMismatch, match="reads text alone"):
        score(*TEXTS, visual_budget=parse_visual_budget("10,anchor=0"))


@pytest.mark.parametrize(("places", "images"), [(0, 1), (1, 2), (3, 2)])
def test_places_and_pictures_that_do_not_match_are_refused(seeing, drawing, places, images):
    context = Illustrated("<image>\n" * places, (drawing,) * images)

    with pytest.raises(PictureMismatch, match=f"{places} places <image> for {images} pictures"):
        score(*TEXTS, model=seeing, context=context)


def test_a_model_that_sees_is_told_to_score_text_alone(seeing):
    (warning,) = score(*TEXTS, model=seeing)["warnings"]

    assert "--image" in warning


def test_pictures_for_a_model_that_reads_text_alone_are_refused(drawing):
    with pytest.raises(PictureMismatch, match="text alone"):
        score(*TEXTS, context=Illustrated("<image>\n", (drawing,)))
    assert score(*TEXTS, context="<image>\n")["pictures"] == 0


@pytest.mark.parametrize("text", ["a\r\nb\r\n", "a\rb\n", "a\n\n", "  \x0c", "\ufeffa"])
def test_a_context_file_is_read_word_for_word(tmp_path, text):
    path = tmp_path / "turn.txt"
    path.write_bytes(text.encode())

    assert read_context(path).text == text.removeprefix("\ufeff")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"a \xed\xa0\x80", None])
def test_a_context_that_cannot_be_read_is_one_line(tmp_path, content):
    path = tmp_path / "turn.txt"
    path.mkdir() if content is None else path.write_bytes(content)

    with pytest.raises(NotFound) as told:
        read_context(path)
    assert str(path) in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("content", [b"", b"<html>", b"\x89PNG\r\n\x1a\njunk", None])
def test_a_picture_file_that_is_none_is_one_line(tmp_path, content):
    (tmp_path / "turn.txt").write_text("<image>\n")
    picture = tmp_path / "page.png"
    if content is not None:
        picture.write_bytes(content)

    with pytest.raises(NotFound) as told:
        read_context(tmp_path / "turn.txt", [picture])
    assert str(picture) in str(told.value)
    assert "\n" not in str(told.value)


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
