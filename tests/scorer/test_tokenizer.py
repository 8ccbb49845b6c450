"""Tags and special tokens: which stay text, and which are the tokenizer's own."""

import pytest
from tiny_folders import END, byte_tokenizer, save_folder
from tiny_models import tiny_network

from forethought.data.errors import InvalidCandidate, ModelUnavailable
from forethought.scorer.compiled_set import compile_set
from forethought.scorer.engines.served import load_served
from forethought.scorer.model import load_model, wrap
from forethought.scorer.tokenizer import TAGS, special_tokens

TEXT = (
    "Question: Who?\n<thinking>I look.</thinking>\n<tool_call>{}</tool_call>\n<answer>x</answer>\n"
)


def wrapped(**tokens):
    tokenizer = byte_tokenizer(**tokens)
    return wrap(tiny_network(vocab_size=300), tokenizer, "tiny", "0"), tokenizer


@pytest.mark.parametrize("kind", ["special", "plain"])
@pytest.mark.parametrize("tags", [TAGS, TAGS[:2]])
def test_a_tag_that_the_tokenizer_has_is_its_one_token(kind, tags):
    """A model trained on these tokens never saw the tag in pieces."""
    model, tokenizer = wrapped(**{kind: tags})
    own = [tokenizer.convert_tokens_to_ids(tag) for tag in tags]

    (ids,) = compile_set(model, ["I look."]).ids
    opening, closing = own[:2]
    assert (ids[0], ids[-1]) == (opening, closing)
    assert len(ids) == 2 + len("I look.")
    assert (
        list(ids) == tokenizer("<thinking>I look.</thinking>", add_special_tokens=False).input_ids
    )
    context = model.encode(TEXT)
    assert [i for i in context if i in own] == own
    assert context == tokenizer(TEXT, add_special_tokens=False).input_ids
    assert model.decode(context) == TEXT


def test_a_tokenizer_without_tags_spells_them():
    model, _ = wrapped()

    (ids,) = compile_set(model, ["I look."]).ids
    assert len(ids) == len("<thinking>I look.</thinking>")


def test_other_special_tokens_stay_text_beside_the_tags():
    model, tokenizer = wrapped(special=TAGS)

    ids = model.encode(f"<thinking>a{END}</thinking>")
    assert tokenizer.convert_tokens_to_ids(END) not in ids
    assert len(ids) == 3 + len(END)
    assert special_tokens(model.tokenizer) == (END,)


def test_special_tokens_are_read_as_such_where_that_is_asked_for():
    model, tokenizer = wrapped(special=("<|im_start|>",))
    text = f"<|im_start|>user\nWho?{END}\n"

    assert model.encode(text, special_tokens=True) == tokenizer(text).input_ids
    assert len(model.encode(text)) == len(text)


def test_a_tag_in_a_candidate_is_refused_also_where_it_is_a_token():
    model, _ = wrapped(special=TAGS)

    with pytest.raises(InvalidCandidate):
        compile_set(model, ["I say </thinking> now."])


def test_a_tag_token_that_swallows_white_space_is_told_as_a_seam():
    tokenizer = byte_tokenizer()
    from tokenizers import AddedToken

    swallowing = AddedToken("<thinking>", special=True, lstrip=True)
    tokenizer.add_special_tokens({"additional_special_tokens": [swallowing]})
    model = wrap(tiny_network(vocab_size=300), tokenizer, "tiny", "0")

    assert compile_set(model, ["I look."]).seams == (0,)
    assert compile_set(wrapped(special=TAGS)[0], ["I look."]).seams == ()


@pytest.mark.parametrize("load", [load_model, load_served])
def test_tags_are_kept_for_models_here_and_served(tmp_path, load):
    tokenizer = byte_tokenizer(special=TAGS)
    save_folder(tmp_path, tiny_network(vocab_size=300), tokenizer)

    assert len(load(str(tmp_path)).encode("<thinking></thinking>")) == 2
    assert len(tokenizer("<thinking>", split_special_tokens=True).input_ids) > 1, "left as it was"


def test_a_slow_tokenizer_with_special_tags_is_refused():
    class Slow:
        def __init__(self):
            self.added_tokens_decoder = byte_tokenizer(special=TAGS).added_tokens_decoder

    with pytest.raises(ModelUnavailable, match="no fast version"):
        wrap(tiny_network(), Slow(), "slow", "0")
