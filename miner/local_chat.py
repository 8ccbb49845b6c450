"""A chat model in this process: any causal model that transformers loads and that has a chat template.

Loaded at the first question, since a run whose answers are all cached needs no model. The same request, the same answer.
"""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import TemplateError

from ..data.errors import ModelUnavailable
from .writer import CUT_OFF, Answer, NoAnswer, Request


class _Loaded(NamedTuple):
    network: Any
    tokenizer: Any
    revision: str


class LocalChat:
    """The model at `path`, a folder or a hub id; `name` is what answers are cached and kept under."""

    def __init__(self, path: str, name: str | None = None) -> None:
        self.path, self.name = path, name or path
        self._loaded: _Loaded | None = None

    def answer(self, request: Request) -> Answer:
        """Greedy at temperature 0, else sampled under the request's seed. NoAnswer where the prompt does not fit."""
        import torch

        if self._loaded is None:
            self._loaded = _load(self.path)
        network, tokenizer, revision = self._loaded
        ids = _encode(tokenizer, request).to(network.device)  # (1, S)
        room = network.config.get_text_config().max_position_embeddings - request.max_tokens
        if ids.shape[1] > room:
            raise NoAnswer(
                f"was not asked for: the prompt has {ids.shape[1]} tokens, room is for {room}"
            )
        sampled = {"temperature": request.temperature, "top_p": 0.95, "top_k": 0}
        with torch.inference_mode(), torch.random.fork_rng():
            torch.manual_seed(request.seed)
            output = network.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=request.max_tokens,
                do_sample=request.temperature > 0,
                pad_token_id=tokenizer.eos_token_id,
                **(sampled if request.temperature > 0 else {}),
            )
        said = output[0, ids.shape[1] :]
        is_over = len(said) < request.max_tokens or int(said[-1]) in _ends(network)
        text = tokenizer.decode(said, skip_special_tokens=True)
        return Answer(text, revision, None if is_over else CUT_OFF)


def _encode(tokenizer: Any, request: Request) -> Any:
    options = {"add_generation_prompt": True, "return_tensors": "pt", "return_dict": True}
    messages = [message._asdict() for message in request.messages]
    try:
        return tokenizer.apply_chat_template(messages, **options)["input_ids"]
    except TemplateError:  # some families know no system
        whole = "\n\n".join(message.content for message in request.messages)
        merged = [{"role": "user", "content": whole}]
        return tokenizer.apply_chat_template(merged, **options)["input_ids"]


def _ends(network: Any) -> list[int]:
    ends = network.generation_config.eos_token_id
    return ends if isinstance(ends, list) else [ends]


def _load(path: str) -> _Loaded:
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
        network = AutoModelForCausalLM.from_pretrained(path, dtype="auto", trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelUnavailable(f"{path}: cannot be loaded as a writer ({reason})") from error
    if not tokenizer.chat_template:
        raise ModelUnavailable(f"{path}: has no chat template; give an instruct model as --writer")
    return _Loaded(network.eval(), tokenizer, _revision(path, network.config))


def _revision(path: str, config: Any) -> str:
    """The hub's commit, or a digest of the folder's configuration and of its weight files' names, sizes and heads."""
    commit = getattr(config, "_commit_hash", None)
    if commit:
        return commit
    digest = hashlib.sha256((Path(path) / "config.json").read_bytes())
    for file in sorted(Path(path).glob("*.safetensors")):
        digest.update(f"{file.name} {file.stat().st_size}\n".encode())
        with file.open("rb") as handle:
            digest.update(handle.read(1 << 20))
    return digest.hexdigest()[:16]
