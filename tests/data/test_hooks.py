"""The rollouts that exports to verl, OpenRLHF and ms-swift carry, played with a tiny network in the engine's place.

Against stand-ins of the frameworks (tests/support/hook_stand_ins.py), and against the frameworks themselves where they are installed.
"""

import asyncio
import importlib.util
import inspect
import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import hook_stand_ins
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import tiny_network
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

import forethought.data.exports.readme
from forethought.data.library import builtin, library_hash, library_json
from forethought.scorer.training.selector import competitors, log_q, log_q_against, scores

HOOKS = Path(forethought.data.exports.readme.__file__).parent / "hooks"
FILES = {
    "verl": "verl-rl/ssr_select.py",
    "openrlhf": "openrlhf/ssr_agent.py",
    "swift": "swift/ssr_scheduler.py",
}
SHARED = [
    "Candidates",
    "Drawn",
    "read_set",
    "score",
    "log_sum_exp",
    "select",
    "turn_record",
    "log_q_now",
]
SET = builtin("ssr")
TOOLS = """
from runpy import run_path
reward = run_path(__file__.replace("tools.py", "given_tools.py"))["reward"]
async def call(name, arguments):
    return f"<|im_end|> {name} found 1932"
"""
CALL = '<tool_call>{"name": "search", "arguments": {"query": "bridge"}}</tool_call>'
ANSWER = "<answer>The 1932</answer>"
TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}{{ m.content }}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
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


def load(which, monkeypatch, folder):
    """The hook as it lies in an export, with tools filled in."""
    framework, kind = which
    if kind == "stand-in":
        for name, module in getattr(hook_stand_ins, framework)().items():
            monkeypatch.setitem(sys.modules, name, module)
    source = HOOKS / FILES[framework]
    shutil.copy(source, folder)
    if (given_tools := source.with_name("tools.py")).exists():
        shutil.copy(given_tools, folder / "given_tools.py")
        (folder / "tools.py").write_text(TOOLS)
    (folder / "reasoning_library.json").write_text(json.dumps(library_json(SET)))
    return module_of(folder / source.name)


def module_of(path):
    spec = importlib.util.spec_from_file_location(f"exported_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def chat_tokenizer():
    """A token a byte, and two that open and end a turn."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({one: i for i, one in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        additional_special_tokens=["<|im_start|>"],
        chat_template=TEMPLATE,
    )


class Engine:
    """Says what it is told to, one action a turn, and knows every token's log-probability by a tiny network."""

    def __init__(self, *actions):
        self.tokenizer = chat_tokenizer()
        self.network = tiny_network(vocab_size=258).double()
        self.said = [
            [*self.tokenizer(action).input_ids, self.tokenizer.eos_token_id] for action in actions
        ]
        self.contexts = []  # before each action

    def log_probs(self, ids):
        """(T - 1,) of all tokens but the first."""
        ids = torch.tensor([ids])
        rows = self.network(ids).logits[0, :-1].log_softmax(-1)
        return rows.gather(-1, ids[0, 1:, None])[:, 0]

    @torch.no_grad()
    def prompt_log_probs(self, ids):
        return self.log_probs(ids).tolist()

    def act(self, ids):
        """The next action's tokens, and their log-probabilities."""
        self.contexts.append(list(ids))
        said = self.said[len(self.contexts) - 1]
        return said, self.prompt_log_probs([*ids, *said])[-len(said) :]


def vllm_entries(ids, values):
    return [{i: SimpleNamespace(logprob=value)} for i, value in zip(ids, values, strict=True)]


class OpenRLHFEngine(Engine):
    async def generate(self, ids, params, multi_modal_data=None):
        if params.prompt_logprobs is not None:
            assert params.skip_reading_prefix_cache and params.temperature == 1.0
            return SimpleNamespace(
                prompt_logprobs=[None, *vllm_entries(ids[1:], self.prompt_log_probs(ids))]
            )
        said, known = self.act(ids)
        output = SimpleNamespace(
            token_ids=said,
            text=self.tokenizer.decode(said),
            finish_reason="stop",
            logprobs=vllm_entries(said, known),
        )
        return SimpleNamespace(outputs=[output])


class VerlServer(Engine):
    async def generate(self, request_id, *, prompt_ids, sampling_params, **media):
        if "prompt_logprobs" in sampling_params:
            told = [[one] for one in self.prompt_log_probs(prompt_ids)] + [[0.0]]
            return SimpleNamespace(token_ids=[0], extra_fields={"prompt_logprobs": told})
        said, known = self.act(prompt_ids)
        return SimpleNamespace(
            token_ids=said,
            log_probs=known,
            num_preempted=None,
            routed_experts=None,
            extra_fields={},
        )


class SwiftEngine(Engine):
    """Of ms-swift's engine, what the hook asks of it; the template goes on from an assistant's tokens."""

    @property
    def template(self):
        return self

    def set_mode(self, mode):
        assert mode == "vllm"

    def _get_response_prefix(self, inputs):
        return ""

    def encode(self, request, return_template_inputs):
        ids = []
        for message in request.messages:
            content = message["content"]
            ids += self.tokenizer(f"<|im_start|>{message['role']}\n").input_ids
            ids += content if isinstance(content, list) else self.tokenizer(content).input_ids
            if message["role"] == "user":
                ids += self.tokenizer("<|im_end|>\n").input_ids
        ids += (
            []
            if message["role"] == "assistant"
            else self.tokenizer("<|im_start|>assistant\n").input_ids
        )
        return {"input_ids": ids}

    def _prepare_generation_config(self, config):
        return SimpleNamespace(
            prompt_logprobs=config.prompt_logprobs, temperature=config.temperature
        )

    async def _get_grpo_lora_request_async(self, adapter):
        return None

    async def _add_request(self, inputs, params, request_id, adapter_request=None):
        assert (params.prompt_logprobs, params.temperature) == (0, 1.0)
        ids = inputs["input_ids"]
        yield SimpleNamespace(
            prompt_logprobs=[None, *vllm_entries(ids[1:], self.prompt_log_probs(ids))]
        )

    async def infer_async(self, request, config):
        said, known = self.act(self.encode(request, True)["input_ids"])
        response, choice, message = self.answers
        text = self.tokenizer.decode(said, skip_special_tokens=True)
        logprobs = {"content": [{"logprob": one} for one in known]}
        made = choice(0, message("assistant", text), "stop", logprobs=logprobs, token_ids=said)
        return response(model="tiny", choices=[made], usage=None)


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


SCORES = st.lists(st.floats(-300, 0), min_size=2, max_size=9)


@pytest.fixture(scope="module")
def pure():
    """The functions that need no framework."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name, module in hook_stand_ins.openrlhf().items():
            monkeypatch.setitem(sys.modules, name, module)
        return module_of(HOOKS / FILES["openrlhf"])


@given(SCORES, st.floats(0.05, 5), st.floats(0, 1, exclude_max=True))
def test_a_draw_falls_where_its_point_does_in_the_cumulated_chances(pure, values, tau, point):
    drawn = pure.select(values, tau, point)

    chances = log_q(torch.tensor(values, dtype=torch.float64), tau)
    before = float(chances[: drawn.place].exp().sum())
    assert before - 1e-9 <= point <= before + float(chances[drawn.place].exp()) + 1e-9
    assert drawn.log_q == pytest.approx(float(chances[drawn.place]), abs=1e-9)
    others = competitors(torch.tensor(values, dtype=torch.float64), drawn.place, tau)
    assert drawn.others == pytest.approx(float(others), abs=1e-9)


@given(SCORES, st.floats(0.05, 5))
def test_without_a_point_the_first_of_the_highest_is_taken(pure, values, tau):
    assert pure.select([*values, max(values)], tau, None).place == values.index(max(values))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"go {CALL} on", "search"),
        (ANSWER, None),
        (f"{ANSWER}{CALL}", None),
        ("<tool_call>{'name': 1}</tool_call>", None),
        ('<tool_call>{"arguments": {}}</tool_call>', None),
        ('<tool_call>{"name": "a", "arguments": 3}</tool_call>', None),
        ("", None),
    ],
)
def test_an_action_is_its_first_call_unless_it_answers_before(pure, text, name):
    call = pure.call_in(text)
    assert (call and call["name"]) == name


def test_a_set_of_one_is_refused(pure, tmp_path):
    library = library_json(SET)
    library["entries"] = dict([*library["entries"].items()][:1])
    (tmp_path / "set.json").write_text(json.dumps(library))
    with pytest.raises(ValueError, match="leave nothing to select"):
        pure.read_set(tmp_path / "set.json", str.encode)


def test_tools_that_nobody_filled_in_say_so(tmp_path):
    given_tools = module_of(HOOKS / "swift/tools.py")
    with pytest.raises(NotImplementedError, match="tools.py: let `call` run the tool 'search'"):
        asyncio.run(given_tools.call("search", {}))


def test_the_three_hooks_share_their_arithmetic_to_the_letter(monkeypatch, tmp_path):
    written = []
    for framework in FILES:
        (tmp_path / framework).mkdir()
        hook = load((framework, "stand-in"), monkeypatch, tmp_path / framework)
        written.append([inspect.getsource(getattr(hook, name)) for name in SHARED])
    assert written[0] == written[1] == written[2]
    assert (HOOKS / "swift/tools.py").read_text() == (HOOKS / "openrlhf/tools.py").read_text()


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
