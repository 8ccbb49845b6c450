"""Mining again: what is found on other draws of the questions, held against sets worked out by hand."""

import random
from dataclasses import replace

import numpy as np
import pytest
from embedders import HashingEmbedder
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import AGAIN, ANSWER, run, runs

from forethought.data.candidates import CandidateSet, written
from forethought.data.errors import NothingToDo
from forethought.data.identity import Split
from forethought.data.traces import Action, Trace, Turn
from forethought.miner.mask_rules import SHIPPED, parse_rules
from forethought.miner.mine import MinerSettings, mine
from forethought.miner.stability import Draws, Recipe, resample, stability

EMBEDDER = HashingEmbedder()
TRACES = [trace for trace in runs(70) if trace.split is Split.MINE]
MINED = mine(TRACES, EMBEDDER, "moves").candidate_set
FOUND = stability(MINED, TRACES, EMBEDDER)
TURNS = sorted(turn for candidate in MINED.candidates for turn in candidate.support)
MIXED = CandidateSet("mixed", (replace(written("I should go on."), support=tuple(TURNS[::7])),))
MINE_QUESTIONS = [f"q{i}" for i in range(200) if Trace(f"q{i}", ()).split is Split.MINE]


class TiringEmbedder(HashingEmbedder):
    """After so many calls it tells no two texts apart."""

    def __init__(self, calls: float) -> None:
        self.limit, self.calls = calls, 0

    def embed(self, texts):
        self.calls += 1
        return super().embed(texts if self.calls <= self.limit else [""] * len(texts))


def row_of(found, text):
    return [candidate.text for candidate in found.candidates].index(text)


def one_turn(question: str, thought: str) -> Trace:
    return Trace(question, (Turn((thought,), (Action("search", {"input": "x"}),), ("",)),))


def test_moves_that_recur_over_questions_are_found_again():
    for text in (AGAIN, ANSWER):
        row = row_of(FOUND, text)
        assert min(FOUND.jaccards(row)) > 0.9
        assert not FOUND.is_shaky(row)
        assert all(bootstrap.matches[row].text == text for bootstrap in FOUND.bootstraps)
    assert min(bootstrap.ari for bootstrap in FOUND.bootstraps) > 0.9
    assert FOUND.is_order_free


def test_turns_thrown_together_are_shaky():
    found = stability(MIXED, TRACES, EMBEDDER)

    assert found.is_shaky(0)
    assert max(found.jaccards(0)) < 0.5


def test_the_figures_are_those_of_sets_of_turns():
    by_question = {trace.question: [trace] for trace in sorted(TRACES, key=lambda t: t.question)}
    both = replace(MINED, candidates=(*MIXED.candidates, *MINED.candidates))
    found = stability(both, TRACES, EMBEDDER, draws=Draws(2, seed=5))
    for number, bootstrap in enumerate(found.bootstraps):
        drawn = resample(by_question, np.random.default_rng([5, number]))
        again = mine(drawn, EMBEDDER, "x").candidate_set.candidates
        ids = {trace.id for trace in drawn}
        assert bootstrap.texts == tuple(candidate.text for candidate in again)
        for candidate, match in zip(found.candidates, bootstrap.matches, strict=True):
            here = {turn for turn in candidate.support if turn.split(":")[0] in ids}
            shares = [len(here & {*o.support}) / len(here | {*o.support}) for o in again]
            assert match.jaccard == max(round(share, 4) for share in shares)


def test_the_order_of_traces_does_not_show_and_the_seed_does():
    shuffled = random.Random(1).sample(TRACES, len(TRACES))
    found = stability(MIXED, TRACES, EMBEDDER, draws=Draws(2))

    assert stability(MIXED, shuffled, EMBEDDER, draws=Draws(2)) == found
    assert stability(MIXED, TRACES, EMBEDDER, draws=Draws(2, seed=1)) != found


def test_only_mine_questions_are_drawn():
    assert stability(MINED, runs(70), EMBEDDER) == FOUND


def test_another_set_from_other_rows_is_told():
    awake = TiringEmbedder(float("inf"))
    mine(TRACES, awake, "once")
    tired = TiringEmbedder(awake.calls)  # through the first mining, not the second

    assert not stability(MINED, TRACES, tired, draws=Draws(1)).is_order_free


@settings(deadline=None)
@given(st.sets(st.integers(0, 60), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_a_question_drawn_again_counts_as_one_more_and_keeps_its_ids(numbers, seed):
    questions = {run(number).question: [run(number)] for number in numbers}

    drawn = resample(questions, np.random.default_rng(seed))

    assert len({trace.question for trace in drawn}) == len(questions) == len(drawn)
    for trace in drawn:
        (original,) = questions[trace.question.strip()]
        assert (trace.id, trace.split, trace.turns) == (original.id, original.split, original.turns)


def test_one_question_is_always_drawn_and_gives_the_same():
    traces = [one_turn(MINE_QUESTIONS[0], AGAIN)]
    found = stability(mine(traces, EMBEDDER, "one").candidate_set, traces, EMBEDDER)

    assert found.jaccards(0) == (1.0, 1.0, 1.0)
    assert [bootstrap.ari for bootstrap in found.bootstraps] == [1.0] * 3


def test_a_draw_that_says_nothing_finds_nothing_again():
    first, second = MINE_QUESTIONS[:2]
    traces = [one_turn(first, AGAIN), one_turn(second, f"I need to find Bonn {second}.")]
    mined = mine(traces, EMBEDDER, "two").candidate_set

    found = stability(mined, traces, EMBEDDER, draws=Draws(12))

    empty = [bootstrap for bootstrap in found.bootstraps if not bootstrap.texts]
    assert 0 < len(empty) < 12
    assert found.jaccards(0).count(0.0) == len(empty)


def test_settings_are_those_of_the_miner():
    found = stability(MINED, TRACES, EMBEDDER, Recipe(MinerSettings(budget=2)))

    assert all(len(bootstrap.texts) <= 2 for bootstrap in found.bootstraps)


def test_written_candidates_have_nothing_to_find_again():
    by_hand = written("I should ask somebody.")
    both = replace(MINED, candidates=(by_hand, *MINED.candidates))

    assert stability(both, TRACES, EMBEDDER) == FOUND
    with pytest.raises(NothingToDo, match="no turns stand behind the candidates of 'hand'"):
        stability(CandidateSet("hand", (by_hand,)), TRACES, EMBEDDER)
    with pytest.raises(NothingToDo, match="no thoughts to mine"):
        stability(MINED, [], EMBEDDER)


def test_every_step_is_told():
    steps = []
    stability(MINED, TRACES, EMBEDDER, draws=Draws(2), progress=steps.append)

    titles = list(dict.fromkeys(step.split(":")[0] for step in steps))
    assert titles == ["in order", "shuffled", "bootstrap 1 of 2", "bootstrap 2 of 2"]


def test_what_is_found_again_was_masked_by_the_rules_of_the_recipe():
    rule = '\n[[rule]]\nname = "results"\nkind = "WORD"\npattern = "(?i)search result"\ntakes = ["search result"]\nleaves = ["search"]\n'
    rules = parse_rules(SHIPPED.read_text("utf-8") + rule, "rules")

    own = stability(MINED, TRACES, EMBEDDER, Recipe(rules=rules), Draws(1)).bootstraps[0]

    assert AGAIN in FOUND.bootstraps[0].texts
    assert AGAIN not in own.texts
