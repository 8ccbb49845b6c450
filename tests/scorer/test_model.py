import json
import os
import subprocess
import sys

import pytest
import torch
from tiny_models import tiny_network

from forethought.data.errors import ModelUnavailable
from forethought.scorer import packaged
from forethought.scorer.compiled_set import candidate_ids
from forethought.scorer.context import Context
from forethought.scorer.model import load_model, wrap
from forethought.scorer.plain import score_plainly, totals
from forethought.scorer.premise import PREMISE
from forethought.scorer.score import score_sharing_context


@pytest.fixture(scope="module")
def smollm():
    return load_model()


@pytest.mark.parametrize(
    "text",
    [
        "a<|im_end|>b",
        "<|im_start|>system\n",
        "  two  spaces\n\n",
        "\ufefféric 漢字 🙂",
        "x\x00y",
        "",
    ],
)
def test_encoded_text_decodes_to_itself_and_holds_no_control_token(smollm, text):
    ids = smollm.encode(text)

    assert smollm.decode(ids) == text
    assert not set(ids) & set(smollm.tokenizer.all_special_ids)


def test_a_lone_surrogate_is_replaced(smollm):
    assert smollm.decode(smollm.encode("a\ud800b")) == "a?b"


def test_the_packaged_model_knows_some_english(smollm):
    context = Context(smollm, smollm.encode("The capital of France is"))
    sequences = [smollm.encode(text) for text in (" Paris", " Berlin", " banana")]

    paris, berlin, banana = totals(score_sharing_context(context, sequences).log_probs)

    assert paris > berlin > banana


@pytest.mark.parametrize(
    "ending", ["Thought", "Observation: 1984", "it is ", "it is\n", "wher", "<"]
)
def test_shared_and_plain_agree_wherever_the_context_ends(smollm, ending):
    ids = smollm.encode(PREMISE + "Which bridge opened first?\n" + ending)
    sequences = candidate_ids(smollm, ["I should search.", " I should", "\nI know <|im_end|> it."])

    shared = totals(score_sharing_context(Context(smollm, ids), sequences).log_probs)
    plain = totals(score_plainly(smollm, ids, sequences))

    assert all(
        abs(a - b) <= 2e-5 * len(own) for a, b, own in zip(shared, plain, sequences, strict=True)
    )


def test_a_folder_of_weights_loads_and_scores(tmp_path, smollm):
    tiny_network(vocab_size=49152).save_pretrained(tmp_path)
    smollm.tokenizer.save_pretrained(tmp_path)

    model = load_model(str(tmp_path), dtype="float64")

    assert model.dtype == torch.float64
    assert model.name == tmp_path.name
    sequences = [[1, 2, 3]]
    shared = score_sharing_context(Context(model, [4, 5]), sequences).log_probs[0]
    assert abs(shared - score_plainly(model, [4, 5], sequences)[0]).max() < 1e-11


def test_the_revision_changes_with_the_weights(tmp_path, smollm):
    revisions = set()
    for seed in (0, 1):
        tiny_network(seed=seed, vocab_size=49152).save_pretrained(tmp_path)
        smollm.tokenizer.save_pretrained(tmp_path)
        revisions.add(load_model(str(tmp_path)).revision)

    assert len(revisions) == 2


@pytest.mark.parametrize("path", ["/no/such/folder", "./nowhere", "nowhere", "a/b/c"])
def test_a_path_that_does_not_exist_is_told_in_one_line(path):
    with pytest.raises(ModelUnavailable, match="no such folder") as told:
        load_model(path)
    assert "\n" not in str(told.value)


def test_a_folder_without_a_config_or_with_a_broken_one_is_told_in_one_line(tmp_path):
    with pytest.raises(ModelUnavailable, match="no config.json"):
        load_model(str(tmp_path))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelUnavailable) as told:
        load_model(str(tmp_path))
    assert "\n" not in str(told.value)


def test_a_file_is_not_a_model(tmp_path):
    (tmp_path / "x.gguf").write_text("")
    with pytest.raises(ModelUnavailable, match="is a file"):
        load_model(str(tmp_path / "x.gguf"))


def test_an_unknown_dtype_is_refused():
    with pytest.raises(ModelUnavailable, match="float32"):
        load_model(dtype="float8")


def test_models_that_would_be_scored_wrongly_are_refused(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gemma2"}))
    with pytest.raises(ModelUnavailable, match="gemma2"):
        load_model(str(tmp_path))
    sliding = tiny_network(
        "qwen2", use_sliding_window=True, sliding_window=4, max_window_layers=1, layer_types=None
    )
    with pytest.raises(ModelUnavailable, match="sliding_attention"):
        wrap(sliding, None, "sliding", "0")
    dynamic = tiny_network(
        rope_parameters={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}
    )
    with pytest.raises(ModelUnavailable, match="dynamic"):
        wrap(dynamic, None, "dynamic", "0")


def test_a_file_with_other_bytes_than_the_pinned_ones_is_refused(tmp_path):
    path = tmp_path / packaged.FILE
    path.write_bytes(b"not a model")

    with pytest.raises(ModelUnavailable, match="SHA-256"):
        packaged.verified_source(path, packaged.SHA256)


def test_a_damaged_conversion_is_noticed(tmp_path, smollm):
    folder = tmp_path / "converted"
    folder.mkdir()
    assert not packaged.is_intact(folder)

    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer.json").write_text("{}")
    record = {path.name: packaged.sha256_of(path) for path in folder.iterdir()}
    (folder / packaged.RECORD).write_text(json.dumps(record))
    assert packaged.is_intact(folder)

    (folder / "model.safetensors").write_bytes(b"weightz")
    assert not packaged.is_intact(folder)


@pytest.mark.parametrize("text", ["", "5", "[]", '["a"]', "null", "[" * 100_000, "{}"])
def test_a_record_of_a_conversion_that_is_garbage_or_partial_is_no_record(tmp_path, text):
    (tmp_path / packaged.RECORD).write_text(text)
    assert not packaged.is_intact(tmp_path)

    (tmp_path / "config.json").write_text("{}")
    record = {"config.json": packaged.sha256_of(tmp_path / "config.json")}
    (tmp_path / packaged.RECORD).write_text(json.dumps(record))
    assert not packaged.is_intact(tmp_path), "the weights are not in it"


def test_the_cache_is_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path))
    assert packaged.cache_folder() == tmp_path


@pytest.mark.slow
def test_two_processes_may_convert_at_the_same_time(tmp_path):
    script = "from forethought.scorer.packaged import packaged_folder; print(packaged_folder())"
    environment = os.environ | {"FORETHOUGHT_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"}

    running = [
        subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    folders = {process.communicate()[0].decode().strip() for process in running}

    assert [process.returncode for process in running] == [0, 0]
    assert [str(path) for path in tmp_path.iterdir()] == [*folders], "nothing half-made is left"
    assert packaged.is_intact(next(tmp_path.iterdir()))
