"""Which vectors enter a fit, and vectors that a user brings."""

import json

import numpy as np
import pytest
from embedders import HashingEmbedder
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from forethought.data.errors import InvalidVectors
from forethought.miner.vectors import CheckedEmbedder, OwnVectors, embedding_report, usable

TEXTS = ["I need to search.", "I have the answer.", "我需要搜索"]
VECTORS = np.array([[3.0, 4.0], [0.0, 2.0], [-1.0, 0.0]])


def saved(folder, texts=TEXTS, vectors=VECTORS, name="own.npz"):
    path = folder / name
    np.savez(path, texts=np.array(texts), vectors=vectors)
    return path


def test_each_fault_is_reported_by_id_and_kept_out():
    vectors = np.array([[1, 0], [np.nan, np.inf], [np.inf, 1], [0, 0], [0.7, 0.7], [0, -1]], "f4")
    report = embedding_report(HashingEmbedder(), list("abcdef"), ["x"] * 6, vectors)

    assert (report.nan, report.infinite, report.zero, report.constant) == (
        ("b",),
        ("c",),
        ("d",),
        ("e",),
    )
    assert usable(vectors).tolist() == [True, False, False, False, False, True]
    assert report.as_json()["nan"] == ["b"] and report.num_texts == 6


@given(
    hnp.arrays(
        np.float32,
        st.tuples(st.integers(0, 5), st.integers(1, 4)),
        elements=st.sampled_from([0.0, 1.0, -1.0, np.nan, np.inf, -np.inf]),
    )
)
def test_a_row_is_usable_or_has_exactly_one_fault(vectors):
    ids = [str(row) for row in range(len(vectors))]
    report = embedding_report(HashingEmbedder(), ids, ids, vectors)
    fit = [ids[row] for row in np.flatnonzero(usable(vectors))]

    assert sorted([*report.left_out, *fit]) == ids
    assert np.isfinite(vectors[usable(vectors)]).all()


def test_what_is_no_vector_is_handed_on_as_zeros_and_told_of_by_the_id_of_its_text(tmp_path):
    broken = VECTORS.copy()
    broken[1:] = [[np.nan, 1], [0.5, 0.5]]
    checked = CheckedEmbedder(OwnVectors(saved(tmp_path, vectors=broken)))

    assert np.allclose(checked.embed(TEXTS), [[0.6, 0.8], [0, 0], [0, 0]])
    report = checked.report({text: f"turn {i}" for i, text in enumerate(TEXTS)})
    assert (report.nan, report.constant, report.zero) == (("turn 1",), ("turn 2",), ())
    assert checked.report({TEXTS[0]: "turn 0"}).left_out == ()


def test_own_vectors_are_served_by_text_at_length_one(tmp_path):
    own = OwnVectors(saved(tmp_path))

    assert np.allclose(own.embed([TEXTS[2], TEXTS[0]]), [[-1, 0], [0.6, 0.8]])
    assert own.embed([]).shape == (0, 2)
    assert own.name == OwnVectors(saved(tmp_path)).name
    assert own.name != OwnVectors(saved(tmp_path, vectors=VECTORS + 1)).name


def test_a_numpy_file_has_its_texts_beside_it(tmp_path):
    np.save(tmp_path / "own.npy", VECTORS)
    lines = [json.dumps(text) for text in TEXTS]
    (tmp_path / "own.jsonl").write_text("\n".join(lines) + "\n", "utf-8")

    assert np.array_equal(
        OwnVectors(tmp_path / "own.npy").embed(TEXTS), OwnVectors(saved(tmp_path)).embed(TEXTS)
    )


def test_what_has_no_length_is_served_as_it_is_for_the_report(tmp_path):
    broken = VECTORS.copy()
    broken[1:] = [[0, 0], [np.nan, 1]]

    assert usable(OwnVectors(saved(tmp_path, vectors=broken)).embed(TEXTS)).tolist() == [
        True,
        False,
        False,
    ]


def test_texts_it_lacks_are_counted_and_listed(tmp_path):
    own = OwnVectors(saved(tmp_path))

    with pytest.raises(InvalidVectors, match=r"own.npz: lacks 2 of 3 texts; they are listed in"):
        own.embed(["new", TEXTS[0], "另一个", "new"])
    listed = (tmp_path / "own.missing.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in listed] == ["new", "另一个"]


@pytest.mark.parametrize(
    ("texts", "vectors", "message"),
    [
        (TEXTS, VECTORS[:2], "2 vectors for 3 texts"),
        (TEXTS, VECTORS[0], r"shape \(2,\); they must be floats"),
        (TEXTS, VECTORS.astype(int), "vectors are int64 of shape"),
        (["a", "b", "a"], VECTORS, "1 of 3 texts stand in it twice"),
        ([1, 2, 3], VECTORS, "not all strings"),
    ],
)
def test_a_file_that_does_not_fit_is_one_clear_line(tmp_path, texts, vectors, message):
    with pytest.raises(InvalidVectors, match=message):
        OwnVectors(saved(tmp_path, texts, vectors))


@pytest.mark.parametrize("name", ["nowhere.npz", "nowhere.npy", "junk.npz"])
def test_a_file_that_cannot_be_read_is_one_clear_line(tmp_path, name):
    (tmp_path / "junk.npz").write_bytes(b"junk")

    with pytest.raises(InvalidVectors, match=f"{name}: no vectors can be read") as caught:
        OwnVectors(tmp_path / name)
    assert "\n" not in str(caught.value)
