"""The rollouts that exports to verl, OpenRLHF and ms-swift carry, played with a tiny network in the engine's place.

Against stand-ins of the frameworks (tests/support/hook_stand_ins.py), and against the frameworks themselves where they are installed.
"""

import asyncio
import importlib.util
import inspect
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hook_engines import OpenRLHFEngine, SwiftEngine, VerlServer
from hook_stand_ins import FILES, HOOKS, SET, load

from forethought.data.library import library_hash
from forethought.scorer.training.selector import competitors, log_q, log_q_against, scores

CALL = '<tool_call>{"name": "search", "arguments": {"query": "bridge"}}</tool_call>'
ANSWER = "<answer>The 1932</answer>"
PROMPT = [{"role": "user", "content": "Which year was this bridge opened?"}]
INFO = {"library_sha256": library_hash(SET), "alpha": 0.5, "tau": 0.7}


def real(framework):
    """The name, skipped with a reason where the framework is not installed."""
    missing = importlib.util.find_spec(framework) is None
    reason = f"{framework} is not installed; docs/export.md says with which version this was run"
    return pytest.param(
        (framework, "real"), marks=pytest.mark.skipif(missing, reason=reason), id=framework
    )


def stand_in(framework):
    return pytest.param((framework, "stand-in"), id=f"{framework}-stand-in")


class Run(dict):
    """`ids` and `mask` of all that was said after the prompt, `record`, the `engine` that played it."""

    __getattr__ = dict.__getitem__


def play_openrlhf(which, hook, actions, info=INFO, temperature=1.0):
    engine = OpenRLHFEngine(*actions)
    hook.ALPHA, hook.TAU = info["alpha"], info["tau"]
    params = SimpleNamespace(
        max_tokens=200,
        temperature=temperature,
        logprobs=1,
        prompt_logprobs=None,
        skip_reading_prefix_cache=False,
    )
    prompt = engine.tokenizer.apply_chat_template(
        PROMPT, tokenize=False, add_generation_prompt=True
    )
    label = {"style": "rule", "ground_truth": ["1932"]}
    told = asyncio.run(
        hook.AgentExecutor().execute(prompt, label, params, 4000, engine.tokenizer, engine)
    )
    ids, begun = told["observation_tokens"], len(engine.tokenizer(prompt).input_ids)
    mask = [0] * len(ids)
    for start, stop in told["action_ranges"]:
        mask[start:stop] = [1] * (stop - start)
    assert len(told["rollout_log_probs"]) == len(ids) and told["reward"] == 1.0
    record = told["label"]["ssr"]
    return Run(ids=ids[begun:], mask=mask[begun:], record=record, engine=engine, start=-begun)


def play_verl(which, hook, actions, info=INFO, temperature=1.0):
    engine = VerlServer(*actions)

    def search(query: str) -> str:
        """Looks something up.

        Args:
            query: What to look up.
        """
        return f"search found 1932, {query}"

    async def played():
        if which[1] == "real":
            loop = real_verl_loop(Path(hook.__file__).parent, engine, search)
        else:
            loop = hook.SSRSelectLoop(engine, engine.tokenizer, search, 4000)
        given = {"temperature": temperature, "logprobs": True}
        return await loop.run(given, raw_prompt=PROMPT, extra_info=info)

    output = asyncio.run(played())
    assert len(output.response_mask) == len(output.response_logprobs) == len(output.response_ids)
    record = output.extra_fields["ssr"]
    return Run(
        ids=output.response_ids, mask=output.response_mask, record=record, engine=engine, start=0
    )


def real_verl_loop(folder, engine, search):
    """As verl's worker makes it, by the configuration that lies beside the hook."""
    import hydra
    from omegaconf import OmegaConf
    from verl.experimental.agent_loop.agent_loop import DictConfigWrap, ToolListWrap
    from verl.tools.function_tool import FunctionTool, get_json_schema
    from verl.tools.schemas import OpenAIFunctionToolSchema
    from verl.utils.dataset.rl_dataset import RLHFDataset

    turns = {
        "max_user_turns": 8,
        "max_assistant_turns": 8,
        "max_parallel_calls": 1,
        "format": "hermes",
    }
    turns |= {"max_tool_response_length": 256, "tool_response_truncate_side": "middle"}
    rollout = {
        "prompt_length": 4000,
        "response_length": 4000,
        "full_determinism": False,
        "multi_turn": turns,
    }
    config = OmegaConf.create({"actor_rollout_ref": {"rollout": rollout}, "data": {}})
    schema = OpenAIFunctionToolSchema.model_validate(get_json_schema(search))
    (named,) = OmegaConf.load(HOOKS / "verl-rl/agent_loop.yaml")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, "ssr_select", raising=False)
        return hydra.utils.instantiate(
            config=named,
            trainer_config=DictConfigWrap(config),
            server_manager=engine,
            tokenizer=engine.tokenizer,
            processor=None,
            dataset_cls=RLHFDataset,
            data_config=DictConfigWrap(config.data),
            tools=ToolListWrap([FunctionTool("search", search, schema)]),
        )


def play_swift(which, hook, actions, info=INFO, temperature=1.0):
    engine = SwiftEngine(*actions)
    protocol = sys.modules["swift.infer_engine.protocol"]
    names = ("ChatCompletionResponse", "ChatCompletionResponseChoice", "ChatMessage")
    engine.answers = [getattr(protocol, name) for name in names]
    scheduler = hook.multi_turns["ssr_select"](engine, 8, tokenizer=engine.tokenizer)
    request = hook.RolloutInferRequest(
        messages=[*map(dict, PROMPT)], data_dict={"extra_info": info}
    )
    output = asyncio.run(scheduler.run(request, hook.RequestConfig(temperature=temperature)))
    ids = [i for turn in output.response_token_ids for i in turn]
    mask = [one for turn in output.response_loss_mask for one in turn]
    assert [len(turn) for turn in output.rollout_logprobs] == list(
        map(sum, output.response_loss_mask)
    )
    assert output.rollout_infos["num_turns"] == len(actions)
    record, begun = json.loads(json.dumps(output.rollout_infos["ssr"])), 0
    for turn, own in zip(record["turns"], output.response_token_ids, strict=True):
        turn["start"], turn["stop"], begun = (
            turn["start"] + begun,
            turn["stop"] + begun,
            begun + len(own),
        )
    reward = hook.orms["ssr_answer"]()
    said = output.messages[-1]["content"]
    assert reward([said], reward_model=[{"ground_truth": ["1932"]}]) == [1.0]
    return Run(ids=ids, mask=mask, record=record, engine=engine, start=0)


PLAYS = {"verl": play_verl, "openrlhf": play_openrlhf, "swift": play_swift}
EVERY = pytest.mark.parametrize("which", [make(one) for one in FILES for make in (stand_in, real)])


@pytest.fixture
def play(which, monkeypatch, tmp_path):
    hook = load(which, monkeypatch, tmp_path)
    return lambda *actions, **options: PLAYS[which[0]](which, hook, actions, **options)


@EVERY
def test_a_turn_records_the_selection_that_brute_force_finds(play):
    run = play(CALL, ANSWER)

    assert len(run.record["turns"]) == 2 and run.record["set"] == library_hash(SET)
    for turn, context in zip(run.record["turns"], run.engine.contexts, strict=True):
        texts = [f"<thinking>{one.text}</thinking>" for one in SET.active]
        ids = [run.engine.tokenizer(text).input_ids for text in texts]
        place = [one.id for one in SET.active].index(turn["candidate"])
        history = context[: -len(ids[place])]
        assert context == [*history, *ids[place]]
        found = scores(
            [run.engine.log_probs([*history, *own])[-len(own) :] for own in ids], alpha=0.5
        )
        assert turn["scores"] == pytest.approx(found.tolist(), abs=1e-9)
        assert turn["log_q"] == pytest.approx(float(log_q(found, 0.7)[place]), abs=1e-9)
        assert turn["others"] == pytest.approx(float(competitors(found, place, 0.7)), abs=1e-9)


@EVERY
def test_generated_tokens_alone_are_trained_and_thoughts_lie_in_their_spans(play):
    run = play(CALL, ANSWER)

    said = [token for token, trained in zip(run.ids, run.mask, strict=True) if trained]
    assert said == [token for action in run.engine.said for token in action]
    for turn in run.record["turns"]:
        start, stop = turn["start"] + run.start, turn["stop"] + run.start
        (text,) = [one.text for one in SET.active if one.id == turn["candidate"]]
        assert run.engine.tokenizer.decode(run.ids[start:stop]) == f"<thinking>{text}</thinking>"
        assert run.mask[start : stop + 1] == [0] * (stop - start) + [1]


@EVERY
def test_what_a_tool_says_stands_in_the_next_context_and_ends_no_turn_early(play):
    run = play(CALL, ANSWER)

    shown = run.engine.tokenizer.decode(run.engine.contexts[1])
    assert "search found 1932" in shown
    assert shown.count("<|im_end|>") <= 3  # the prompt's, the agent's, the tool's


@EVERY
def test_a_run_that_acts_greedily_takes_the_likeliest_thought(play):
    run = play(ANSWER, temperature=0)

    (turn,) = run.record["turns"]
    names = [one.id for one in SET.active]
    assert turn["candidate"] == names[turn["scores"].index(max(turn["scores"]))]


@pytest.mark.parametrize(
    "which", [make(one) for one in ("verl", "swift") for make in (stand_in, real)]
)
def test_rows_of_another_set_are_refused(play):
    with pytest.raises(ValueError, match="exported with another set"):
        play(ANSWER, info=INFO | {"library_sha256": "0" * 64})


def test_a_loss_has_the_value_and_the_gradient_of_the_selector(monkeypatch, tmp_path):
    hook = load(("openrlhf", "stand-in"), monkeypatch, tmp_path)
    run = play_openrlhf(None, hook, (CALL, ANSWER))
    prompt = run.engine.contexts[0][: run.record["turns"][0]["start"]]
    log_probs = (
        torch.cat([torch.zeros(1), run.engine.log_probs([*prompt, *run.ids])])
        .detach()
        .requires_grad_()
    )

    found = hook.log_q_now(log_probs, run.record)

    told = [turn["log_q"] for turn in run.record["turns"]]
    assert found.tolist() == pytest.approx(told, abs=1e-9)
    expected = [
        log_q_against(
            scores([log_probs[turn["start"] : turn["stop"]]], 0.5)[0],
            torch.tensor(turn["others"]),
            0.7,
        )
        for turn in run.record["turns"]
    ]
    (gradient,) = torch.autograd.grad(found.sum(), log_probs)
    (known,) = torch.autograd.grad(sum(expected), log_probs)
    assert torch.allclose(gradient, known, atol=1e-12)
    assert torch.equal(gradient != 0, known != 0)


@pytest.mark.parametrize("which", [real("openrlhf"), real("verl"), real("swift")])
def test_signatures_are_those_of_the_framework(which, monkeypatch, tmp_path):
    hook = load(which, monkeypatch, tmp_path)
    name = {"openrlhf": "AgentExecutor", "verl": "SSRSelectLoop", "swift": "SSRScheduler"}[which[0]]
    cls = getattr(hook, name)
    own = [
        one
        for one in vars(cls)
        if inspect.isfunction(vars(cls)[one]) and hasattr(cls.__mro__[1], one)
    ]
    assert own
    for method in own:
        theirs = inspect.signature(getattr(cls.__mro__[1], method)).parameters
        ours = inspect.signature(getattr(cls, method)).parameters
        is_open = any(one.kind is one.VAR_KEYWORD for one in ours.values())
        assert [one for one in theirs if one not in ours and not is_open] == []
        assert [one for one in ours if one not in theirs] == []
