"""Folders that are incomplete, damaged or of two models: refused in one line, never scored with random numbers."""

import json
import os
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_folders import byte_tokenizer, save_folder, save_seeing_folder
from tiny_models import VISION, tiny_network

from forethought.data.errors import ModelUnavailable
from forethought.scorer import checkpoint
from forethought.scorer.engines.served import load_served
from forethought.scorer.model import load_model

WEIGHTS = "model.safetensors"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path):
    return save_folder(tmp_path / "tiny")


def change_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def change_weights(folder, change):
    weights = {name: own.clone() for name, own in load_file(folder / WEIGHTS).items()}
    change(weights)
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def refusal(folder, capfd, load=load_model) -> str:
    """The one line; nothing else is printed, transformers' table least of all."""
    with pytest.raises(ModelUnavailable) as told:
        load(str(folder))
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""
    assert "\n" not in str(told.value)
    assert str(folder) in str(told.value)
    return str(told.value)


def test_missing_weights_are_counted_and_three_are_named(folder, capfd):
    change_weights(folder, lambda own: own.pop("model.layers.1.mlp.up_proj.weight"))
    assert "1 weights are missing (model.layers.1.mlp.up_proj.weight)" in refusal(folder, capfd)

    save_folder(folder)
    change_config(folder, num_hidden_layers=4, layer_types=None)
    said = refusal(folder, capfd)
    assert "9 weights are missing" in said
    assert said.count("model.layers.3.") == 3


def test_weights_that_the_config_has_no_place_for_are_refused(folder, capfd):
    change_config(folder, num_hidden_layers=2, layer_types=None)

    assert "9 weights are left over" in refusal(folder, capfd)


def test_weights_of_other_shapes_are_refused(folder, capfd):
    change_config(folder, intermediate_size=96)

    assert "of another shape" in refusal(folder, capfd)


def test_a_missing_output_layer_is_refused_and_a_tied_one_is_not_missing(tmp_path, folder, capfd):
    change_weights(folder, lambda own: own.pop("lm_head.weight"))
    assert "lm_head.weight" in refusal(folder, capfd)

    tied = save_folder(tmp_path / "tied", tiny_network(tie_word_embeddings=True))
    assert "lm_head.weight" not in load_file(tied / WEIGHTS)
    network = load_model(str(tied)).network
    assert network.lm_head.weight is network.model.embed_tokens.weight


@pytest.mark.parametrize(
    "name",
    [
        "visual.blocks.0.attn.qkv.weight",
        "vision_tower.x.weight",
        "multi_modal_projector.w",
        "mtp.layers.0.mlp.up_proj.weight",
        "v_head.summary.weight",
        "model.layers.0.self_attn.rotary_emb.inv_freq",
    ],
)
def test_weights_that_no_likelihood_of_text_depends_on_may_be_left_over(folder, name):
    change_weights(folder, lambda own: own.update({name: torch.ones(3)}))

    assert load_model(str(folder)).name == "tiny"


@pytest.mark.parametrize("family", VISION)
def test_a_tower_that_is_not_the_configs_is_refused(tmp_path, family, capfd):
    folder = save_seeing_folder(tmp_path / "seeing", family)
    assert load_model(str(folder)).eyes is not None
    name = next(name for name in load_file(folder / WEIGHTS) if "visual" in name)
    change_weights(folder, lambda own: own.update({name + "_more": torch.ones(3)}))
    assert "left over" in refusal(folder, capfd)
    change_weights(folder, lambda own: (own.pop(name + "_more"), own.pop(name)))
    assert f"{name}); the checkpoint is incomplete" in refusal(folder, capfd)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 1\n", "git lfs pull"),
        (b"<html>Not found</html>", "web page"),
        (b"\n <!DOCTYPE html>", "web page"),
        (b"", "no safetensors file"),
        (b"junk that is longer than eight bytes", "no safetensors file"),
        ((200_000).to_bytes(8, "little") + b"[" * 200_000, "no safetensors file"),
        ((4).to_bytes(8, "little") + b"[[]]", "no safetensors file"),
    ],
)
def test_a_file_that_holds_no_weights_is_said_to_be_what_it_is(folder, capfd, content, said):
    (folder / WEIGHTS).write_bytes(content)

    assert said in refusal(folder, capfd)


def test_a_file_that_was_cut_off_is_told_with_both_sizes(folder, capfd):
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[:-1])

    assert f"{len(whole) - 1} bytes of {len(whole)}" in refusal(folder, capfd)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"model_type": "llama", "vocab_size": "x"}']
)
def test_a_config_that_is_none_is_told_in_one_line(folder, capfd, text):
    (folder / "config.json").write_text(text)

    refusal(folder, capfd)
    refusal(folder, capfd, load_served)


@pytest.mark.parametrize("load", [load_model, load_served])
def test_a_tokenizer_that_is_missing_damaged_or_anothers_is_refused(folder, capfd, load):
    (folder / "tokenizer.json").write_text("{}")
    assert "damaged" in refusal(folder, capfd, load)
    (folder / "tokenizer.json").unlink()
    assert "holds no tokenizer" in refusal(folder, capfd, load)
    byte_tokenizer(plain=[f"word{i}" for i in range(5)]).save_pretrained(folder)
    assert "ids up to 261 and the model embeds 257" in refusal(folder, capfd, load)


def test_special_tokens_alone_may_lie_behind_the_embeddings(folder):
    byte_tokenizer(special=["<|pad|>"]).save_pretrained(folder)

    assert load_model(str(folder)).encode("<|pad|>") == load_model(str(folder)).encode("<|pad|>")


@pytest.mark.parametrize("load", [load_model, load_served])
def test_a_home_folder_and_the_folder_itself_have_their_names(folder, monkeypatch, load):
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.chdir(folder)

    assert load("~/tiny").name == load(".").name == load(str(folder)).name == "tiny"


@pytest.mark.parametrize("load", [load_model, load_served])
@pytest.mark.parametrize("path", ["", " ", "~/none", "org/name"])
def test_what_is_no_model_is_told_in_one_line(load, path):
    with pytest.raises(ModelUnavailable) as told:
        load(path)

    assert "folder" in str(told.value)
    assert "\n" not in str(told.value)


def test_a_processor_that_cuts_other_patches_than_the_tower_takes_is_refused(tmp_path, capfd):
    folder = save_seeing_folder(tmp_path / "seeing", patch_size=8)

    assert "patch_size 8 and the model 4" in refusal(folder, capfd)


def revision(folder) -> str:
    return load_model(str(folder)).revision


def test_the_revision_changes_with_one_number_in_the_middle_of_the_weights(tmp_path, monkeypatch):
    """Of a partial fine-tune, heads and tails of the file may well be the same."""
    folder = save_folder(tmp_path / "wide", tiny_network(vocab_size=4096, intermediate_size=4096))
    before, whole = revision(folder), (folder / WEIGHTS).read_bytes()
    assert len(whole) > 3 << 20

    def nudge(own):
        own["model.layers.1.mlp.up_proj.weight"][7, 7] += 1

    change_weights(folder, nudge)
    assert revision(folder) != before
    (folder / WEIGHTS).write_bytes(whole)
    assert revision(folder) == before


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "config.json"])
def test_the_revision_changes_with_the_tokenizer_and_the_config(folder, name):
    before = revision(folder)
    content = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps(content, indent=7))

    assert revision(folder) != before


def test_the_revision_is_the_contents_wherever_the_folder_lies(tmp_path, folder):
    shutil.copytree(folder, tmp_path / "copy")

    assert revision(tmp_path / "copy") == revision(folder)


def test_a_file_is_hashed_once_while_it_is_left_alone(folder, monkeypatch):
    before, hashed = revision(folder), []
    digest = checkpoint.hashlib.file_digest
    monkeypatch.setattr(
        checkpoint.hashlib, "file_digest", lambda *a: hashed.append(a[0].name) or digest(*a)
    )

    assert revision(folder) == before
    assert hashed == []
    stat = (folder / WEIGHTS).stat()
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes())
    os.utime(folder / WEIGHTS, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # as a copy may do
    assert revision(folder) == before
    assert hashed == [str(folder / WEIGHTS)]


@pytest.mark.parametrize("damage", ["", "5", '["a"]', "[" * 100_000, '{"facts": 3}'])
def test_damaged_memory_of_hashes_is_made_again(tmp_path, folder, damage):
    before = revision(folder)
    kept = [*(tmp_path / "cache" / "digests").iterdir()]
    assert kept
    for path in kept:
        path.write_text(damage)

    assert revision(folder) == before
    assert all(path.read_text() != damage for path in kept)
