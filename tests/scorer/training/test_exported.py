"""The scripts that lie in exports for TRL, run as a user runs them: they train, and every mistake is one line and exit code 2."""

import json
import runpy
import sys

import pytest
import torch
from runs import runs
from tiny_folders import QWEN_CHAT, byte_tokenizer, save_chatting_folder, save_folder
from tiny_models import tiny_network

from forethought.data.candidates import CandidateSet, written
from forethought.data.exports.dialects import export
from forethought.data.exports.export_inputs import ExportInputs
from forethought.data.exports.labelled import TurnScope
from forethought.data.traces import turn_id
from forethought.scorer.model import load_model

pytest.importorskip("trl")

SEARCH = written("I should look it up.", ["search"])
ANSWER = written("I have found the answer.", ["answer"])
SET = CandidateSet("moves", (SEARCH, ANSWER))
SCRIPTS = {"trl-sft": "select_sft.py", "trl-grpo": "select_grpo.py"}
HERE = ("--use_cpu", "--bf16", "false", "--max_steps", "1", "--disable_tqdm", "true")


@pytest.fixture(params=SCRIPTS)
def folder(request, tmp_path, monkeypatch):
    """An export, with the current folder in it, as its README asks."""
    given = runs(6)
    labels = {
        turn_id(run.id, place): {"search": SEARCH, "answer": ANSWER}[turn.actions[0].kind].id
        for run in given
        for place, turn in enumerate(run.turns)
    }
    inputs = ExportInputs(SET, given, labels, TurnScope(include_test=True))
    export(request.param, inputs, tmp_path / "export")
    monkeypatch.chdir(tmp_path / "export")
    monkeypatch.syspath_prepend(tmp_path / "export")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delitem(sys.modules, "rewards", raising=False)
    return tmp_path / "export"


@pytest.fixture
def call(folder, monkeypatch, capsys):
    """Runs the script in this process: exit code, and what it said on standard error."""
    (script,) = (one for one in SCRIPTS.values() if (folder / one).is_file())

    def run_script(*arguments):
        monkeypatch.setattr("sys.argv", [script, *map(str, arguments)])
        code = 0
        try:
            runpy.run_path(str(folder / script), run_name="__main__")
        except SystemExit as end:
            code = end.code
        return code, capsys.readouterr().err

    return run_script


@pytest.fixture(scope="module")
def chatting(tmp_path_factory):
    tokenizer = byte_tokenizer(special=("<|im_start|>",))
    tokenizer.chat_template = QWEN_CHAT
    tokenizer.pad_token = tokenizer.eos_token
    network = tiny_network(vocab_size=260, eos_token_id=256, pad_token_id=256)
    return save_folder(tmp_path_factory.mktemp("chatting"), network, tokenizer)


def test_a_model_is_taught_with_the_folders_own_configuration(call, folder, chatting):
    out = ("--output_dir", folder / "taught")
    code, said = call("--config", "select.yaml", "--model", chatting, *HERE, *out)

    assert code == 0, said
    before, after = load_model(str(chatting)), load_model(str(folder / "taught"))
    weights = zip(before.network.parameters(), after.network.parameters(), strict=True)
    is_changed = any(not torch.equal(old, new.to(old.dtype)) for old, new in weights)
    assert is_changed or (folder / "rewards.py").is_file()  # equal rewards of noise teach nothing


def refused(call, *arguments) -> str:
    code, said = call(*arguments)
    (line,) = [one for one in said.splitlines() if one.startswith("select_")]
    assert code == 2
    assert "Traceback" not in said
    return line


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("../nowhere", "no such folder"),
        ("org/nowhere", "cannot load a model from 'org/nowhere'"),
        ("", "name is empty"),
        ("train.jsonl", "is a file"),
        (".", "holds no model"),
    ],
)
def test_a_model_that_is_not_there_is_told(call, name, told):
    assert told in refused(call, "--model", name, *HERE)


def test_models_that_no_chat_can_be_written_for_are_told(call, tmp_path):
    plain = save_folder(tmp_path / "plain")
    seeing = save_chatting_folder(tmp_path / "seeing")
    endless = save_folder(tmp_path / "endless")
    config = json.loads((endless / "tokenizer_config.json").read_text())
    config |= {"eos_token": None, "chat_template": QWEN_CHAT}
    (endless / "tokenizer_config.json").write_text(json.dumps(config))

    assert "plain: its tokenizer has no chat template" in refused(call, "--model", plain, *HERE)
    assert "seeing: sees, and a text model" in refused(call, "--model", seeing, *HERE)
    assert "endless: its tokenizer has no token that ends" in refused(
        call, "--model", endless, *HERE
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--bf16", "true"), "add --use_cpu --bf16 false"),
        ((), "add --use_cpu --bf16 false"),
        (("--config", "nowhere.yaml"), "nowhere.yaml"),
        ((*HERE, "--nosuch", "3"), "--nosuch"),
    ],
)
@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU computes in bf16")
def test_what_this_machine_or_script_cannot_do_is_told(call, chatting, arguments, told):
    assert told in refused(call, "--model", chatting, *arguments)


def edited(folder, name, change) -> None:
    (folder / name).write_text(change((folder / name).read_text()))


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("reasoning_library.json", lambda text: text.replace("look it up", "ask"), "put the exported file back"),
        ("reasoning_library.json", lambda text: text[:-9], "no reasoning library"),
        ("reasoning_library.json", lambda text: '{"entries": {}}', "no entries"),
        ("train.jsonl", lambda text: "", "train.jsonl"),
        ("train.jsonl", lambda text: text + "{", "cannot be read"),
        ("train.jsonl", lambda text: '{"text": "x"}\n', "no rows of this export"),
        ("train.jsonl", lambda text: text.replace('"set_hash"', '"images": ["a.png"], "set_hash"'), "show pictures"),
    ],
)  # fmt: skip
def test_a_file_that_was_changed_since_is_told_by_name(call, folder, chatting, name, change, told):
    edited(folder, name, change)
    line = refused(call, "--model", chatting, *HERE)

    assert told in line and name in line


@pytest.mark.parametrize("name", ["reasoning_library.json", "train.jsonl"])
def test_a_file_that_is_missing_is_told_by_name(call, folder, chatting, name):
    (folder / name).unlink()

    assert name in refused(call, "--model", chatting, *HERE)


@pytest.mark.parametrize("package", ["trl", "forethought"])
def test_what_is_not_installed_is_told(call, monkeypatch, package):
    missing = "trl" if package == "trl" else "forethought.scorer.training.exported"
    monkeypatch.setitem(sys.modules, missing, None)

    assert "README.md says what to install" in refused(call, "--model", "any/model")
