"""Every row of the table: its samples, what it leaves to others, and that nothing makes it raise."""

from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.errors import UnknownTraceFormat
from forethought.data.formats import FORMATS, Quarantined, Skipped, read_traces
from forethought.data.traces import Action, Outcome, Trace, Turn

SAMPLES = Path(__file__).parent / "samples"
SHIPPED = Path(str(files("forethought.data"))) / "samples"

# All samples tell of this run; only the layout differs.
RUN = Trace(
    question="Who wrote the novel that the film Blade Runner is based on?",
    turns=(
        Turn(
            ("I need to find the novel behind the film.",),
            (Action("search", {"input": "novel behind Blade Runner"}),),
            ("Blade Runner is based on Do Androids Dream of Electric Sheep? by Philip K. Dick.",),
        ),
        Turn(
            ("The novel is known, so I can answer now.",),
            (Action("finish", {"input": "Philip K. Dick"}),),
            ("",),
        ),
    ),
)
# Formats whose files do not say how a run ended, or need not; and files that begin with a line that is no part of the run.
UNJUDGED = {
    "swe-agent.history.traj",
    "swe-agent.run.traj",
    "mini-swe-agent.traj.json",
    "openai-responses.codex.jsonl",
    "response-chain.linked.jsonl",
    "smolagents.steps.json",
    "atif.trajectory.json",
    "browsecomp-plus.run.json",
    "session-trace.sts.jsonl",
    "claude-code.session.jsonl",
    "otel-genai.otlp.json",
    "openinference.spans.jsonl",
    "langfuse.observations.jsonl",
    "weave.calls.jsonl",
    "request-log.proxy.jsonl",
    "toolbench-chain.tooleval.json",
}
HEADED = {"openai-responses.codex.jsonl", "claude-code.session.jsonl"}
OTHER_RUNS = {"webvoyager", "visual-sketchpad", "visual-arft-log"}  # see test_formats_pictures.py

TEXTS = st.sampled_from(
    (
        "",
        "Thought: a\nAction: search[b]",
        "Action:",
        "Action: [",
        "Observation: c",
        "### Instruction:\nq\n### Response:\nThought: a",
        "<think>a<tool_call>{",
        '<tool_call>{"name": 1}</tool_call></think>',
        "<answer>",
        "Question: q",
        "\x00\u2028",
    )
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
CALLS = st.fixed_dictionaries(
    {"function": st.fixed_dictionaries({"name": TEXTS | LEAVES, "arguments": LEAVES})},
    optional={"id": LEAVES},
)
PARTS = st.fixed_dictionaries({"type": st.sampled_from(("text", "image_url", "x")), "text": LEAVES})
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(("system", "user", "assistant", "tool", "robot"))},
    optional={
        "content": LEAVES | st.lists(PARTS | LEAVES, max_size=2),
        "reasoning": LEAVES,
        "reasoning_content": LEAVES,
        "tool_calls": LEAVES | st.lists(CALLS | LEAVES, max_size=3),
        "tool_call_id": LEAVES,
    },
)
LISTS = LEAVES | st.lists(MESSAGES, max_size=5) | st.lists(LEAVES, max_size=2)
DOCUMENTS = LEAVES | st.fixed_dictionaries(
    {},
    optional={
        "messages": LISTS,
        "traj": LISTS,
        "instruction": LEAVES,
        "input": LEAVES,
        "output": LEAVES,
        "em": LEAVES,
        "reward": LEAVES | st.just(10**400),
    },
)


def samples_of(name):
    return sorted(SAMPLES.glob(f"{name}.*"))


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_has_a_sample(row):
    assert samples_of(row.name)


@pytest.mark.parametrize(
    "row", [row for row in FORMATS if row.name not in OTHER_RUNS], ids=lambda row: row.name
)
def test_the_same_run_is_the_same_trace_in_every_layout(row):
    for sample in samples_of(row.name):
        (trace,) = read_traces([sample])
        assert (trace.question, trace.turns) == (RUN.question, RUN.turns), sample.name
        assert trace.id == RUN.id
        assert trace.outcome is (None if sample.name in UNJUDGED else Outcome.SUCCESS), sample.name
        first = 2 if sample.name in HEADED else 1
        assert (trace.format, trace.source, trace.position) == (row.name, "samples", first)


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_a_format_asked_for_by_name_is_the_only_one_tried(row):
    found = list(read_traces([SAMPLES], format=row.name))
    read = [entry for entry in found if isinstance(entry, Trace)]
    assert {trace.format for trace in read} == {row.name}
    assert {trace.file for trace in read} >= set(map(str, samples_of(row.name)))
    assert all(isinstance(entry, Trace | Skipped) for entry in found)


def test_an_unknown_format_name_is_refused_with_the_known_ones():
    with pytest.raises(UnknownTraceFormat, match="react-text, webvoyager, react-chat"):
        read_traces([SAMPLES], format="gopher")


@given(DOCUMENTS)
def test_no_document_makes_a_detector_or_its_reader_raise(document):
    for row in FORMATS:
        if row.detects(document):
            for trace in row.traces(document):
                assert all(len(turn.observations) == len(turn.actions) for turn in trace.turns)
                assert all(turn.thoughts or turn.actions for turn in trace.turns)
                assert trace.id.startswith("t_")


@pytest.mark.parametrize(
    "document",
    [
        {"messages": [{"role": "human", "content": "hi"}]},
        {"messages": [{"role": "narrator", "content": "hi"}]},
        {"choices": ["A", "B"], "prompt": "Which?"},
        {"input": "a + b", "output": "c", "score": 1.0},
        {"prompt": "Tell me.", "completion": "No tags here."},
        {"steps": [{"name": "build"}]},
        {"result": [1, 2]},
        {"tree": {"tree": {}}},
        {"nodes": [{"id": 1}]},
        {"eval": {}, "samples": []},
        "------------- BEGIN NOTES -------------",
        "<think> alone",
        {"instruction": "Translate.", "input": "", "output": "Bonjour."},
        {"traj": "You are in a room.\n> Think: where?\n> go to shelf 1"},
        {"input": "...", "output": "Thought 1: a\nAction 1: Search[b]"},
        [{"role": "user", "content": "hi"}],
        {},
        None,
    ],
    ids=repr,
)
def test_what_only_looks_like_a_trace_is_left_alone(document):
    assert not any(row.detects(document) for row in FORMATS)


@pytest.mark.parametrize(
    ("file", "traces", "turns", "thoughts", "actions", "successes"),
    [
        ("fireact-gpt-3.5.json.gz", 465, 1241, 1374, 1374, 200),
        ("fireact-llama-2-13b.json.gz", 499, 1644, 1644, 1643, 172),
        ("fireact-llama-2-7b.json.gz", 500, 1779, 1779, 1778, 131),
    ],
)
def test_the_shipped_traces_are_read_whole(file, traces, turns, thoughts, actions, successes):
    found = list(read_traces([SHIPPED / file]))
    assert not [entry for entry in found if isinstance(entry, Quarantined | Skipped)]
    assert len(found) == traces
    assert sum(len(trace.turns) for trace in found) == turns
    assert sum(trace.num_thoughts for trace in found) == thoughts
    assert sum(len(turn.actions) for trace in found for turn in trace.turns) == actions
    assert sum(trace.outcome is Outcome.SUCCESS for trace in found) == successes
    assert not any("Episode finished" in str(trace.turns) for trace in found)
