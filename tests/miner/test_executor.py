"""Where blocks are worked out shows in nothing that is mined."""

from concurrent.futures import ProcessPoolExecutor
from copy import copy
from dataclasses import replace
from multiprocessing import get_context

import pytest
from embedders import CountingEmbedder, HashingEmbedder
from executors import Backwards, Pooled, Stopped, Stopping
from hypothesis import given
from hypothesis import strategies as st
from runs import runs

from forethought.miner import abstract, embed
from forethought.miner.abstract import Generalizer
from forethought.miner.embed import CachedEmbedder, SentenceEmbedder
from forethought.miner.executor import PLAIN, Done, blocks_of, in_order
from forethought.miner.mask import Mask
from forethought.miner.mine import MinerSettings, mine
from forethought.miner.thoughts import thoughts_of

EMBEDDER = HashingEmbedder()
THOUGHTS = list(thoughts_of(runs(90)))
TEXTS = [f"I need to find out about thing {number}." for number in range(50)]


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch):
    monkeypatch.setattr(abstract, "BLOCK", 20)
    monkeypatch.setattr(embed, "SHARD_TEXTS", 8)


@given(st.permutations(range(12)))
def test_what_comes_back_in_any_order_is_given_on_in_the_order_of_blocks(numbers):
    assert [*in_order(Done(n, f"block {n}") for n in numbers)] == [f"block {n}" for n in range(12)]


def test_a_block_is_given_on_as_soon_as_all_before_it_are_there():
    def done():
        yield Done(0, "first")
        raise Stopped

    assert next(in_order(done())) == "first"


def test_a_block_that_never_comes_back_is_no_silent_gap():
    with pytest.raises(AssertionError, match="block 1 is missing"):
        [*in_order([Done(0, "a"), Done(2, "c")])]


@given(st.lists(st.integers()), st.integers(1, 9))
def test_blocks_hold_every_item_once_and_in_order(items, size):
    blocks = [*blocks_of(items, size)]

    assert [item for block in blocks for item in block] == items
    assert all(len(block) == size for block in blocks[:-1])


def test_plainly_a_block_is_worked_out_when_it_is_asked_for():
    seen = []

    assert next(PLAIN.map(lambda block: seen.append(block) or block, iter("abc"))) == Done(0, "a")
    assert seen == ["a"]


def test_what_is_mined_is_the_same_wherever_blocks_are_worked_out():
    plain = mine(runs(90), EMBEDDER, "x")
    elsewhere = mine(runs(90), EMBEDDER, "x", MinerSettings(executor=Backwards()))

    assert replace(elsewhere, stages=()) == replace(plain, stages=())


def test_other_processes_say_the_same_of_thoughts_to_the_number():
    mask = Mask.fit(THOUGHTS)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        elsewhere = Generalizer.fit(THOUGHTS, mask, Pooled(pool)).as_product(THOUGHTS)

    plain = Generalizer.fit(THOUGHTS, mask).as_product(THOUGHTS)

    assert {key: list(value) for key, value in elsewhere.items()} == {
        key: list(value) for key, value in plain.items()
    }


def test_a_product_kept_by_one_executor_is_found_again_by_another(tmp_path):
    mine(runs(90), EMBEDDER, "x", MinerSettings(resume=tmp_path, executor=Backwards()))

    again = mine(runs(90), EMBEDDER, "x", MinerSettings(resume=tmp_path))

    assert {r.name for r in again.stages if r.is_resumed} == {"fit", "mask", "phrase", "cluster"}


def test_vectors_and_the_shards_they_lie_in_are_the_same_wherever_they_are_computed(tmp_path):
    plain = CachedEmbedder(EMBEDDER, tmp_path / "plain")
    elsewhere = CachedEmbedder(EMBEDDER, tmp_path / "elsewhere", Backwards())

    assert plain.embed(TEXTS).tobytes() == elsewhere.embed(TEXTS).tobytes()
    shards = [path.name for path in sorted(plain.folder.iterdir())]
    assert shards == [path.name for path in sorted(elsewhere.folder.iterdir())]
    assert len(shards) == 7


def test_shards_that_were_back_before_a_stop_are_not_computed_again(tmp_path):
    with pytest.raises(Stopped):
        CachedEmbedder(EMBEDDER, tmp_path, Stopping(3)).embed(TEXTS)
    counting = CountingEmbedder()

    CachedEmbedder(counting, tmp_path).embed(TEXTS)

    assert counting.asked == 50 - 2 - 8 - 8  # the last shard holds two


def test_a_model_is_loaded_where_it_is_used_and_not_sent():
    embedder = SentenceEmbedder("some/model", "query: ")
    embedder.__dict__["_model"] = "400 MB"

    sent = copy(embedder)

    assert (sent.path, sent.prompt) == ("some/model", "query: ")
    assert "_model" not in sent.__dict__
