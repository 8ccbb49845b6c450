"""The scorer against other ways to score candidates after one context, on the CPU, in one run: scores first, then times.

    make peers
    .venv-peers/bin/python benchmarks/scorer_peers.py          # about ten minutes on two quiet cores

`make peers` makes an environment beside ours: the same torch and transformers, and lm-evaluation-harness, minicons and
llama.cpp; a peer that is missing gets a line that says so. The model is the packaged one in float32, the texts are cut
from the traces that ship with Forethought so that every tokenizer call of a peer gives the same tokens. What is
compared runs interleaved; times are medians over rounds. A peer that takes seconds a candidate scores a part of them
each round, scaled to all; naive scores each once. Prints Markdown.
"""

import argparse
import gzip
import json
import logging
import os
import platform
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import baselines
import numpy as np
import torch
from peers import EXPANDED, NAIVE, OURS, Ids, Peer, Texts, all_peers, score_ours, stock_network
from scoring import SAMPLE

from forethought.data.render import CLOSING, OPENING, render_thought
from forethought.scorer.context import Context
from forethought.scorer.latency import measure_latency, milliseconds
from forethought.scorer.model import LanguageModel, load_model

SIX, SIX_TOKENS = 6, 31  # a set of the paper's size, and the mean length of a candidate in it


@dataclass(frozen=True)
class Trial:
    """What a peer did: milliseconds of each round (the prefill, the rest), and log-probabilities by candidate."""

    peer: Peer
    spent: list[tuple[float, float]] = field(default_factory=list)
    found: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def whole(self) -> float:
        return statistics.median(map(sum, self.spent))

    @property
    def after(self) -> float:
        return statistics.median(rest for _, rest in self.spent)

    def run(self, texts: Texts, places: Sequence[int]) -> None:
        """Score the candidates at `places`; the time is scaled to all of them."""
        some = [texts.candidates[place] for place in places]
        kept: list[Any] = []
        before = milliseconds(lambda: kept.append(self.peer.prefill(texts.context)))
        rest = milliseconds(lambda: kept.append(self.peer.score(kept[0], some)))
        self.spent.append((before, rest * len(texts.candidates) / len(some)))
        self.found.update(zip(places, kept[1], strict=True))


def main() -> None:
    options = parse()
    logging.disable(logging.WARNING)
    model = load_model()
    stock = replace(model, network=stock_network())
    print(f"# Scoring against other scorers\n\n{model.name}, {machine()}\n", flush=True)
    text = sample_ids(model)
    six = cut_candidates(model, text[len(text) // 2 :], SIX_TOKENS, 4 * SIX)
    if options.only_turns:
        return print_turns(model, text, six[:SIX], options)
    many = cut_candidates(model, text[len(text) // 2 :], options.tokens, 4 * options.candidates)
    with tempfile.TemporaryDirectory() as folder:
        for candidates, count in ((many, options.candidates), (six, SIX)):
            texts = cut_texts(model, text, candidates, options.context)
            texts = Texts(texts.context, texts.candidates[:count])
            assert len(texts.candidates) == count, f"only {len(texts.candidates)} of {count} texts"
            peers, missing = all_peers(model, stock, texts, Path(folder))
            trials = compare(peers, texts, options.rounds)
            report(trials, missing, texts)
            if candidates is many:
                print_bars(model, stock, trials, texts)
    print_turns(model, text, six[:SIX], options)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--context", type=int, default=1800, help="tokens of the context")
    parser.add_argument("--candidates", type=int, default=64, help="how many in the large set")
    parser.add_argument("--tokens", type=int, default=24, help="of each candidate in it")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=6, help="turns of the latency comparison")
    parser.add_argument("--only-turns", action="store_true", help="no peers: against generating")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, to see it run")
    options = parser.parse_args()
    if options.quick:
        options.context, options.candidates, options.rounds, options.turns = 400, 16, 2, 2
    return options


def sample_ids(model: LanguageModel) -> list[int]:
    packed = resources.files("forethought.data").joinpath(f"samples/{SAMPLE}").read_bytes()
    text = json.dumps(json.loads(gzip.decompress(packed)), ensure_ascii=False)
    return model.encode(text[:200_000].replace("\\n", "\n"))


def cut_candidates(model: LanguageModel, ids: Ids, tokens: int, most: int) -> list[list[int]]:
    """At most `most` different thoughts of exactly `tokens` tokens, delimiters included."""
    body = tokens - len(model.encode(render_thought("x"))) + 1
    found: dict[tuple[int, ...], None] = {}
    for first in range(0, len(ids), body):
        text = model.decode(ids[first : first + body]).strip()
        candidate = tuple(model.encode(render_thought(text)))
        if len(candidate) == tokens and not set(text) & set('<>\n"\\'):
            found[candidate] = None
    return [list(candidate) for candidate in found][:most]


def cut_texts(
    model: LanguageModel, ids: Ids, candidates: Sequence[list[int]], length: int
) -> Texts:
    """A context that ends in a letter, and the candidates that keep their tokens when joined to it as text."""
    for stop in range(length, len(ids)):
        context = list(ids[stop - length : stop])
        text = model.decode(context)
        if text[-1].isalpha() and model.encode(text) == context:
            break
    kept = [c for c in candidates if model.encode(text + model.decode(c)) == [*context, *c]]
    return Texts(context, kept)


def compare(peers: Sequence[Peer], texts: Texts, rounds: int) -> dict[str, Trial]:
    """Every peer once a round, by name."""
    for peer in peers:  # warm-up, not counted
        peer.score(peer.prefill(texts.context[-64:]), texts.candidates[:2])
    trials = {peer.name: Trial(peer) for peer in peers}
    for turn in range(rounds):
        for trial in trials.values():
            places = range(len(texts.candidates))
            if not trial.peer.is_shared:
                places = places[turn::rounds][: trial.peer.most]
            trial.run(texts, places)
    return trials


def report(trials: dict[str, Trial], missing: Sequence[str], texts: Texts) -> None:
    lengths = [len(candidate) for candidate in texts.candidates]
    spread = str(lengths[0]) if len(set(lengths)) == 1 else f"{min(lengths)} to {max(lengths)}"
    print(f"## {len(lengths)} candidates of {spread} tokens after {len(texts.context):,}\n")
    naive, ours = trials[NAIVE], trials[OURS]
    rows = [
        (t.peer.name, t.peer.version, str(len(t.found)), *deviation(t, naive), t.peer.remark)
        for t in trials.values()
    ]
    heads = ("scorer", "version", "candidates", "token", "sum", "how it scores")
    print(f"Scores: the largest difference from naive's.\n\n{table(heads, rows)}\n", flush=True)
    rows = []
    for trial in trials.values():
        row = (trial.peer.name, f"{trial.whole:,.0f}", f"{trial.whole / ours.whole:.2f}")
        after = (f"{trial.after:,.0f}", f"{trial.after / ours.after:.2f}")
        rows.append((*row, *(after if trial.peer.is_shared else ("", ""))))
    heads = ("scorer", "whole job, ms", "times ours", "after the shared prefill, ms", "times ours")
    print(f"Times: medians, {len(ours.spent)} rounds.\n\n{table(heads, rows)}\n")
    print("".join(f"{line}\n\n" for line in missing), end="", flush=True)


def deviation(trial: Trial, naive: Trial) -> tuple[str, str]:
    """Largest absolute difference of a token, "" where the peer tells none, and of a sum."""
    pairs = [(own, naive.found[place]) for place, own in trial.found.items()]
    total = max(abs(own.sum() - theirs.sum()) for own, theirs in pairs)
    if any(own.shape != theirs.shape for own, theirs in pairs):
        return "", f"{total:.1e}"
    return f"{max(np.abs(own - theirs).max() for own, theirs in pairs):.1e}", f"{total:.1e}"


def print_bars(
    model: LanguageModel, stock: LanguageModel, trials: dict[str, Trial], texts: Texts
) -> None:
    """What the scorer must reach: its share of the possible speed-up, and its lead over the batch."""
    ours, naive, batch = (trials[name] for name in (OURS, NAIVE, EXPANDED))
    with counted(model) as mine:
        score_ours(Context(model, texts.context), texts.candidates)
    with counted(stock) as first:
        baselines.score_naively(stock, texts.context, texts.candidates[:1])
    context = first[0] - len(texts.candidates[0])
    theirs = sum(context + len(candidate) for candidate in texts.candidates)
    ratio, faster = theirs / mine[0], naive.whole / ours.whole
    rows = [
        ("tokens run: naive, ours", f"{theirs:,}, {mine[0]:,}", ""),
        ("ratio of tokens", f"{ratio:.1f}", ""),
        ("times faster than naive", f"{faster:.1f}", ""),
        ("share of the ratio", f"{faster / ratio:.2f}", "at least .80"),
        (
            "times faster than the batch after the prefill",
            f"{batch.after / ours.after:.2f}",
            "at least 2",
        ),
    ]
    print(table(("figure", "measured", "bar"), rows), end="\n\n", flush=True)


def print_turns(
    model: LanguageModel, text: Ids, six: Sequence[Ids], options: argparse.Namespace
) -> None:
    """Whole turns, and against thinking."""
    contexts = [text[i * options.context :][: options.context] for i in range(options.turns)]
    thoughts = [model.decode(ids).removeprefix(OPENING).removesuffix(CLOSING) for ids in six]
    found = measure_latency(model, contexts, ["Yes."] * len(contexts), thoughts)
    names = {
        "prefill": "shared prefill",
        "select": "select and commit",
        "think_65": "transformers generate, 65 tokens",
        "own_65": "our decoder, 65 tokens",
        "total_select": "turn: prefill, select and commit",
        "total_think_65": "turn: prefill, generate",
    }
    rows = [(name, f"{found[part]['p50']:,.0f}", "") for part, name in names.items()]
    for part, bar in (("think_65", "at least 90 %"), ("own_65", ""), ("total_think_65", "")):
        mine = found["total_select" if part.startswith("total") else "select"]["p50"]
        rows.append((f"less time than {names[part]}", f"{1 - mine / found[part]['p50']:.1%}", bar))
    print(
        f"## A turn: {found['candidates']} candidates of {found['candidate_tokens']} tokens together, "
        f"or 65 generated tokens, after {found['context_tokens']:,.0f}\n"
    )
    print(f"Medians of {found['turns']} turns, ms:\n\n{table(('figure', 'measured', 'bar'), rows)}")


@contextmanager
def counted(model: LanguageModel) -> Iterator[list[int]]:
    """How many tokens the network runs meanwhile, in the list's only place."""
    count = [0]

    def add(_module: Any, _inputs: Any, output: torch.Tensor) -> None:
        count[0] += output.shape[:-1].numel()

    hook = model.network.get_input_embeddings().register_forward_hook(add)
    try:
        yield count
    finally:
        hook.remove()


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = (heads, ["---"] * len(heads), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
    processor = names[0].split(":")[1].strip() if names else platform.processor()
    return (
        f"torch {torch.__version__}, transformers {version('transformers')}, Python {platform.python_version()}, "
        f"{torch.get_num_threads()} threads of {os.cpu_count()} x {processor}"
    )


if __name__ == "__main__":
    main()
