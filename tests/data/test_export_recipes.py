"""What goes along with rows: configuration that names them, and rewards that count what a run did."""

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
import yaml

from forethought.data.exports import readme
from forethought.data.exports.row_shape import SHAPES
from forethought.data.render import render_action
from forethought.data.traces import Action

RECIPES = Path(readme.__file__).parent / "recipes"
CONFIGS = sorted(RECIPES.glob("*/*.yaml"))


def module(path: str):
    spec = spec_from_file_location(Path(path).stem, RECIPES / path)
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_every_target_that_trains_has_a_recipe():
    assert {path.parent.name for path in RECIPES.glob("*/README.md")} == SHAPES.keys() - {"hub"}


@pytest.mark.parametrize("path", CONFIGS, ids=[path.parent.name for path in CONFIGS])
def test_a_configuration_names_the_rows_and_is_named_by_its_readme(path):
    read = yaml.safe_load(path.read_text("utf-8"))
    said = json.dumps(read)

    assert path.name in (path.parent / "README.md").read_text("utf-8")
    assert "train.jsonl" in said or "forethought_turns" in said


ROOT = Path(readme.__file__).parents[2]
READMES = sorted(path for place in readme.PLACES for path in place.glob("*/README.md"))
TOLD = {path: path.read_text("utf-8") for path in READMES}


def test_what_is_to_be_installed_is_the_version_that_was_run():
    pinned = (ROOT / "requirements.txt").read_text("utf-8")
    tried = (ROOT / "docs" / "export.md").read_text("utf-8").lower().replace("-", "")
    for path, text in TOLD.items():
        for named in re.findall(r"pip install ([^`)\s]+)", text):
            if named == "'/path/to/FORETHOUGHT[train]'":  # a checkout, since no index has it
                continue
            package, version = re.fullmatch(r"'([\w-]+)==([\d.]+)'", named).groups()
            assert f"{package.replace('-', '')} {version}" in tried, path
            assert package != "trl" or f"\n{package}=={version}\n" in pinned


@pytest.mark.parametrize("target", sorted(SHAPES))
def test_each_way_to_train_in_a_folder_leaves_its_model_in_one_of_its_own(target):
    files = [path for place in readme.PLACES for path in sorted((place / target).glob("*"))]
    texts = [path.read_text("utf-8") for path in files if path.suffix in (".md", ".yaml")]
    named = [one for text in texts for one in re.findall(r"output_dir:? (\S+)", text)]

    assert len(named) == len(set(named)), named


def test_what_lies_beside_a_targets_readmes_goes_along_and_they_become_one(tmp_path, monkeypatch):
    monkeypatch.setattr(readme, "PLACES", (tmp_path / "recipes", tmp_path / "hooks"))
    for place, name in (("recipes", "sft.yaml"), ("hooks", "select.py")):
        (tmp_path / place / "trl-sft").mkdir(parents=True)
        (tmp_path / place / "trl-sft" / "README.md").write_text(f"See {name} in $$PWD.\n")
        (tmp_path / place / "trl-sft" / name).write_text(place)
    facts = {"set": {"name": "s", "hash": "0"}, "rows": 1, "turns": 1, "left_out": {}}
    facts |= {"inputs": {"labels": "assigned"}, "sources": []}

    files = {name: "".join(pieces) for name, pieces in readme.files_beside("trl-sft").items()}
    said = readme.readme("trl-sft", SHAPES["trl-sft"], facts, ["prompt"])

    assert files == {"sft.yaml": "recipes", "select.py": "hooks"}
    assert "See sft.yaml in $PWD.\n\nSee select.py in $PWD.\n" in said


SEARCH = render_action(Action("search", {"input": "a } b"})).text
ANSWER = render_action(Action("finish", {"input": "Lisbon"})).text


@pytest.mark.parametrize(
    ("text", "kind", "same"),
    [
        (f"<thinking>Look.</thinking>\n{SEARCH}", "search", 1.0),
        (f"{SEARCH}\n{ANSWER}", "search", 1.0),
        (ANSWER, "answer", 1.0),
        (SEARCH, "answer", 0.0),
        ("I will search.", "search", 0.0),
        ("<tool_call>{broken}</tool_call>", "search", 0.0),
        ('<tool_call>{"name": ["x"]}</tool_call>', "search", 0.0),
        ("", "", 1.0),
    ],
)
def test_the_kind_of_the_first_action_is_rewarded(text, kind, same):
    rewards = module("trl-grpo/rewards.py")

    assert rewards.same_kind([[{"role": "assistant", "content": text}]], [kind], trace=["t"]) == [
        same
    ]
    assert rewards.same_kind([text], [kind]) == [same]


def test_the_same_action_is_rewarded_whatever_the_thought():
    rewards = module("trl-grpo/rewards.py")
    texts = [f"<thinking>A</thinking>\n{SEARCH}", f"<thinking>B</thinking>{SEARCH}", ANSWER]

    assert rewards.same_action(texts, [SEARCH] * 3) == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("text", "truth", "reward"),
    [
        ("... <answer>the Eiffel tower.</answer>", ["Eiffel Tower"], 1.0),
        ("<answer>no</answer> then <answer>Lisbon</answer>", ["Porto", "lisbon"], 1.0),
        ("<answer>Lisbon</answer> then <answer>no</answer>", ["lisbon"], 0.0),
        ("Lisbon", ["Lisbon"], 0.0),
        ("<answer>1932</answer>", "1932", 1.0),
    ],
)
def test_the_last_answer_is_rewarded_if_a_run_gave_it(text, truth, reward):
    assert module("verl-rl/reward.py").compute_score("made", text, truth) == reward
