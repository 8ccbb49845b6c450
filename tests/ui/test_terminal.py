"""Untrusted text on a terminal."""

import pytest

from forethought.ui.terminal import plain, printable


@pytest.mark.parametrize("hostile", ["\x1b[31mred", "a\x00b", "\u202eabc", "a\x9bb", "\ud83d"])
def test_what_steers_a_terminal_is_replaced(hostile):
    for shown in (plain(hostile).plain, printable(hostile)):
        assert not set(shown) & set("\x1b\x00\u202e\x9b\ud83d")
        assert "\ufffd" in shown


@pytest.mark.parametrize("text", ["[bold]x[/bold]", "é 文 👩‍👩‍👧", "<b>", "a\tb"])
def test_markup_and_other_scripts_stand_as_they_are(text):
    assert plain(text).plain == text
    assert not plain(text).spans


def test_a_message_is_one_line():
    assert printable("a\nb\r\nc") == "a b\ufffd c"
