import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import ByteTokenizer, tiny_model, tiny_network
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from forethought.data.candidates import RESERVED
from forethought.data.errors import InvalidCandidate, NothingToDo
from forethought.data.identity import canonical
from forethought.data.library import builtin
from forethought.data.render import render_thought
from forethought.scorer import compiled_set
from forethought.scorer.compiled_set import candidate_ids, compile_set, seams
from forethought.scorer.model import load_model, wrap
from forethought.scorer.selection import Normalisation

sentences = st.lists(
    st.text(st.characters(exclude_characters="<", exclude_categories=["Cs"])).filter(canonical),
    min_size=1,
    max_size=6,
    unique=True,
)


class Folding(ByteTokenizer):
    """Loses case, as some real ones do."""

    def __call__(self, text, **options):
        return super().__call__(text.lower(), **options)


class Truncating(ByteTokenizer):
    """Cuts what is long, as one with a maximal length does: the end marker is lost."""

    def __call__(self, text, **options):
        return super().__call__(text.removesuffix("</thinking>"), **options)


class Merging(ByteTokenizer):
    """Knows a newline with a tag's beginning as one token."""

    def __call__(self, text, **options):
        found = super().__call__(text, **options)
        found.input_ids = list(bytes(found.input_ids).replace(b"\n<", b"\xff"))
        return found


def with_tokenizer(tokenizer):
    return wrap(tiny_network(), tokenizer, "tiny", "0")


def word_model(*words):
    """A model whose tokenizer knows these words only."""
    vocabulary = {word: i for i, word in enumerate(("[UNK]", "<stop>", *words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", eos_token="<stop>"
    )
    return with_tokenizer(fast)


@pytest.fixture(scope="module")
def smollm():
    return load_model()


@given(sentences)
def test_a_compiled_set_holds_its_texts_with_delimiters_and_their_lengths(texts):
    compiled = compile_set(tiny_model(), texts)

    rendered = [render_thought(text).encode() for text in texts]
    assert [bytes(ids) for ids in compiled.ids] == rendered
    assert compiled.num_tokens.tolist() == compiled.num_bytes.tolist() == [*map(len, rendered)]
    assert compiled.texts == tuple(texts)
    assert compiled.seams == ()


def test_the_tokens_of_a_candidate_decode_to_it_exactly(smollm):
    texts = ["I should search.", "  two  spaces\n", "é漢字🙂 isn't", *compiled_texts()]

    for text, ids in zip(texts, compile_set(smollm, texts).ids, strict=True):
        assert smollm.decode(ids) == render_thought(text)


def compiled_texts():
    return [candidate.text for candidate in builtin("ssr").active]


def test_bytes_are_counted_apart_from_tokens(smollm):
    compiled = compile_set(smollm, ["Antidisestablishmentarianism", "é"])

    assert compiled.num_bytes.tolist() == [28 + 21, 2 + 21]
    assert compiled.num_tokens.tolist() == [11, len(compiled.ids[1])]
    assert compiled.divisors(Normalisation.parse("byte")).tolist() == [49, 23]
    assert compiled.divisors(Normalisation.parse("sum")).tolist() == [1, 1]


def test_an_empty_set_is_refused_and_a_single_candidate_is_not():
    with pytest.raises(NothingToDo, match="no candidate"):
        compile_set(tiny_model(), [])

    assert len(compile_set(tiny_model(), ["Only this."]).ids) == 1


@pytest.mark.parametrize("tag", RESERVED)
def test_reserved_tags_are_refused_and_named(tag):
    with pytest.raises(InvalidCandidate, match="may not contain") as told:
        compile_set(tiny_model(), ["Fine.", f"I say {tag} now."])
    assert repr(tag) in str(told.value) or tag in str(told.value)


@pytest.mark.parametrize("token", ["<|im_end|>", "<repo_name>", "<empty_output>"])
def test_special_tokens_are_refused_and_named_also_those_without_a_role(smollm, token):
    with pytest.raises(InvalidCandidate) as told:
        compile_set(smollm, ["Fine.", f"The {token} file."])
    assert token in str(told.value) or token.startswith("<|")
    assert "The" in str(told.value)
    assert "\n" not in str(told.value)


def test_what_the_tokenizer_has_no_token_for_is_refused():
    words = ("<", "thinking", ">", "</", "I", "search")

    assert compile_set(word_model(*words), ["I search"]).num_tokens.tolist() == [8]
    with pytest.raises(InvalidCandidate, match="no token for something in 'I guess'"):
        compile_set(word_model(*words), ["I search", "I guess"])


def test_a_special_token_of_this_tokenizer_only_is_refused():
    with pytest.raises(InvalidCandidate, match="<stop>"):
        compile_set(word_model("a"), ["I <stop>"])
    assert compile_set(tiny_model(), ["I <stop>"]).ids


def test_duplicates_after_tokenisation_are_refused_and_both_named():
    with pytest.raises(InvalidCandidate, match="'Look.' and 'LOOK.'"):
        compile_set(with_tokenizer(Folding()), ["Look.", "Stop.", "LOOK."])
    with pytest.raises(InvalidCandidate, match="the same tokens"):
        compile_set(tiny_model(), ["Look.", "Look."])


def test_a_candidate_that_begins_another_is_apart_by_its_end_marker():
    compile_set(tiny_model(), ["I look", "I look again", "I look again."])

    with pytest.raises(InvalidCandidate, match="'I look' begin those of 'I look again'"):
        compile_set(with_tokenizer(Truncating()), ["I look again", "No", "I look"])


def test_candidates_that_would_merge_with_the_contexts_end_are_told_not_refused():
    compiled = compile_set(with_tokenizer(Merging()), ["Look.", "Stop."])

    assert compiled.seams == (0, 1)
    assert bytes(compiled.ids[0]) == b"<thinking>Look.</thinking>"


def test_smollm_merges_two_newlines_but_not_one(smollm):
    texts = ["Look.", " Look.", "\nLook."]

    assert compile_set(smollm, texts).seams == ()
    assert seams(smollm, "Observation: 1984.\n\n", texts) == (0, 1, 2)
    assert seams(smollm, "Observation: \n", texts) == (0, 1, 2)
    assert seams(smollm, "half a wor", texts) == ()


@pytest.mark.parametrize("tail", ["it is ", "it is\n", "it is \n\n", "half a wor", "Answer:", "<"])
@pytest.mark.parametrize("text", ["I look.", " I look.", "\nI look.", ": C", "C"])
def test_no_token_of_a_candidate_depends_on_or_is_lost_to_what_stands_before_it(smollm, tail, text):
    """EleutherAI/lm-evaluation-harness#1053: a token across the seam left an empty continuation."""
    (ids,) = compile_set(smollm, [text]).ids
    before = smollm.encode(tail)

    assert smollm.decode(ids) == render_thought(text)
    assert smollm.decode([*before, *ids]) == tail + render_thought(text)
    is_merged = smollm.encode(tail + render_thought(text)) != [*before, *ids]
    assert seams(smollm, tail, [text]) == ((0,) if is_merged else ())


def test_a_set_is_compiled_once_for_a_model_and_forgotten_with_it():
    model = with_tokenizer(ByteTokenizer())
    first = compile_set(model, ["Look."])

    assert compile_set(model, ["Look."]) is first
    assert compile_set(with_tokenizer(ByteTokenizer()), ["Look."]) is not first
    remembered = len(compiled_set._REMEMBERED)
    del model
    gc.collect()
    assert len(compiled_set._REMEMBERED) < remembered


def test_only_the_latest_sets_are_remembered():
    model = with_tokenizer(ByteTokenizer())
    first = compile_set(model, ["0"])
    for number in range(compiled_set.MOST_REMEMBERED):
        compile_set(model, [str(number + 1)])

    assert len(compiled_set._REMEMBERED[model]) == compiled_set.MOST_REMEMBERED
    assert compile_set(model, ["0"]) is not first


def test_any_thought_has_ids_whatever_stands_in_it():
    (ids,) = candidate_ids(tiny_model(), ["<answer>"])

    assert bytes(ids) == b"<thinking><answer></thinking>"
