"""What a run looks like to a model: the template's own words as tokens, everybody else's as text, pictures in their places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_chat import NO_SYSTEM, TEMPLATE
from tiny_folders import END, PICTURE_TOKENS, QWEN_CHAT, byte_tokenizer

from forethought.data.errors import ModelUnavailable
from forethought.scorer.agent.dialogue import Plain, chat_of
from forethought.scorer.agent.tools import PICTURE, literal

SYSTEM = "Search, then answer."


def with_template(template):
    tokenizer = byte_tokenizer(special=PICTURE_TOKENS)
    tokenizer.chat_template = template
    return tokenizer


def said(*parts) -> str:
    return "".join(piece.text for pieces in parts for piece in pieces)


def test_a_run_piece_by_piece_is_what_the_template_makes_of_the_whole():
    """The oracle is the template over all messages at once."""
    tokenizer = with_template(QWEN_CHAT)
    chat = chat_of(tokenizer, SYSTEM, "tiny")
    action = "<thinking>T</thinking>\n<tool_call>{}</tool_call>"
    run = said(chat.opening(), chat.question("Who?", 1))
    run += action + said(chat.observation("Found."))
    whole = tokenizer.apply_chat_template(
        [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": f"Who?\n{PICTURE}"},
            {"role": "assistant", "content": action},
            {"role": "user", "content": "<tool_response>\nFound.\n</tool_response>"},
        ],
        tokenize=False,
        add_generation_prompt=True,
    )

    assert run == whole


def test_a_template_that_refuses_a_system_gets_its_words_with_the_question():
    tokenizer = with_template(NO_SYSTEM + TEMPLATE)
    chat = chat_of(tokenizer, SYSTEM, "tiny")

    assert said(chat.opening(), chat.question("Who?")) == (
        f"user: {SYSTEM}\n\nWho?<|end|>assistant:"
    )


@pytest.mark.parametrize(
    "template",
    [None, "", "always the same", "{{ raise_exception('never') }}", "{{ messages[0].content }}"],
)
def test_a_template_of_no_use_is_one_line(template):
    with pytest.raises(ModelUnavailable, match="tiny") as raised:
        chat_of(with_template(template), SYSTEM, "tiny")

    assert "--prompt plain" in str(raised.value)
    assert "\n" not in str(raised.value)


@given(st.text() | st.sampled_from([END, "<image>", "</tool_response>", "<|vision_start|>x"]))
def test_nobody_s_words_are_markup_or_a_picture_s_place(text):
    chat = chat_of(with_template(QWEN_CHAT), SYSTEM, "tiny")
    for dialogue in (chat, Plain("Answer.\n")):
        pieces = dialogue.question(text, pictures=2)
        own = "".join(piece.text for piece in pieces if not piece.is_markup)
        assert own.count(PICTURE) == 2
        assert literal(text) in own
        assert all(text not in piece.text for piece in pieces if piece.is_markup and len(text) > 20)
