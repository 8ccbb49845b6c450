"""What the hooks of verl, OpenRLHF and ms-swift rest on, where these are not installed: as little of each as a run goes through."""

import importlib.util
import json
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import forethought.data.exports.readme
from forethought.data.library import builtin, library_json

HOOKS = Path(forethought.data.exports.readme.__file__).parent / "hooks"
FILES = {
    "verl": "verl-rl/ssr_select.py",
    "openrlhf": "openrlhf/ssr_agent.py",
    "swift": "swift/ssr_scheduler.py",
}
SET = builtin("ssr")
TOOLS = """
from runpy import run_path
reward = run_path(__file__.replace("tools.py", "given_tools.py"))["reward"]
async def call(name, arguments):
    return f"<|im_end|> {name} found 1932"
"""


def _modules(**contents: dict[str, Any]) -> dict[str, ModuleType]:
    """Modules by dotted name, written with __ for the dots, and the packages above them."""
    made: dict[str, ModuleType] = {}
    for written, content in contents.items():
        parts = written.split("__")
        for depth in range(1, len(parts) + 1):
            name = ".".join(parts[:depth])
            made.setdefault(name, ModuleType(name))
        vars(made[".".join(parts)]).update(content)
    return made


def openrlhf() -> dict[str, ModuleType]:
    class AgentExecutorBase:
        pass

    return _modules(openrlhf__utils__agent={"AgentExecutorBase": AgentExecutorBase})


class _ToolAgentLoop:
    """verl's: a prompt, then turns of the model and of the tools in turn, until an action calls none."""

    def __init__(self, server_manager, tokenizer, tools, response_length):
        self.server_manager, self.tokenizer, self.tools = server_manager, tokenizer, tools
        self.response_length = response_length

    async def run(self, sampling_params, **row):
        data = SimpleNamespace(
            request_id="one",
            messages=list(row["raw_prompt"]),
            prompt_ids=self.tokenizer.apply_chat_template(
                row["raw_prompt"], add_generation_prompt=True, return_dict=True
            )["input_ids"],
            response_mask=[],
            response_logprobs=[],
            image_data=None,
            video_data=None,
            audio_data=None,
            mm_processor_output=None,
            mm_processor_kwargs={},
        )
        begun = len(data.prompt_ids)
        while await self._handle_generating_state(data, sampling_params) == "tools":
            told = f"\n<tool_response>{self.tools(data.messages[-1]['content'])}</tool_response>\n"
            ids = self.tokenizer(told).input_ids
            data.prompt_ids += ids
            data.response_mask += [0] * len(ids)
            data.response_logprobs += [0.0] * len(ids)
        return SimpleNamespace(
            prompt_ids=data.prompt_ids[:begun],
            response_ids=data.prompt_ids[begun:],
            response_mask=data.response_mask,
            response_logprobs=data.response_logprobs,
            extra_fields={},
        )

    async def _handle_generating_state(self, data, sampling_params, ignore_termination=None):
        output = await self.server_manager.generate(
            request_id=data.request_id, prompt_ids=data.prompt_ids, sampling_params=sampling_params
        )
        data.prompt_ids = [*data.prompt_ids, *output.token_ids]
        data.response_mask = [*data.response_mask, *[1] * len(output.token_ids)]
        data.response_logprobs = [*data.response_logprobs, *output.log_probs]
        content = self.tokenizer.decode(output.token_ids)
        data.messages.append({"role": "assistant", "content": content})
        return "tools" if "<tool_call>" in content else "terminated"


def verl() -> dict[str, ModuleType]:
    return _modules(
        verl__experimental__agent_loop__agent_loop={
            "AgentLoopOutput": SimpleNamespace,
            "register": lambda name: lambda found: found,
        },
        verl__experimental__agent_loop__tool_agent_loop={
            "AgentData": SimpleNamespace,
            "AgentState": SimpleNamespace(TERMINATED="terminated"),
            "ToolAgentLoop": _ToolAgentLoop,
        },
    )


@dataclass
class _RequestConfig:
    max_tokens: int | None = None
    temperature: float | None = None
    prompt_logprobs: int | None = None


@dataclass
class _RolloutInferRequest:
    messages: list[dict[str, Any]]
    data_dict: dict[str, Any] = field(default_factory=dict)


@dataclass
class _ChatMessage:
    role: str
    content: str


@dataclass
class _Choice:
    index: int
    message: _ChatMessage
    finish_reason: str
    logprobs: dict[str, Any]
    token_ids: list[int]


class _MultiTurnScheduler:
    """ms-swift's, without its own `run`; no template here lets a response begin with anything."""

    def __init__(self, infer_engine=None, max_turns=None, tokenizer=None):
        self.infer_engine, self.max_turns, self.tokenizer = infer_engine, max_turns, tokenizer

    def get_response_token_data(self, request, choice, response_token_ids, response_loss_mask):
        return response_token_ids, response_loss_mask

    def _extract_logprobs_from_choice(self, choice):
        return [one["logprob"] for one in choice.logprobs["content"]]


def _remove_response(messages):
    if messages[-1]["role"] == "assistant":
        messages.pop()


def swift() -> dict[str, ModuleType]:
    return _modules(
        swift__infer_engine__protocol={
            "RequestConfig": _RequestConfig,
            "RolloutInferRequest": _RolloutInferRequest,
            "RolloutOutput": SimpleNamespace,
            "ChatCompletionResponse": SimpleNamespace,
            "ChatCompletionResponseChoice": _Choice,
            "ChatMessage": _ChatMessage,
        },
        swift__rewards__orm={"ORM": object, "orms": {}},
        swift__rollout__multi_turn={"MultiTurnScheduler": _MultiTurnScheduler, "multi_turns": {}},
        swift__utils={"remove_response": _remove_response},
    )


STAND_INS = {"verl": verl, "openrlhf": openrlhf, "swift": swift}


def load(which, monkeypatch, folder):
    """The hook as it lies in an export, with tools filled in."""
    framework, kind = which
    if kind == "stand-in":
        for name, module in STAND_INS[framework]().items():
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
