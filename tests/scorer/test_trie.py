import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.scorer.trie import compile_tries

sequences = st.lists(
    st.lists(st.integers(0, 3), min_size=1, max_size=7).map(tuple), min_size=1, max_size=12
).map(tuple)


def test_the_docstring_example():
    (trie,) = compile_tries(((7, 8, 9), (7, 8, 5, 6)), 100)

    assert trie.tokens.tolist() == [7, 8, 5]
    assert trie.depths.tolist() == [0, 1, 2]
    assert [*zip(trie.edge_rows.tolist(), trie.edge_tokens.tolist(), strict=True)] == [
        (0, 7),
        (1, 8),
        (2, 5),
        (2, 9),
        (3, 6),
    ]
    assert trie.whole.paths.tolist() == [[0, 1, 2]]


@given(sequences)
def test_edges_and_nodes_spell_every_sequence(given_sequences):
    (trie,) = compile_tries(given_sequences, 1000)

    assert trie.sequences == tuple(sorted(set(given_sequences)))
    for index, sequence in enumerate(trie.sequences):
        assert trie.edge_tokens[trie.edges[index]].tolist() == list(sequence)
        assert trie.tokens[trie.nodes(index)].tolist() == list(sequence[:-1])
        assert trie.depths[trie.nodes(index)].tolist() == list(range(len(sequence) - 1))


@given(sequences, st.integers(0, 3), st.integers(1, 4), st.randoms())
def test_a_block_holds_the_nodes_of_its_depths_each_behind_its_own_ancestors(
    given_sequences, low, count, random
):
    (trie,) = compile_tries(given_sequences, 1000)
    indices = sorted(random.sample(range(len(trie.sequences)), len(trie.sequences) // 2 + 1))
    wanted = {int(n) for i in indices for n in trie.nodes(i)[low : low + count]}

    block = trie.block(low, low + count, indices)

    assert block.nodes.tolist() == sorted(wanted)
    for node, place in zip(block.nodes, block.places, strict=True):
        path, position = divmod(int(place), block.paths.shape[1])
        own = [*block.stems[path], *block.nodes[block.paths[path, : position + 1]]]
        assert own[-1] == node
        assert any(own == trie.nodes(i)[: len(own)].tolist() for i in indices)


@given(sequences)
def test_the_whole_is_one_block_of_every_node_and_has_a_path_for_each_leaf(given_sequences):
    (trie,) = compile_tries(given_sequences, 1000)

    assert trie.whole.nodes.tolist() == list(range(len(trie.tokens)))
    beginnings = {s[:-1] for s in given_sequences if len(s) > 1}
    leaves = {b for b in beginnings if not any(o[: len(b)] == b and o != b for o in beginnings)}
    assert len(trie.whole.paths) == len(leaves)


@given(sequences)
def test_there_is_one_node_for_each_distinct_beginning(given_sequences):
    (trie,) = compile_tries(given_sequences, 1000)

    beginnings = {s[: i + 1] for s in given_sequences for i in range(len(s) - 1)}
    assert len(trie.tokens) == len(beginnings)


@given(sequences, st.integers(1, 8))
def test_groups_hold_each_sequence_once_and_keep_to_the_limit(given_sequences, limit):
    tries = compile_tries(given_sequences, limit)

    together = [sequence for trie in tries for sequence in trie.sequences]
    assert together == sorted(set(given_sequences))
    assert all(len(t.tokens) <= limit or len(t.sequences) == 1 for t in tries)


@given(sequences, st.randoms())
def test_the_order_of_sequences_does_not_matter(given_sequences, random):
    shuffled = list(given_sequences)
    random.shuffle(shuffled)

    one, other = compile_tries(given_sequences, 5), compile_tries(tuple(shuffled), 5)

    assert [t.sequences for t in one] == [t.sequences for t in other]
    assert all(
        np.array_equal(a.whole.paths, b.whole.paths) for a, b in zip(one, other, strict=True)
    )


def test_an_empty_sequence_is_refused():
    with pytest.raises(ValueError, match="without tokens"):
        compile_tries(((1, 2), ()), 10)
