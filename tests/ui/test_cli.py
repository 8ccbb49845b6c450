"""The command line as a script sees it: JSON keys, exit codes, one line for each mistake."""

import json

import pytest
from runs import AGAIN, run, runs

from forethought.data.store import Store
from forethought.ui.cli import main


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
def script(call):
    """Runs a command with --json; the document, after an exit code of 0."""

    def run_script(*arguments):
        code, out, err = call(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return run_script


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A store with 60 runs of known moves and the set mined from them."""
    url = tmp_path_factory.mktemp("filled") / "runs.db"
    store = Store.open(url)
    store.add(runs(60))
    return url


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    path = tmp_path_factory.mktemp("context") / "turn.txt"
    path.write_text("Question: Who built the bridge?\n", "utf-8")
    return path


def messages(number: int) -> dict:
    """A run as ReAct chat messages."""
    trace = run(number)
    found = [{"role": "user", "content": trace.question}]
    for turn in trace.turns:
        action = turn.actions[0]
        content = f"Thought: {turn.thoughts[0]}\nAction: {action.name}[{action.arguments['input']}]"
        found.append({"role": "assistant", "content": content})
        found.append({"role": "user", "content": f"Observation: {turn.observations[0]}"})
    return {"messages": found}


@pytest.fixture
def exported(tmp_path):
    path = tmp_path / "traces" / "runs.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(messages(n)) + "\n" for n in range(5)), "utf-8")
    return path


def test_import_counts_what_came_in_and_what_was_known(script, tmp_path, exported):
    store = tmp_path / "a.db"
    first = script("import", exported, "--store", store)
    again = script("import", exported, "--store", store)

    assert {k: first[k] for k in ("traces", "duplicates", "quarantined")} == {
        "traces": 5,
        "duplicates": 0,
        "quarantined": 0,
    }
    assert first["turns"] == first["thoughts"] == sum(len(run(n).turns) for n in range(5))
    assert (again["traces"], again["turns"], again["duplicates"]) == (0, 0, 5)


def test_a_truncated_line_is_quarantined_named_and_exits_3(call, tmp_path, exported):
    with exported.open("a") as file:
        file.write('{"messages": [{"role": "user", "con')
    code, out, _ = call("import", exported, "--store", tmp_path / "a.db", "--json")

    assert code == 3
    assert json.loads(out)["traces"] == 5
    assert json.loads(out)["quarantined"] == 1
    assert json.loads(out)["problems"][0]["position"] == 6


def test_a_file_that_is_no_trace_is_skipped_and_named(script, tmp_path, exported):
    (exported.parent / "other.json").write_text('{"colour": "blue"}')
    found = script("import", exported.parent, "--store", tmp_path / "a.db")

    assert found["traces"] == 5
    assert [one["file"].endswith("other.json") for one in found["skipped"]] == [True]


def test_a_named_file_that_is_no_trace_is_no_success(call, tmp_path, exported):
    other = exported.parent / "other.json"
    other.write_text('{"colour": "blue"}')
    code, out, _ = call("import", exported, other, "--store", tmp_path / "a.db", "--json")

    assert code == 3
    assert json.loads(out)["traces"] == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("import", "nowhere.json"), "nowhere.json"),
        (("traces", "list", "--store", "nowhere.db"), "no store there"),
        (("mine", "--store", "nowhere.db"), "no store there"),
        (("import", "."), "no file to import"),
        (("ui", "--store", "nowhere.db"), "no store there"),
        (("audit", "ssr", "--fail-under", "foo=0"), "no figure"),
        (("audit", "ssr", "--report", "."), "cannot write"),
        (("sets", "show", "nothing"), "no candidate set"),
        (("score", "ssr", "--context", "nowhere.txt"), "no such file"),
        (("score", "ssr", "--context", "x", "--alpha", "nan"), "finite"),
        (("score", "ssr", "--context", "x", "--tau", "inf"), "finite"),
        (("score", "ssr", "--context", "x", "--normalisation", "foo"), "sum, mean, byte"),
        (("score", "ssr", "--context", "x", "--normalisation", "alpha=nan"), "finite"),
        (("score", "ssr", "--context", "x", "--normalisation", "sum", "--alpha", "0"), "not both"),
        (("audit", "ssr", "--alpha", "inf"), "finite"),
        (("audit", "ssr", "--store", "nowhere.db"), "no store there"),
        (("audit", "ssr", "--store", "nowhere.db", "--fail-under", "x"), "METRIC=NUMBER"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(call, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*arguments)

    assert (code, out) == (2, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err
    assert not (tmp_path / "nowhere.db").exists()


def test_a_model_that_does_not_exist_is_one_line(call, context, tmp_path):
    code, _, err = call("score", "ssr", "--context", context, "--model", tmp_path / "no-model")

    assert code == 2
    assert "no-model" in err
    assert len(err.strip().splitlines()) == 1


def test_a_file_that_is_no_store_is_one_line(call, tmp_path):
    (tmp_path / "text.db").write_text("hello " * 500)
    code, _, err = call("traces", "list", "--store", tmp_path / "text.db")

    assert code == 2
    assert len(err.strip().splitlines()) == 1


def test_traces_are_listed_and_shown_in_full(script, filled):
    listed = script("traces", "list", "--store", filled)
    shown = script("traces", "show", run(6).id, "--store", filled)

    assert len(listed) == 60
    assert {"id", "question", "outcome", "turns"} <= listed[0].keys()
    assert shown["question"] == run(6).question
    assert shown["outcome"] == "success"
    assert len(shown["turns"]) == 4
    first = shown["turns"][0]
    assert first["thoughts"] == list(run(6).turns[0].thoughts)
    assert first["actions"][0] == {
        "name": "search",
        "arguments": run(6).turns[0].actions[0].arguments,
    }
    assert len(first["observations"]) == len(first["actions"])
    assert first["images"] == []


def test_a_mined_set_is_shown_with_counts_and_the_authors_hash(script, filled):
    mined = script("mine", "--name", "moves", "--store", filled)
    shown = script("sets", "show", "moves", "--store", filled)

    assert shown["candidates"] == mined["candidates"]
    again = next(c for c in shown["candidates"] if c["text"] == AGAIN)
    assert again["expected_actions"] == ["search"]
    assert again["support"] >= again["questions"] > 0
    assert again["status"] == "proposed"
    assert script("sets", "list", "--store", filled)[0]["hash"] == shown["hash"]


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31mred", "x[:2]", "ssr", "n" * 5000])
def test_a_set_has_a_name_that_can_be_told_apart(call, filled, name):
    code, _, err = call("mine", f"--name={name}", "--store", filled)

    assert code == 2
    assert "\x1b" not in err
    assert len(err.strip().splitlines()) == 1


def test_an_unknown_source_names_those_there_are(call, filled):
    code, _, err = call("mine", "--source", "nope", "--store", filled)

    assert code == 2
    assert "bridges" in err


def test_arguments_that_are_no_json_are_kept_word_for_word(script, tmp_path):
    arguments = '{"a": NaN, "b": 1e999}'
    call_ = {"id": "c", "type": "function", "function": {"name": "search", "arguments": arguments}}
    trace = [
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "Look.", "tool_calls": [call_]},
    ]
    (tmp_path / "nan.jsonl").write_text(json.dumps({"messages": trace}) + "\n")
    script("import", tmp_path / "nan.jsonl", "--store", tmp_path / "a.db")
    id = script("traces", "list", "--store", tmp_path / "a.db")[0]["id"]
    shown = script("traces", "show", id, "--store", tmp_path / "a.db")

    assert shown["turns"][0]["actions"] == [{"name": "search", "arguments": {"raw": arguments}}]


def test_a_context_longer_than_the_model_takes_is_one_line(call, tmp_path):
    (tmp_path / "long.txt").write_text("word " * 9000)
    code, _, err = call("score", "ssr", "--context", tmp_path / "long.txt")

    assert code == 2
    assert "8192" in err


def test_the_authors_library_has_the_authors_hash(script):
    assert script("sets", "show", "ssr")["hash"].startswith("685fe90dd039a20d")


def test_both_scorers_say_the_same(script, context):
    plain, shared = (
        script("score", "ssr", "--context", context, "--method", method)
        for method in ("plain", "shared")
    )

    assert plain["selected"] == shared["selected"]
    for one, other in zip(plain["candidates"], shared["candidates"], strict=True):
        assert one["id"] == other["id"]
        assert one["tokens"] == other["tokens"]
        assert one["sum"] == pytest.approx(other["sum"], abs=2e-5 * one["tokens"])
        assert one["score"] == pytest.approx(one["sum"] / one["tokens"])
    assert sum(c["probability"] for c in shared["candidates"]) == pytest.approx(1)
    assert shared["milliseconds"]["total"] > 0


def test_alpha_tau_and_calibration_change_what_they_say(script, context):
    base = ("score", "ssr", "--context", context)
    raw, total, best, pmi = (
        script(*base),
        script(*base, "--alpha", "0"),
        script(*base, "--tau", "0"),
        script(*base, "--calibration", "pmi"),
    )

    assert total["candidates"][0]["score"] == pytest.approx(raw["candidates"][0]["sum"])
    assert sorted(c["probability"] for c in best["candidates"]) == [0, 0, 0, 0, 0, 1]
    assert pmi["candidates"][0]["sum"] == pytest.approx(raw["candidates"][0]["sum"])
    assert pmi["candidates"][0]["score"] != pytest.approx(raw["candidates"][0]["score"])


def test_a_warning_is_a_line_on_standard_error_and_in_the_json(call, tmp_path):
    path = tmp_path / "turn.txt"
    path.write_text("Question: Who?\nObservation: \n", "utf-8")
    options = ("--normalisation", "byte", "--constrained")
    code, out, err = call("score", "ssr", "--context", path, *options, "--json")

    found = json.loads(out)
    assert code == 0
    assert err == f"warning: {found['warnings'][0]}\n"
    assert "6 of 6 candidates" in err
    assert found["options"]["constrained"] is True
    assert all(row["score"] == row["sum"] / row["bytes"] for row in found["candidates"])
    code, out, _ = call("score", "ssr", "--context", path, *options)
    assert "score by byte; log Z" in out
    assert "constrained decoding" in out


def test_batch_calibration_needs_turns_to_average_over(call, script, context, filled, tmp_path):
    base = ("score", "handwritten", "--context", context, "--calibration", "batch", "--store")
    code, _, err = call(*base, tmp_path / "none.db")

    assert code == 2
    assert "batch calibration" in err
    first, again = script(*base, filled), script(*base, filled)
    assert first["candidates"] == again["candidates"]


def test_an_audit_keeps_its_contract(call, script, filled, tmp_path):
    script("mine", "--name", "audited", "--budget", "3", "--store", filled)
    records = tmp_path / "records.jsonl"
    base = ("audit", "audited", "handwritten", "--store", filled, "--limit", "4", "--no-oracle")
    report = script(*base, "--records", records, "--report", tmp_path / "report.html")

    for figure in ("assigned_recovery", "routed_recovery", "constant_recovery", "oracle_recovery"):
        assert {"value", "low", "high", "n"} <= report[figure].keys()
    assert report["selected_recovery"].keys() == {"raw", "pmi", "batch"}
    assert {"kind_nats", "arguments"} <= report["assigned_recovery"].keys()
    assert {"select", "think", "think_65"} <= report["latency"].keys()
    assert "handwritten" in report["differences"]
    assert report["fit"] is None, "three choose turns are too few to fit anything to"
    lines = [json.loads(line) for line in records.read_text("utf-8").splitlines()]
    assert {line["split"] for line in lines} == {"test", "choose"}
    assert set(lines[0]) >= {
        *("question", "split", "trace", "turn", "kind", "context_hash", "action"),
        *("lp", "assigned", "scores", "selected"),
    }
    assert set(lines[0]["lp"]) >= {"free", "empty", "neutral", "candidates"}
    assert len(lines[0]["lp"]["neutral"]) == 5
    assert (tmp_path / "report.html").stat().st_size > 10_000

    code, _, err = call(*base, "--fail-under", "escape=2", "--json")
    assert code == 1
    assert "escape is" in err


def test_exports_are_written_with_their_manifest(script, filled, tmp_path):
    script("mine", "--name", "out", "--store", filled)
    for dialect in ("ssr-library", "trl-sft"):
        manifest = script(
            "export", "out", "--to", dialect, "--out", tmp_path / dialect, "--store", filled
        )
        assert set(manifest["files"]) < {path.name for path in (tmp_path / dialect).iterdir()}
    rows = [json.loads(r) for r in (tmp_path / "trl-sft" / "train.jsonl").open(encoding="utf-8")]
    assert rows[0]["completion"][0]["content"].startswith("<thinking>")
    assert all(row["split"] != "test" for row in rows)
    again = script("sets", "show", tmp_path / "ssr-library" / "reasoning_library.json")
    assert again["hash"] == script("sets", "show", "out", "--store", filled)["hash"]


def test_a_whole_store_checks_out_and_a_damaged_one_exits_1(call, script, filled, tmp_path):
    assert script("check", "--store", filled) == {"ok": True, "problems": []}
    store = Store.open(tmp_path / "b.db")
    store.add(runs(2))
    with store.database.writing() as session:
        session.connection().exec_driver_sql("UPDATE trace SET num_turns = 99")
    code, out, _ = call("check", "--store", tmp_path / "b.db", "--json")

    assert code in (0, 1)
    assert json.loads(out)["ok"] == (code == 0)


def test_mining_can_grow_a_set_by_what_was_imported_since(script, tmp_path):
    url = tmp_path / "grown.db"
    Store.open(url).add(runs(40))
    mined = script("mine", "--name", "moves", "--store", url)
    Store.open(url).add(runs(46))

    grown = script("mine", "--grow", "moves", "--store", url)

    ids = [candidate["id"] for candidate in mined["candidates"]]
    assert [c["id"] for c in grown["candidates"]][: len(ids)] == ids
    assert grown["growth"]["num_new"] >= grown["growth"]["num_placed"] >= 0
    assert script("mine", "--grow", "moves", "--store", url)["growth"]["num_new"] == 0
