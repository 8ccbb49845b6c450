"""SSR's prompt, held to the authors' own hash."""

from dataclasses import replace
from hashlib import sha256

from forethought.data.library import LIBRARIES, read_library
from forethought.scorer.agent.prompt import system_prompt

TOOLS = ("image_zoom_in_tool", "text_search_tool", "image_search_tool")
THEIR_HASH = "91d0f01f2308f210b29e1b4ce0d898809d25c4321d6237847b798f7a9e0d769d"
SSR = read_library(LIBRARIES / "ssr.json")


def test_with_ssrs_library_and_all_tools_it_is_ssrs_to_the_byte():
    prompt = system_prompt(TOOLS, SSR.active)

    assert sha256(prompt.encode()).hexdigest() == THEIR_HASH


def test_without_a_list_it_begins_with_the_role():
    assert system_prompt(TOOLS).startswith("#Role\n")


def test_a_tool_that_is_not_there_is_not_told():
    prompt = system_prompt(["text_search_tool"], SSR.active)

    assert '"name": "text_search_tool"' in prompt
    assert "image_zoom_in_tool" not in prompt.split("<tools>")[1]
    assert prompt.count('{"type": "function"') == 1


def test_a_text_with_braces_is_listed_as_it_is():
    one = SSR.active[0]
    odd = replace(one, text="I look at {this} and {0}.", expected_actions=())

    assert '[0] "I look at {this} and {0}."\n' in system_prompt(TOOLS, [odd]) + "\n"
