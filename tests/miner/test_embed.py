"""The packaged embedder and the cache."""

import numpy as np
import pytest
from embedders import CountingEmbedder, HashingEmbedder

from forethought.data.errors import ModelUnavailable
from forethought.miner.embed import CachedEmbedder, SentenceEmbedder

TEXTS = ["I need to search.", "I have the answer.", "I need to search."]


def test_a_text_is_embedded_once_and_found_again_by_another_process(tmp_path):
    first = CountingEmbedder()
    vectors = CachedEmbedder(first, tmp_path).embed(TEXTS)
    second = CountingEmbedder()
    again = CachedEmbedder(second, tmp_path).embed([*TEXTS, "More."])

    assert first.asked == 2
    assert second.asked == 1
    assert np.array_equal(again[:3], vectors)
    assert np.array_equal(vectors, HashingEmbedder().embed(TEXTS))


def test_another_model_has_a_cache_of_its_own(tmp_path):
    other = CountingEmbedder()
    other.name = "other"
    CachedEmbedder(CountingEmbedder(), tmp_path).embed(TEXTS)
    CachedEmbedder(other, tmp_path).embed(TEXTS)

    assert other.asked == 2


def test_a_half_written_shard_is_not_read(tmp_path):
    cached = CachedEmbedder(CountingEmbedder(), tmp_path)
    cached.folder.mkdir(parents=True)
    (cached.folder / "abc.tmp").write_bytes(b"half")

    assert CachedEmbedder(CountingEmbedder(), tmp_path).embed(TEXTS).shape[0] == 3


def test_the_packaged_model_gives_unit_vectors_and_knows_meaning():
    search, lookup, answer = SentenceEmbedder().embed(
        ["I should search for it.", "I need to look it up.", "The weather is nice."]
    )

    assert search @ search == pytest.approx(1.0, abs=1e-5)
    assert search @ lookup > search @ answer


def test_a_model_that_is_not_there_is_one_clear_line(tmp_path):
    with pytest.raises(ModelUnavailable, match="nowhere"):
        SentenceEmbedder(str(tmp_path / "nowhere")).embed(["x"])
