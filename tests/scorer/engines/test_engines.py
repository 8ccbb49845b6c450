"""Engines of one protocol: each must equal the plain scorer when its server is honest, and say so when it is not."""

from itertools import pairwise

import numpy as np
import pytest
from engine_clients import ENGINES, JUNK, PATIENCE, connect, places, spoiled
from engine_server import EngineServer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_models import END, tiny_model

from forethought.data.errors import EngineError, NothingToDo
from forethought.data.render import render_thought
from forethought.scorer.engines.engine import expected_model
from forethought.scorer.engines.local import LocalEngine
from forethought.scorer.engines.transport import Transport
from forethought.scorer.engines.vllm import ROWS_AT_ONCE
from forethought.scorer.model import load_model
from forethought.scorer.plain import score_plainly

CONTEXT = [*b"Question: who?\n"]
SEQUENCES = [[*b"<t>search</t>"], [*b"<t>answer</t>"], [*b"<t>s"]]
ids = st.integers(0, END)


@pytest.fixture(params=ENGINES)
def server(request):
    with EngineServer(tiny_model(), request.param) as running:
        yield running


@pytest.fixture
def damaged(server):
    """What an engine says of a server whose rows are changed by a function."""

    def say(damage):
        engine = connect(server)
        server.damage = damage
        with pytest.raises(EngineError) as caught:
            engine.score(CONTEXT, SEQUENCES)
        assert "\n" not in str(caught.value)
        return str(caught.value).removeprefix(engine.label)

    return say


def close(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == np.float64
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_an_honest_server_equals_the_plain_scorer(server, data):
    """Any ids, the vocabulary's last one among them; any starts; with and without a context."""
    context = data.draw(st.lists(ids, max_size=8))
    sequences = data.draw(st.lists(st.lists(ids, min_size=2, max_size=6), min_size=1, max_size=4))
    starts = [data.draw(st.integers(0 if context else 1, len(one) - 1)) for one in sequences]

    found = connect(server).score(context, sequences, starts)

    close(found, score_plainly(server.model, context, sequences, starts))


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_the_local_engine_equals_the_plain_scorer_over_turns(data):
    """Contexts that grow, shrink and branch: only what differs is computed, and nothing is left over."""
    engine = LocalEngine(tiny_model())
    for _ in range(3):
        context = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=6))
        close(engine.score(context, SEQUENCES), score_plainly(tiny_model(), context, SEQUENCES))


def test_no_candidates_are_no_scores(server):
    assert connect(server).score(CONTEXT, []) == ()


def test_an_empty_context_predicts_no_first_token(server):
    with pytest.raises(NothingToDo):
        connect(server).score([], SEQUENCES)


def test_every_engine_has_its_own_label(server):
    version = {"sglang": "sglang 0.5.23", "vllm": "vllm 0.33.0"}[server.kind]

    assert connect(server).label == f"{version} at {server.url}"
    assert LocalEngine(tiny_model()).label == "forethought: llama, float32 on cpu"


def test_what_the_engine_took_is_kept_apart(server):
    times = connect(server).score_timed(CONTEXT, SEQUENCES).milliseconds

    assert all(taken > 0 for taken in times.values())
    assert set(times) == ({"prefill", "score"} if server.kind == "sglang" else {"score"})


def test_sglang_prefills_the_context_once_and_scores_from_its_last_token():
    with EngineServer(tiny_model(), "sglang") as server:
        connect(server).score(CONTEXT, SEQUENCES, [0, 2, 0])
        prefill, scoring = server.posted("/generate")

    assert prefill["input_ids"] == [CONTEXT]
    assert "return_logprob" not in prefill
    assert scoring["logprob_start_len"] == [len(CONTEXT) - 1, len(CONTEXT) + 1, len(CONTEXT) - 1]
    assert scoring["sampling_params"]["max_new_tokens"] == 0


def test_an_older_sglang_is_asked_by_its_older_paths():
    with EngineServer(tiny_model(), "sglang", old=True) as server:
        assert connect(server).label.startswith("sglang 0.5.23")


def test_vllm_is_asked_under_the_name_it_serves_in_bounded_groups():
    with EngineServer(tiny_model(), "vllm") as server:
        found = connect(server).score(CONTEXT, [[1, 2]] * (ROWS_AT_ONCE + 1))
        bodies = server.posted("/v1/completions")

    assert len(found) == ROWS_AT_ONCE + 1
    assert [len(body["prompt"]) for body in bodies] == [ROWS_AT_ONCE, 1]
    assert {body["model"] for body in bodies} == {"served-as"}


def test_a_token_of_certain_probability_counts_as_a_token(server):
    """A zero among others is a probability of one, and stays."""
    engine = connect(server)
    server.damage = lambda rows: [[*row[:-1], row[-1]._replace(log_prob=0.0)] for row in rows]

    assert engine.score(CONTEXT, SEQUENCES)[0][-1] == 0.0


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "no log-probability came back"),
        (float("nan"), "nan came back, which is no log-probability"),
        (float("-inf"), "-inf came back"),
        ("-1.5", "'-1.5' came back"),
        (2.5, "2.5 came back, above the log of 1"),
    ],
)
def test_what_is_no_log_probability_is_named_with_candidate_and_token(damaged, value, said):
    def damage(rows):
        rows[1][len(CONTEXT) + 3] = rows[1][len(CONTEXT) + 3]._replace(log_prob=value)
        return rows

    assert damaged(damage).startswith(f", candidate 2 of 3, token 5 of {len(SEQUENCES[1])}: {said}")


def test_vllms_word_for_minus_infinity_is_no_score():
    with EngineServer(tiny_model(), "vllm") as server:
        engine = connect(server)
        server.damage = lambda rows: [[one._replace(log_prob=-9999.0) for one in r] for r in rows]
        with pytest.raises(EngineError, match="candidate 1 of 3, token 1 of 13"):
            engine.score(CONTEXT, SEQUENCES)


def test_tokens_shifted_by_one_are_misaligned(damaged):
    def shift(rows):
        return [
            [one._replace(token=before.token) for before, one in pairwise([row[0], *row])]
            for row in rows
        ]

    said = damaged(shift)

    assert "candidate 1 of 3, token 1" in said
    assert "the engine changes the tokens" in said


def test_too_few_log_probabilities_are_counted(damaged):
    assert "log-probabilities came back" in damaged(lambda rows: [row[:-1] for row in rows])


def test_a_missing_row_is_counted(damaged):
    assert "2 answers came back for 3 rows" in damaged(lambda rows: rows[:-1])


def test_zeros_everywhere_are_no_scores(damaged):
    said = damaged(lambda rows: [[one._replace(log_prob=0.0) for one in row] for row in rows])

    assert "every log-probability is 0.0" in said


@pytest.mark.parametrize("kind", ENGINES)
def test_a_server_of_another_model_is_refused_by_name(kind):
    with EngineServer(tiny_model(), kind, name="org/other") as server:
        with pytest.raises(EngineError, match="org/other.*not llama"):
            connect(server)


def test_a_server_of_another_tokenizer_is_refused(server):
    server.encode = lambda text: [1, *text.encode()]

    with pytest.raises(EngineError, match="cuts text into other tokens"):
        connect(server)


def test_the_same_model_in_another_place_is_the_same(server):
    connect(server, name="/models/LLAMA/")


def test_a_model_is_known_by_the_name_that_it_is_served_under(server):
    server.name, server.alias = "/cache/5f3e0a", "mine"

    connect(server, name="mine")


@pytest.mark.parametrize("kind", ENGINES)
def test_the_other_engines_server_is_no_engine(kind):
    other = {"sglang": "vllm", "vllm": "sglang"}[kind]
    with EngineServer(tiny_model(), other) as server:
        with pytest.raises(EngineError, match="HTTP 404"):
            ENGINES[kind](Transport(server.url, PATIENCE), expected_model(server.model))


@pytest.mark.parametrize("kind", ENGINES)
def test_smollm2_behind_either_engine_scores_as_it_does_here(kind):
    model = load_model()
    context = model.encode("Question: Who built the bridge of Ulm?\n")
    texts = ["I need to search for it.", "I have found the answer."]
    thoughts = [model.encode(render_thought(text)) for text in texts]
    with EngineServer(model, kind, name="HuggingFaceTB/SmolLM2-135M-Instruct") as server:
        found = connect(server).score(context, thoughts)

    close(found, score_plainly(model, context, thoughts))


@given(data=st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_answer_with_junk_anywhere_is_one_line_or_the_right_scores(server, data):
    if not hasattr(server, "truth"):
        server.truth = server.answer
        server.seen = score_plainly(server.model, CONTEXT, SEQUENCES)
        server.paths = [
            path for path, *_ in (connect(server).score(CONTEXT, SEQUENCES), server.requests)[1]
        ]
    target, junk = (
        data.draw(st.sampled_from(sorted({*server.paths}))),
        data.draw(st.sampled_from(JUNK)),
    )

    def answer(path, body):
        found = server.truth(path, body)
        if path != target or found is None:
            return found
        return spoiled(found, data.draw(st.sampled_from([(), *places(found)])), junk)

    server.answer = answer
    try:
        close(connect(server).score(CONTEXT, SEQUENCES), server.seen)
    except EngineError as error:
        assert "\n" not in str(error)
