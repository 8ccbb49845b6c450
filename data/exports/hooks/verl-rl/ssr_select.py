"""verl's tool agent, selecting: before each action a thought of this export's set is drawn by its likelihood and put in.

Named to a run by agent_loop.yaml. The action, its tools (`multi_turn.tool_config_path`, `function_tool_path`) and observations are
those of verl's ToolAgentLoop. The thought has mask 0; what a loss over selections needs travels as `extra_fields["ssr"]`:

    set, alpha, tau    of the row's `extra_info`
    turns              candidate, start and stop in response_ids, scores, log_q, others (L)

Written for verl 0.9.1. A vLLM server computes the context anew for each candidate, as it does wherever prompt_logprobs are asked for.
"""

import asyncio
import json
import math
import random
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from verl.experimental.agent_loop.agent_loop import AgentLoopOutput, register
from verl.experimental.agent_loop.tool_agent_loop import AgentData, AgentState, ToolAgentLoop

SET = Path(__file__).with_name("reasoning_library.json")
SCORING = {"max_tokens": 1, "temperature": 1.0, "prompt_logprobs": 0}


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


@register("ssr_select")
class SSRSelectLoop(ToolAgentLoop):
    """One instance plays one run."""

    async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> AgentLoopOutput:
        """ValueError where the row was exported with another set."""
        info = kwargs.get("extra_info") or {}
        self._set = read_set(SET, self._encode, info.get("library_sha256"))
        self._record = {
            "set": self._set.hash,
            "alpha": info.get("alpha", 1.0),
            "tau": info.get("tau", 1.0),
            "turns": [],
        }
        output = await super().run(sampling_params, **kwargs)
        output.extra_fields["ssr"] = self._record
        return output

    async def _handle_generating_state(
        self,
        agent_data: AgentData,
        sampling_params: dict[str, Any],
        ignore_termination: bool = False,  # noqa: FBT001, FBT002 - as verl has it
    ) -> AgentState:
        if len(agent_data.response_mask) + max(map(len, self._set.ids)) >= self.response_length:
            if not agent_data.response_mask:
                raise ValueError(
                    f"data.max_response_length={self.response_length} has no room for a thought and an action"
                )
            return AgentState.TERMINATED
        place = await self._select(agent_data, sampling_params)
        said = len(agent_data.messages)
        state = await super()._handle_generating_state(
            agent_data, sampling_params, ignore_termination
        )
        if len(agent_data.messages) > said:  # verl writes down what was generated alone
            thought = self.tokenizer.decode(self._set.ids[place])
            agent_data.messages[said]["content"] = thought + agent_data.messages[said]["content"]
        return state

    async def _select(self, agent_data: AgentData, sampling_params: dict[str, Any]) -> int:
        """Draw a thought after the run so far, and put it in; the likeliest where actions are taken greedily, as in validation."""
        found = await asyncio.gather(*[self._log_probs(agent_data, ids) for ids in self._set.ids])
        scores = [score(own, self._record["alpha"]) for own in found]
        point = random.random() if sampling_params.get("temperature", 1.0) else None
        drawn = select(scores, self._record["tau"], point)
        ids = self._set.ids[drawn.place]
        self._record["turns"].append(
            turn_record(self._set, scores, drawn, len(agent_data.response_mask))
        )
        agent_data.prompt_ids = [*agent_data.prompt_ids, *ids]
        agent_data.response_mask = [*agent_data.response_mask, *[0] * len(ids)]
        if sampling_params.get("logprobs"):
            agent_data.response_logprobs = [*agent_data.response_logprobs, *[0.0] * len(ids)]
        return drawn.place

    async def _log_probs(self, agent_data: AgentData, ids: Sequence[int]) -> list[float]:
        output = await self.server_manager.generate(
            request_id=agent_data.request_id,
            prompt_ids=[*agent_data.prompt_ids, *ids],
            sampling_params=dict(SCORING),
            image_data=agent_data.image_data,
            video_data=agent_data.video_data,
            mm_processor_output=agent_data.mm_processor_output,
            audio_data=agent_data.audio_data,
            mm_processor_kwargs=agent_data.mm_processor_kwargs,
        )
        # Entry k is of token k + 1, and the last is a filler.
        return [entry[0] for entry in output.extra_fields["prompt_logprobs"][-len(ids) - 1 : -1]]

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]
