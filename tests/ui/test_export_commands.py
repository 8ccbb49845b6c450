"""`forethought export` and `export-check` as scripts see them: whose labels, which tokenizer, what has changed since."""

import json
import os
import subprocess
import sys
from hashlib import sha256

import pytest
from embedders import HashingEmbedder
from runs import runs
from tiny_chat import write_tiny_chat
from tiny_folders import save_chatting_folder

from forethought.data.candidates import CandidateSet, written
from forethought.data.errors import ForethoughtError
from forethought.data.store import Store
from forethought.data.traces import Action, Outcome, Trace, Turn
from forethought.ui.chat_prompts import ChatPrompts
from forethought.ui.cli import main
from forethought.ui.exporting import export_set

SEARCH = written("I should look it up.", ["search"])
ANSWER = written("I know enough now.", ["answer"])
SET = CandidateSet("moves", (SEARCH, ANSWER))


@pytest.fixture
def call(monkeypatch, capsys):
    """Runs the command line in this process; what it printed, and its exit code."""

    def run_command(*arguments):
        monkeypatch.setattr("sys.argv", ["forethought", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as exit:
            code = int(exit.code or 0)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run_command


@pytest.fixture
def url(tmp_path):
    store = Store.open(tmp_path / "runs.db")
    store.add(runs(12))
    store.save_set(SET)
    return tmp_path / "runs.db"


@pytest.fixture
def records(url, tmp_path):
    """What an audit would have written: the second candidate is always the best, the first always taken."""
    path = tmp_path / "records.jsonl"
    rows = [
        {
            "trace": trace.id,
            "turn": index,
            "lp": {"candidates": {SEARCH.id: [-3.0, -1.0], ANSWER.id: [-1.0, -2.0]}},
            "selected": {"raw": SEARCH.id},
        }
        for trace in Store.open(url).traces()
        for index in range(len(trace.turns))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def candidates_in(folder) -> set[str]:
    return {json.loads(line)["candidate"] for line in (folder / "train.jsonl").open()}


@pytest.mark.parametrize(("label", "taken"), [("oracle", ANSWER), ("selected", SEARCH)])
def test_labels_of_an_audit_need_not_announce_the_action(
    call, url, records, tmp_path, label, taken
):
    where = ("--out", tmp_path / "out", "--store", url, "--include-test")
    code, out, err = call(
        "export", "moves", "--to", "trl-sft", *where, "--label", label, "--records", records, "--json"
    )  # fmt: skip

    assert code == 0, err
    manifest = json.loads(out)
    assert manifest["inputs"]["labels"] == label
    assert candidates_in(tmp_path / "out") == {taken.id}
    assert set(manifest["left_out"]) == {"failure"}


def test_labels_of_an_audit_need_its_records(call, url, records, tmp_path):
    asked = ("export", "moves", "--to", "swift", "--out", tmp_path, "--store", url)

    code, _, err = call(*asked, "--label", "oracle")
    assert code == 2 and "--records FILE" in err
    store = Store.open(url)
    more = written("I should read it again.", ["lookup"])
    store.save_set(CandidateSet("moves", (*SET.candidates, more)))
    code, _, err = call(*asked, "--label", "oracle", "--records", records)
    assert code == 2 and more.id in err and "audit it as it is now" in err
    assert not (tmp_path / "train.jsonl").exists()


@pytest.fixture
def exported(call, url, records, tmp_path):
    """A chat of every labelled turn."""
    folder = tmp_path / "chat"
    given = ("--label", "selected", "--records", records, "--include-test", "--store", url)
    assert call("export", "moves", "--to", "swift", "--out", folder, *given)[0] == 0
    return folder


def test_a_check_says_what_was_looked_at_and_what_was_not(call, url, exported):
    code, out, _ = call("export-check", exported, "--store", url, "--json")

    report = json.loads(out)
    assert (code, report["ok"]) == (0, True)
    checked = {check["check"]: check["of"] for check in report["checks"]}
    assert checked["messages"] == checked["loaded by datasets"] > 5
    assert "chat template" in {left["check"] for left in report["not_checked"]}


def test_a_chat_template_is_applied_to_every_row(call, url, exported, tmp_path):
    model = write_tiny_chat(tmp_path / "model")

    code, out, _ = call("export-check", exported, "--store", url, "--model", model, "--json")

    assert code == 0
    (check,) = (one for one in json.loads(out)["checks"] if one["check"] == "chat template")
    assert (check["of"] > 5, check["found"]) == (True, 0)


def test_a_tokenizer_without_a_chat_template_is_refused(call, url, exported, tmp_path):
    model = write_tiny_chat(tmp_path / "model", template=None)
    asked = ("export", "moves", "--to", "swift", "--out", tmp_path / "no", "--store", url)

    for told in (
        call("export-check", exported, "--model", model),
        call(*asked, "--model", model, "--prompt", "chat"),
        call(*asked, "--model", model),  # whose rows are chats unless asked otherwise
    ):
        assert told[0] == 2 and "no chat template" in told[2]
    assert not (tmp_path / "no").exists()
    assert call(*asked, "--model", model, "--prompt", "plain", "--include-test")[0] == 0


def seen(url, images) -> str:
    """A set with a candidate for a run that has seen a picture, kept where an import keeps it."""
    content = b"\x89PNG\r\n\x1a\n"
    name = f"{sha256(content).hexdigest()}.png"
    images.mkdir()
    (images / name).write_bytes(content)
    turns = (Turn((SEARCH.text,), (Action("search", {"input": "x"}),), ("found",), (name,)),)
    Store.open(url).add([Trace("What is on it?", turns, Outcome.SUCCESS, source="seen")])
    return "moves"


@pytest.mark.parametrize("target", ["trl-sft", "trl-dpo", "swift", "axolotl", "verl-sft"])
def test_rows_with_pictures_are_for_models_that_see(call, url, tmp_path, target):
    name, images = seen(url, tmp_path / "images"), ("--images", tmp_path / "images")
    asked = ("--to", target, "--out", tmp_path / "out", "--store", url, "--include-test")
    assert call("export", name, *asked, *images, "--prompt", "chat")[0] == 0

    check = ("export-check", tmp_path / "out", "--store", url, "--model")
    code, _, err = call(*check, write_tiny_chat(tmp_path / "model"))
    assert code == 2 and "reads text alone" in err and len(err.splitlines()) == 1
    code, out, _ = call(*check, save_chatting_folder(tmp_path / "seeing"), "--json")
    assert "chat template" in {one["check"] for one in json.loads(out)["checks"]}


def test_pictures_that_plain_rows_do_not_show_are_told(call, url, tmp_path):
    name, images = seen(url, tmp_path / "images"), ("--images", tmp_path / "images")
    asked = ("--to", "trl-sft", "--out", tmp_path / "out", "--store", url, "--include-test")

    said = " ".join(call("export", name, *asked, *images)[1].split())
    assert "not shown, since the rows are plain: 1; `forethought export moves" in said
    assert "not shown" not in call("export", name, *asked, *images, "--prompt", "chat")[1]


def test_a_set_that_changed_after_its_export_is_told(call, url, exported):
    Store.open(url).save_set(CandidateSet("moves", (SEARCH,)))

    code, out, _ = call("export-check", exported, "--store", url, "--json")

    (check,) = (one for one in json.loads(out)["checks"] if one["found"])
    assert (code, check["check"]) == (1, "set")
    assert "has changed since" in check["problems"][0]


def test_token_ids_are_those_of_the_tokenizer_that_is_named(call, url, tmp_path):
    model = write_tiny_chat(tmp_path / "model")
    asked = ("export", "moves", "--to", "tokens", "--out", tmp_path / "out", "--store", url)
    assert call(*asked, "--model", model)[0] == 0

    told = json.loads((tmp_path / "out" / "tokens.json").read_text())
    assert len(told["candidates"][SEARCH.id]["ids"]) == len("<thinking></thinking>" + SEARCH.text)
    check = ("export-check", tmp_path / "out", "--store", url)
    assert call(*check, "--model", model)[0] == 0
    told["candidates"][SEARCH.id]["ids"][0] += 1
    (tmp_path / "out" / "tokens.json").write_text(json.dumps(told))
    code, out, _ = call(*check, "--model", model, "--json")
    problems = {one["check"]: one["problems"] for one in json.loads(out)["checks"]}
    assert code == 1
    assert problems["tokens"] == [f"{SEARCH.id}: its ids do not say its text"]


def test_a_table_for_people_names_what_is_wrong(call, url, exported):
    (exported / "train.jsonl").write_text("{}\n")

    code, out, _ = call("export-check", exported, "--store", url)

    assert code == 1
    assert "was changed since" in out and "not ok" in out and "not checked: " in out


class Meanwhile(HashingEmbedder):
    """Calls for something else when the first text is to be embedded."""

    def __init__(self, act):
        self.act = act

    def embed(self, texts):
        act, self.act = self.act, lambda: None
        act()
        return super().embed(texts)


def test_a_second_export_into_the_folder_is_told_and_the_first_goes_on(url, tmp_path):
    store, told = Store.open(url), []

    def export_too():
        for to in ("swift", "csv"):
            with pytest.raises(ForethoughtError, match="out: another .* writes there") as error:
                export_set(store, SET, to, tmp_path / "out", HashingEmbedder())
            told.append(str(error.value))
        export_set(store, SET, "swift", tmp_path / "elsewhere", HashingEmbedder())

    manifest = export_set(store, SET, "trl-sft", tmp_path / "out", Meanwhile(export_too))

    assert len(told) == 2
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left == {*manifest["files"], "manifest.json"}


def test_records_that_no_label_would_be_told_by_are_named(call, url, records, tmp_path):
    asked = ("--out", tmp_path / "out", "--store", url)
    for path in (records, tmp_path / "nofile"):
        for to, why in (("swift", "assigned by the rule"), ("csv", "no turns to be labelled")):
            code, _, err = call("export", "moves", "--to", to, *asked, "--records", path)
            assert code == 2 and why in err and len(err.splitlines()) == 1
    labelled = ("--label", "oracle", "--records", tmp_path / "nofile")
    code, _, err = call("export", "moves", "--to", "swift", *asked, *labelled)
    assert code == 2 and "nofile" in err
    assert not (tmp_path / "out").exists()


MISTAKEN = {
    "candidate set": ("export", "nosuch", "--to", "swift", "--out", "out"),
    "export format": ("export", "moves", "--to", "nosuch", "--out", "out"),
    "set to train on": ("train", "nosuch"),
    "source": ("train", "moves", "--source", "nosuch"),
    "folder": ("export-check", "nosuch"),
}
PROGRAM = """
import json, sys
from forethought.ui.cli import main
sys.argv = ["forethought", *json.loads(sys.argv[1])]
try:
    main()
except SystemExit as end:
    print(end.code, "torch" in sys.modules)
"""


@pytest.mark.parametrize("arguments", MISTAKEN.values(), ids=MISTAKEN)
def test_a_mistaken_name_is_told_before_torch_is_loaded(arguments, url, tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(arguments)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"FORETHOUGHT_STORE": str(url)},
    )

    assert found.stdout.split() == ["2", "False"]
    assert "nosuch" in found.stderr and len(found.stderr.splitlines()) == 1


def tooled(source: str, name: str, arguments: dict) -> Trace:
    return Trace("Q?", (Turn(("t",), (Action(name, arguments),), ("o",)),), source=source)


def test_a_prompt_lists_the_sets_texts_and_the_tools_of_its_source():
    traces = [
        tooled("a", "text_search_tool", {"query": "x"}),
        tooled("a", "lookup", {"term": "x", "n": 1}),
        tooled("a", "lookup", {"term": "y"}),
        tooled("b", "finish", {"input": "x"}),
    ]
    prompts = ChatPrompts.of(traces, SET)

    first, second = prompts.system(traces[0]), prompts.system(traces[3])
    assert '"I should look it up."  (expected action: search)' in first
    listed = first.rpartition("<tools>\n")[2].partition("</tools>")[0].splitlines()
    assert [json.loads(line)["function"]["name"] for line in listed] == [
        "text_search_tool",
        "lookup",
    ]
    own = json.loads(listed[1])["function"]["parameters"]
    assert own["properties"] == {"term": {"type": "string"}, "n": {"type": "number"}}
    assert own["required"] == ["term"]
    assert '"type": "function"' not in second


def test_where_questions_have_tools_of_their_own_each_is_told_its_own():
    traces = [tooled("a", f"tool_{n}", {"x": n}) for n in range(40)]

    prompt = ChatPrompts.of(traces, SET).system(traces[7])

    assert "tool_7" in prompt and "tool_8" not in prompt
