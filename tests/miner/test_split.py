"""Splitting: properties over any text, real thoughts of several agents, and what is never a core."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.miner.sentences import sentences
from forethought.miner.split import LONGEST, MOST_SENTENCES, size, split

PARTS = st.sampled_from(
    (
        "The film is from 1990. ",
        "The page does not show the director! ",
        "I should search for the director. ",
        "Then, I will answer. ",
        "Let me think. ",
        "So the answer is Paris.",
        "我没有找到导演。",
        "让我再搜索一下。",
        "次に監督を調べる。",
        "Ahora buscaré al director. ",
        "لا أعرف الاسم؟ ",
        "\n\n",
        "\n- I will read it.",
        "\n1. One",
        "```\ncode\n```",
        '{"a": [1, 2]}',
        '"',
        "a" * 400,
        "、" * 400,
        "\u2028\x00 ",
    )
)
TEXTS = st.text(max_size=700) | st.lists(PARTS, max_size=60).map("".join)


@given(TEXTS)
def test_a_core_is_its_own_core(text):
    core = split(text)

    assert split(core.text).text == core.text


@given(TEXTS)
def test_a_core_is_bounded_and_never_empty_unless_the_thought_is_blank(text):
    core = split(text)

    assert size(core.text) <= LONGEST
    assert bool(core.text.strip()) == bool(text.strip())
    if core.text != text:
        assert len([*sentences(core.text)]) <= MOST_SENTENCES or size(text) <= LONGEST


@given(TEXTS)
def test_a_core_is_made_of_the_thoughts_own_words_in_their_order(text):
    core = split(text)
    stood = text[core.start : core.stop]

    at = 0
    for word in core.text.split():
        assert word in stood[at:]
        at = stood.index(word, at) + len(word)
    if core.text.strip():
        assert stood.split()[0].startswith(core.text.split()[0])
        assert stood.endswith(core.text[-1])


@given(st.text(max_size=LONGEST))
def test_a_short_thought_stays_whole(text):
    if size(text) <= LONGEST:
        assert split(text).text == text


FILL = "The band played in many cities of the north over the years of its being. " * 5


@pytest.mark.parametrize(
    "cue", ["I should search for {}.", "Let me look for {}.", "I'll read {} next."]
)
def test_the_sentence_that_announces_the_next_step_is_kept_wherever_it_stands(cue):
    step = cue.format("the singer of the band and for what is said of the songs of that time")

    assert split(FILL + step).text == step
    assert split(f"{FILL}{step} {FILL}").text == step


def test_what_is_missing_is_kept_with_the_step_and_what_stands_between_is_dropped_if_it_is_long():
    missing, step = "The singer is not known.", "I should search for the singer of this band now."

    assert split(f"{FILL}{missing} {step}").text == f"{missing} {step}"
    between = "It began here. It went on there. "
    core = split(f"{FILL}{missing} {between}{step}")
    assert core.text == f"{missing} {step}"
    assert core.stop - core.start > len(core.text)


def test_a_terse_step_is_kept_with_what_it_refers_to():
    assert (
        split(FILL + "The page is long. Let me read it.").text
        == "The page is long. Let me read it."
    )


def test_the_next_step_is_before_the_later_one_and_the_first_of_a_list():
    first = (
        "I will search for the band and for all that is said in print of the songs of that time."
    )
    later = "Then I will answer the question."

    assert split(f"{FILL}{first} {later}").text == f"{first} {later}"
    assert split(f"{FILL}\n1. {first}\n2. I will read on.\n3. {later}").text == first


def test_words_to_the_reader_and_thinking_aloud_announce_nothing():
    known = "The band is still not known to anybody in the sources."

    for idle in ("Let me know if I can help you!", "Let me think about it."):
        assert split(f"{FILL}\n\n{known}\n\n{idle}").text == known


@pytest.mark.parametrize(
    "junk",
    [
        "```python\nI_will = search()  # I will search for it.\n```",
        '{"thought": "I will search for it. Let me see."}',
        "Observation: I will search for it.\nLet me look for it.",
        "> I will search for it.",
    ],
)
def test_code_data_and_quoted_observations_are_never_the_core(junk):
    step = "I should search for the singer of this band, who is not known yet, in the archive."

    assert split(f"{FILL}{step}\n\n{junk}").text == step


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (
            "La fecha no aparece en la página. Ahora voy a buscar el nombre del director.",
            "La Ahora",
        ),
        ("Das Datum fehlt. Als Nächstes suche ich nach dem Namen des Regisseurs.", "Das Als"),
        ("日付はまだ分からない。次に監督の名前を検索する。", "日付 次に"),
        ("التاريخ غير معروف. سأبحث الآن عن اسم المخرج.", "التاريخ سأبحث"),
    ],
)
def test_in_other_languages_the_last_two_sentences_of_the_last_paragraph_are_kept(last, words):
    lead = {"日": "これは映画についての長い説明です。" * 20}.get(
        last[0], "Xyz abc def ghi jkl. " * 20
    )
    core = split(f"{lead}\n\n{last}\n\n- abc\n- def")

    assert core.text == last
    assert all(word in core.text for word in words.split())


def test_a_sentence_longer_than_a_core_is_cut_at_its_clauses():
    clause = "the page shows one more name"
    core = split(f"So {', '.join([clause] * 30)}, and I should search for the last of them.")

    assert core.text.endswith("I should search for the last of them.")
    assert core.text.startswith("the page")


# Short excerpts of public traces, with the licence of each repository (NOTICE).
REAL = [
    (  # GitHub bytedance/deer-flow, MIT
        '用户想要为"苏超联赛第一季"创建一个酷炫的足球网站。这里有一些需要澄清的地方：\n\n'
        '3. 设计方面："酷炫"可能意味着现代、视觉冲击力强、动画效果等。\n\n'
        "4. 功能范围：需要明确是静态网站还是需要后端功能（比如实时比分更新）。\n\n"
        '我需要先澄清一下。不过，也许我可以先查看一下技能系统，看看是否有相关的技能可以借鉴。有一个"frontend-design"技能，可能适用于创建网站界面。但首先，我需要明确具体要求。\n\n'
        '让我先问问用户，澄清一下需求。我需要了解网站的具体用途、功能需求以及目标用户。同时，也要确认一下"苏超联赛第一季"具体指什么。',
        '让我先问问用户，澄清一下需求。我需要了解网站的具体用途、功能需求以及目标用户。同时，也要确认一下"苏超联赛第一季"具体指什么。',
    ),
    (  # the same
        "4. Possible Podcast - January 15, 2025 (wait, that's 2025, not 2026? Actually January 15, 2025 is more than 6 months ago from January 2026. "
        "But maybe it's January 15, 2026? Let me check the search results more carefully.)\n\n"
        'But the user said "last 6 months" from today (2026-01-25), which would be July 2025 onward. So January 2025 is too old. '
        "Let me search for more recent ones.",
        "So January 2025 is too old. Let me search for more recent ones.",
    ),
    (  # GitHub OpenBMB/ToolBench, Apache-2.0
        "Based on the previous observations and actions, it appears that the attempt to search for comedy shows using the "
        "`search_basic_free_for_streaming_availability` function was unsuccessful. The error message suggests that the genre parameter should be "
        "an integer, which was not provided correctly in the previous action. To resolve this, I will modify the action to include the correct "
        "integer value for the genre parameter and retry the search.\n\nNew action:\n- Function: `search_basic_free_for_streaming_availability`\n"
        '- Arguments: \n  - services: "netflix,hulu,prime"\n  - country: "US"\n  - genre: 35',
        "The error message suggests that the genre parameter should be an integer, which was not provided correctly in the previous action. "
        "To resolve this, I will modify the action to include the correct integer value for the genre parameter and retry the search.",
    ),
    (  # GitHub SWE-agent/SWE-agent, MIT
        "So we don't have any additional clues in the files of the website, but we do have the ability to print any file from the system.Another "
        "vulnerability that we can use, is that `open()` opens a file descriptor to a given file path, UNLESS a “|” character is added to the end "
        "of the string. In that case, open() will now EXECUTE THE FILE acting as an `exec()` call.We will examine this by trying to run a simple "
        "`ls .` command.\n",
        "So we don't have any additional clues in the files of the website, but we do have the ability to print any file from the system. "
        "We will examine this by trying to run a simple `ls .` command.",
    ),
    (  # GitHub MinorJerry/WebVoyager, Apache-2.0
        "The screenshot now displays the 2nd to 4th movies from the IMDb Top 250 Comedy movies sorted by user rating. The task requires the top 5 "
        'movies to be shown, and so far three have been identified: "Back to the Future," "The Intouchables," and "City Lights." To fulfill the '
        "task, we still need to scroll down further to reveal the 5th movie in the list.",
        "To fulfill the task, we still need to scroll down further to reveal the 5th movie in the list.",
    ),
    (  # GitHub sierra-research/tau-bench, MIT
        "I have checked the flight durations for all the reservations. The flights that are over 3 hours long are:\n\n1. Reservation ID: S61CZX\n"
        "   - LAX to EWR: Flight HAT228 (5 hours 30 minutes)\n   - EWR to LAX: Flight HAT041 (5 hours 30 minutes)\n\n"
        "These flights meet the criteria for cancellation. I will proceed with canceling the reservation S61CZX.",
        "These flights meet the criteria for cancellation. I will proceed with canceling the reservation S61CZX.",
    ),
]


@pytest.mark.parametrize(("whole", "core"), REAL)
def test_real_thoughts(whole, core):
    assert size(whole) > LONGEST
    assert split(whole).text == core


@pytest.mark.parametrize(
    "unit",
    [
        "I know it. I should go on. ",
        "没有结果。",
        "- I will\n",
        "{",
        '"',
        "“",
        "```",
        ".",
        " ",
        "\n",
        "a",
        "aa.A",
        "I now ",
    ],
    ids=repr,
)
def test_a_megabyte_takes_about_a_second_at_most_whatever_it_holds(unit):
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()
    split(text)

    assert time.process_time() - started < 4  # a quadratic pass takes minutes
