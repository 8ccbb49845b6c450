"""OpenRLHF's agent executor, selecting: before each action a thought of this export's set is drawn by its likelihood and put in.

    --train.agent_func_path ssr_agent.py

`tools.py` beside this file runs the calls and rewards the answer. The thought lies outside `action_ranges`, so its tokens are not trained;
what a loss over selections needs travels in Experience.labels, as {"label", "ssr"}:

    set, alpha, tau    the set's hash; SSR_ALPHA and SSR_TAU of the environment, or 1
    turns              candidate, start and stop in observation_tokens, scores, log_q, others (L)

Written for OpenRLHF 0.11.2; text models. vLLM computes the context anew for each candidate, as it does wherever prompt_logprobs are asked for.
"""

import asyncio
import json
import math
import os
import random
import re
import runpy
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from openrlhf.utils.agent import AgentExecutorBase

HERE = Path(__file__).parent
MOST_TURNS = int(os.environ.get("SSR_TURNS", "8"))
ALPHA, TAU = (float(os.environ.get(name, "1")) for name in ("SSR_ALPHA", "SSR_TAU"))
# A token that vLLM reads from its cache has no log-probability.
SCORING = {"max_tokens": 1, "temperature": 1.0, "prompt_logprobs": 0, "logprobs": None}
SCORING |= {"skip_reading_prefix_cache": True}


class Candidates(NamedTuple):
    """A set: each text's tokens, delimiters included, in the order of the file, which settles ties."""

    names: tuple[str, ...]
    ids: tuple[tuple[int, ...], ...]
    hash: str


class Drawn(NamedTuple):
    """A selection: whose, log q(z | h), and the log-sum-exp of the other candidates' S / tau."""

    place: int
    log_q: float
    others: float


def read_set(
    path: Path, encode: Callable[[str], Sequence[int]], hash: str | None = None
) -> Candidates:
    """The set of an export. ValueError where it is not the one of this `hash`, or leaves nothing to select."""
    entries = json.loads(path.read_text("utf-8"))["entries"]
    found = sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
    if hash not in (None, found):
        raise ValueError(
            f"{path}: the rows were exported with another set ({hash[:12]}, not {found[:12]}); export both again"
        )
    if len(entries) < 2:
        raise ValueError(f"{path}: {len(entries)} candidates leave nothing to select")
    ids = tuple(tuple(encode(f"<thinking>{one['text']}</thinking>")) for one in entries.values())
    return Candidates(tuple(entries), ids, found)


def score(log_probs: Sequence[float], alpha: float) -> float:
    """S of a candidate's token log-probabilities at temperature 1."""
    return math.fsum(log_probs) / len(log_probs) ** alpha


def log_sum_exp(values: Sequence[float]) -> float:
    most = max(values)
    return most + math.log(math.fsum(math.exp(value - most) for value in values))


def select(scores: Sequence[float], tau: float, point: float | None) -> Drawn:
    """Where `point`, uniform in [0, 1), falls in softmax(scores / tau); None takes the first of the highest."""
    scaled = [value / tau for value in scores]
    total = log_sum_exp(scaled)
    if point is None:
        place = scaled.index(max(scaled))
    else:
        reached = list(accumulate(math.exp(value - total) for value in scaled))
        place = min(bisect_right(reached, point * reached[-1]), len(scaled) - 1)
    others = log_sum_exp([*scaled[:place], *scaled[place + 1 :]])
    return Drawn(place, scaled[place] - total, others)


def turn_record(
    own: Candidates, scores: Sequence[float], drawn: Drawn, start: int
) -> dict[str, Any]:
    """What a trainer needs of a turn; the thought stands in [start, stop), tokens that are not trained one by one."""
    return {
        "candidate": own.names[drawn.place],
        "start": start,
        "stop": start + len(own.ids[drawn.place]),
        "scores": list(scores),
        "log_q": drawn.log_q,
        "others": drawn.others,
    }


def log_q_now(log_probs: Any, record: Mapping[str, Any]) -> Any:
    """(turns,) log q(z | h) under the weights as they are, with gradients, from a run's token log-probabilities (T,).

    At temperature 1, in which the spans are counted. The ratio of turn t is exp(this[t] - log_q[t]).
    """
    import torch

    found = []
    for turn in record["turns"]:
        own = log_probs[turn["start"] : turn["stop"]]
        scaled = own.sum() / len(own) ** record["alpha"] / record["tau"]
        found.append(scaled - torch.logaddexp(scaled, scaled.new_tensor(turn["others"])))
    return torch.stack(found)


CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
MARKUP = re.compile(r"<(?=\||(?:image|video|audio)>|/?tool_response>)")


def call_in(text: str) -> dict[str, Any] | None:
    """The call that an action is, with `name` and `arguments`; None for an answer, and for anything else."""
    call, answer = CALL.search(text), text.find("<answer>")
    if call is None or 0 <= answer < call.start():
        return None
    try:
        found = json.loads(call[1])
        return {"name": str(found["name"]), "arguments": dict(found.get("arguments") or {})}
    except (ValueError, KeyError, TypeError):
        return None


def observation(told: str) -> str:
    """A tool's words as the export writes them; what a model would take for its markup is made plain."""
    return f"<tool_response>\n{MARKUP.sub(chr(0xFF1C), told)}\n</tool_response>"


def between(tokenizer: Any, words: str) -> str:
    """What stands from an agent's words to its next, when a user says `words`, by the chat template."""
    mark = "\u2042the agent\u2042"
    said = [("user", "?"), ("assistant", mark), ("user", words)]
    messages = [{"role": role, "content": content} for role, content in said]
    return tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True
    ).split(mark)[-1]


class AgentExecutor(AgentExecutorBase):
    """Plays runs of at most SSR_TURNS turns (8)."""

    async def execute(  # noqa: PLR0913 - as OpenRLHF has it
        self,
        prompt: str,
        label: Any,
        sampling_params: Any,
        max_length: int,
        hf_tokenizer: Any,
        llm_engine: Any,
        images: Any = None,
    ) -> dict[str, Any]:
        if images:
            raise ValueError("this rollout shows a model no pictures; export text questions alone")
        tools = runpy.run_path(str(HERE / "tools.py"))
        own = read_set(HERE / "reasoning_library.json", lambda text: _tokens(hf_tokenizer, text))
        run = _Run(llm_engine, sampling_params, max_length, own)
        run.begin(_tokens(hf_tokenizer, prompt))
        while True:
            action = await run.turn()
            call = None if run.truncated else call_in(action)
            if call is None or len(run.turns) == MOST_TURNS:
                break
            told = await tools["call"](call["name"], call["arguments"])
            run.observe(hf_tokenizer, between(hf_tokenizer, observation(told)))
            if run.truncated:
                break
        answers = label["ground_truth"] if isinstance(label, Mapping) else label
        answers = [answers] if isinstance(answers, str) else answers
        worth = tools["reward"](action, answers)
        record = {"set": own.hash, "alpha": ALPHA, "tau": TAU, "turns": run.turns}
        return {
            "prompt": prompt,
            "label": {"label": label, "ssr": record},
            "images": images,
            "mm_train_inputs": None,
            "reward": worth,
            "scores": worth,
            "observation_tokens": run.ids,
            "action_ranges": run.actions,
            "rollout_log_probs": run.log_probs if sampling_params.logprobs is not None else None,
            "truncated": run.truncated,
            "extra_logs": {
                "turns": len(run.turns),
                "log_q": sum(turn["log_q"] for turn in run.turns),
            },
        }


class _Run:
    """The tokens of a run, and what is known of them."""

    def __init__(self, engine: Any, params: Any, most: int, own: Candidates) -> None:
        self.engine, self.params, self.most, self.own = engine, params, most, own
        self.longest = max(map(len, own.ids))
        self.turns: list[dict[str, Any]] = []
        self.actions: list[tuple[int, int]] = []
        self.truncated = False

    def begin(self, prompt: Sequence[int]) -> None:
        """One that leaves no room is shortened at its beginning, as OpenRLHF does."""
        keep = self.most - self.longest - (self.params.max_tokens or 1)
        if keep < 1:
            raise ValueError(f"--data.max_len {self.most} has no room for a thought and an action")
        self.ids = list(prompt[-keep:])
        self.log_probs = [0.0] * len(self.ids)

    async def turn(self) -> str:
        """Draw a thought, put it in, and act; the action's text."""
        await self._select()
        params = deepcopy(self.params)
        left = self.most - len(self.ids)
        params.max_tokens = min(left, params.max_tokens or left)
        output = (await self._ask(self.ids, params)).outputs[0]
        start = len(self.ids)
        self.ids += output.token_ids
        self.actions.append((start, len(self.ids)))
        if params.logprobs is not None:
            self.log_probs += [
                told[i].logprob for i, told in zip(output.token_ids, output.logprobs, strict=True)
            ]
        self.truncated = output.finish_reason == "length"
        return output.text

    def observe(self, tokenizer: Any, text: str) -> None:
        """Put in what stands between two turns of the agent; without the end of its turn, where it was generated."""
        ids = _tokens(tokenizer, text)
        ids = ids[1:] if ids[:1] == self.ids[-1:] else ids
        if len(self.ids) + len(ids) + self.longest >= self.most:
            self.truncated = True  # no room for another turn
            return
        self.ids += ids
        self.log_probs += [0.0] * len(ids)

    async def _select(self) -> None:
        found = await asyncio.gather(*map(self._log_probs, self.own.ids))
        scores = [score(one, ALPHA) for one in found]
        drawn = select(scores, TAU, random.random() if self.params.temperature else None)
        self.turns.append(turn_record(self.own, scores, drawn, len(self.ids)))
        self.ids += self.own.ids[drawn.place]
        self.log_probs += found[drawn.place]

    async def _log_probs(self, ids: Sequence[int]) -> list[float]:
        params = deepcopy(self.params)
        for name, value in SCORING.items():
            if hasattr(params, name):
                setattr(params, name, value)
        told = (await self._ask([*self.ids, *ids], params)).prompt_logprobs[-len(ids) :]
        return [one[i].logprob for i, one in zip(ids, told, strict=True)]

    async def _ask(self, ids: Sequence[int], params: Any) -> Any:
        return await self.engine.generate(list(ids), params)


def _tokens(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text=text, add_special_tokens=False)["input_ids"])
