"""The peers of the scorer: each way to score candidates after one context, behind one pair of calls.

Knows the libraries that are compared; knows nothing of times or tables. A library that is not installed is left
out, with a line that says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import baselines
import llama_cpp
import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from forethought.data.errors import ModelUnavailable
from forethought.scorer.context import Context
from forethought.scorer.model import LanguageModel
from forethought.scorer.packaged import packaged_file, packaged_folder
from forethought.scorer.score import score_sharing_context

Ids = Sequence[int]
OURS, NAIVE, EXPANDED = "ours", "naive transformers", "batch-expanded cache"
FEW = 4  # candidates a round, of peers that run everything anew for each


class Texts(NamedTuple):
    """Token ids; joined to the context as text, every candidate keeps its tokens."""

    context: list[int]
    candidates: list[list[int]]


@dataclass(frozen=True)
class Peer:
    """One way to score: `prefill(context)` gives what `score` continues from, with log-probabilities a candidate.

    `score` gives one number a token, or the sum alone where a peer tells no more.
    """

    name: str
    version: str
    prefill: Callable[[Ids], Any]
    score: Callable[[Any, Sequence[Ids]], Sequence[np.ndarray]]
    remark: str = ""
    is_shared: bool = True  # whether the prefill serves all candidates
    most: int | None = None  # candidates a round


def stock_network() -> Any:
    """The same weights as transformers loads them, with its own attention."""
    network = AutoModelForCausalLM.from_pretrained(
        packaged_folder(), dtype=torch.float32, attn_implementation="sdpa"
    )
    return network.eval().requires_grad_(requires_grad=False)


def all_peers(
    model: LanguageModel, stock: LanguageModel, texts: Texts, folder: Path
) -> tuple[list[Peer], list[str]]:
    """Every peer that is installed, and a line for each that is not."""
    peers = [
        Peer(OURS, version("forethought"), lambda ids: Context(model, ids), score_ours),
        *transformers_peers(stock),
    ]
    missing = []
    makers = {
        "lm-evaluation-harness": lambda: [lm_eval_peer(stock, texts)],
        "minicons": lambda: [minicons_peer(stock, texts)],
        "llama.cpp": lambda: llama_peers(texts, folder),
    }
    for name, make in makers.items():
        try:
            peers += make()
        except (ImportError, OSError, ModelUnavailable) as error:
            missing.append(f"{name}: not installed ({error})")
    return peers, missing


def score_ours(context: Context, candidates: Sequence[Ids]) -> Sequence[np.ndarray]:
    return score_sharing_context(context, candidates).log_probs


def transformers_peers(stock: LanguageModel) -> list[Peer]:
    number = version("transformers")

    def peer(name: str, after: Callable[..., Any], remark: str) -> Peer:
        return Peer(
            name,
            number,
            lambda ids: baselines.prefill(stock, ids),
            lambda prefilled, some: after(stock, prefilled, some),
            remark,
        )

    return [
        Peer(
            NAIVE,
            number,
            lambda ids: ids,
            lambda ids, some: baselines.score_naively(stock, ids, some),
            "a full forward each, logits_to_keep",
            is_shared=False,
        ),
        peer("one at a time on the cache", baselines.score_naively_after, "a cache copy each"),
        peer(EXPANDED, baselines.score_expanded_after, "one forward, a cache copy a row"),
        peer("packed 4-D mask", baselines.score_packed_after, "one row, additive float mask"),
    ]


def lm_eval_peer(stock: LanguageModel, texts: Texts) -> Peer:
    """HFLM.loglikelihood in batches of one: it shares nothing, and a batch holds all its logits."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    harness = HFLM(pretrained=stock.network, tokenizer=own_tokenizer(), batch_size=1)

    def score(ids: Ids, some: Sequence[Ids]) -> list[np.ndarray]:
        asked = [
            Instance("loglikelihood", {}, (stock.decode(ids), stock.decode(one)), place)
            for place, one in enumerate(some)
        ]
        told = harness.loglikelihood(asked, disable_tqdm=True)
        return [np.array([total]) for total, _ in told]

    pair = harness._encode_pair(stock.decode(texts.context), stock.decode(texts.candidates[0]))
    require_same_tokens("lm-evaluation-harness", [*pair[0], *pair[1]], texts)
    remark = "HFLM.loglikelihood, float32 log_softmax of every row"
    number = version("lm_eval")
    return Peer(
        "lm-evaluation-harness", number, lambda ids: ids, score, remark, is_shared=False, most=FEW
    )


def minicons_peer(stock: LanguageModel, texts: Texts) -> Peer:
    """conditional_score, one candidate a call: more would hold the logits of every row of all of them."""
    from minicons.scorer import IncrementalLMScorer

    scorer = IncrementalLMScorer(stock.network, device="cpu", tokenizer=own_tokenizer())

    def score(ids: Ids, some: Sequence[Ids]) -> list[np.ndarray]:
        prefix = stock.decode(ids)
        return [
            scorer.conditional_score(
                prefix, stock.decode(one), separator="", reduction=lambda own: own.double().numpy()
            )[0]
            for one in some
        ]

    joined = stock.decode([*texts.context, *texts.candidates[0]])
    require_same_tokens("minicons", scorer.encode(joined)["input_ids"][0].tolist(), texts)
    remark = "conditional_score, logits of every row"
    number = version("minicons")
    return Peer("minicons", number, lambda ids: ids, score, remark, is_shared=False, most=FEW)


def own_tokenizer() -> Any:
    """A peer changes its tokenizer's settings."""
    return AutoTokenizer.from_pretrained(packaged_folder())


def require_same_tokens(name: str, ids: Ids, texts: Texts) -> None:
    if list(ids) != [*texts.context, *texts.candidates[0]]:
        raise ModelUnavailable(f"{name} makes other tokens of the same text")


def llama_peers(texts: Texts, folder: Path) -> list[Peer]:
    """The packaged file as it is, and dequantised by llama.cpp, since we compute in float32."""
    library = llama_cpp.open_library()
    source, plain = packaged_file(), folder / "float32.gguf"
    if not plain.exists():
        llama_cpp.write_float32(library, source, plain)
    tokens = len(texts.context) + sum(map(len, texts.candidates))
    room = llama_cpp.Room(tokens, len(texts.candidates))

    def peer(name: str, path: Path, remark: str, *, exact: bool = False) -> Peer:
        llama = llama_cpp.Llama(library, path, room, exact=exact)

        def prefill(ids: Ids) -> llama_cpp.Llama:
            llama.prefill(ids)
            return llama

        return Peer(
            name, llama_cpp.RELEASE, prefill, lambda ready, some: ready.score_after(some), remark
        )

    return [
        peer("llama.cpp, Q4_1", source, "the same weights, but activations quantised too"),
        peer("llama.cpp, float32", plain, "its default: attention in half precision"),
        peer("llama.cpp, exact", plain, "float32 cache, no flash attention", exact=True),
    ]
