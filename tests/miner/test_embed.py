"""The packaged embedder, the revision of others, and the cache."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from embedders import CountingEmbedder, HashingEmbedder

from forethought.data.errors import ModelUnavailable
from forethought.miner import embed
from forethought.miner.embed import CachedEmbedder, SentenceEmbedder
from forethought.miner.vectors import embedding_report

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


@pytest.fixture(scope="module")
def minilm(tmp_path_factory):
    """The packaged model as a folder of its own."""
    folder = tmp_path_factory.mktemp("models") / "mini"
    shutil.copytree(SentenceEmbedder().path, folder)
    return folder


def test_a_folder_is_named_by_what_it_holds_and_not_by_where_it_stands(minilm, tmp_path):
    moved, changed = tmp_path / "a" / "mini", tmp_path / "b" / "mini"
    shutil.copytree(minilm, moved)
    shutil.copytree(minilm, changed)
    weights = changed / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")

    assert SentenceEmbedder(str(minilm)).name == SentenceEmbedder(str(moved)).name
    assert SentenceEmbedder(str(minilm)).name != SentenceEmbedder(str(changed)).name


def test_a_prompt_gives_other_vectors_under_another_name(minilm):
    plain, asked = SentenceEmbedder(str(minilm)), SentenceEmbedder(str(minilm), prompt="query: ")

    assert asked.name == plain.name + " with 'query: '"
    assert not np.allclose(asked.embed(TEXTS[:1]), plain.embed(TEXTS[:1]))
    assert np.allclose(asked.embed(TEXTS[:1]), plain.embed(["query: " + TEXTS[0]]), atol=1e-6)


def test_a_hub_model_is_named_by_its_commit(tmp_path, monkeypatch):
    commit = "a" * 40
    folder = tmp_path / "models--some--model"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text(commit)
    (folder / "snapshots" / commit).mkdir(parents=True)
    (folder / "snapshots" / commit / "modules.json").write_text("[]")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.file_download.HF_HUB_CACHE", str(tmp_path), raising=False)

    assert SentenceEmbedder("some/model").name == f"some/model@{commit[:12]}"


def test_what_the_model_does_not_read_to_the_end_is_reported_by_id(tmp_path):
    embedder = CachedEmbedder(SentenceEmbedder(), tmp_path)
    texts = ["I need to search.", "word " * 600, "é" * 100, "I need to search for more. " * 12]

    report = embedding_report(embedder, ["a", "b", "c", "d"], texts, embedder.embed(texts))

    assert report.truncated == ("b",)
    assert report.left_out == ()


@pytest.mark.parametrize("damage", ["cut", "junk", "empty", "flipped", "no vectors"])
def test_a_damaged_shard_is_made_again_with_one_warning(tmp_path, caplog, damage):
    whole = CachedEmbedder(CountingEmbedder(), tmp_path).embed(TEXTS)
    [shard] = CachedEmbedder(CountingEmbedder(), tmp_path).folder.glob("*.npz")
    stored = shard.read_bytes()
    middle = len(stored) // 2
    flipped = stored[:middle] + bytes([stored[middle] ^ 255]) + stored[middle + 1 :]
    parts = {"cut": stored[:middle], "junk": b"junk", "empty": b"", "flipped": flipped}
    if damage == "no vectors":
        np.savez(shard, keys=np.load(shard)["keys"])
    else:
        shard.write_bytes(parts[damage])
    asked = CountingEmbedder()

    assert np.array_equal(CachedEmbedder(asked, tmp_path).embed(TEXTS), whole)
    assert asked.asked == 2
    assert [record.getMessage().count("embedded again") for record in caplog.records] == [1]
    assert CachedEmbedder(CountingEmbedder(), tmp_path).embed(TEXTS).shape == whole.shape
    assert len(caplog.records) == 1


def test_what_another_process_stored_meanwhile_is_found(tmp_path):
    first, second = CountingEmbedder(), CountingEmbedder()
    early, late = CachedEmbedder(first, tmp_path), CachedEmbedder(second, tmp_path)
    early.embed(TEXTS[:1])
    late.embed(TEXTS)
    early.embed(TEXTS)

    assert (first.asked, second.asked) == (1, 1)


def test_two_processes_fill_one_cache_at_once(tmp_path):
    script = (
        "import sys; sys.path.insert(0, sys.argv[2]);"
        "from embedders import HashingEmbedder; from forethought.miner import embed; from pathlib import Path;"
        "embed.SHARD_TEXTS = 16; c = embed.CachedEmbedder(HashingEmbedder(), Path(sys.argv[1]));"
        "v = c.embed([f'text {i}' for i in range(400)]); print(v.shape, abs(v).sum())"
    )
    support = Path(__file__).parents[1] / "support"
    command = [sys.executable, "-c", script, str(tmp_path), str(support)]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in both]

    assert outputs[0] == outputs[1]
    assert outputs[0][0].startswith(b"(400, 64)") and not outputs[0][1]


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(embed, "SHARD_TEXTS", 10)

    class Failing(CountingEmbedder):
        def embed(self, texts):
            if self.asked == 30:
                raise KeyboardInterrupt
            return super().embed(texts)

    texts = [f"text {i}" for i in range(50)]
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(Failing(), tmp_path).embed(texts)
    again = CountingEmbedder()
    CachedEmbedder(again, tmp_path).embed(texts)

    assert again.asked == 20


def test_a_cache_reads_no_vectors_before_it_is_asked(tmp_path):
    texts = [f"text {i}" for i in range(40)]
    CachedEmbedder(CountingEmbedder(), tmp_path).embed(texts)
    cached = CachedEmbedder(CountingEmbedder(), tmp_path)
    cached.embed(texts[:1])

    assert cached.embed([]).shape == (0, 1)
    held = [v for v in vars(cached).values() if isinstance(v, np.ndarray)]
    assert sum(array.nbytes for array in held) == 40 * len(texts)
