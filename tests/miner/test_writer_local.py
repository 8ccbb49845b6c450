"""A local chat model as a writer: real weights, few of them."""

import pytest
import torch
from embedders import HashingEmbedder
from tiny_chat import END, NO_SYSTEM, TEMPLATE, write_tiny_chat

from forethought.data.errors import ModelUnavailable
from forethought.miner.answer_cache import AnswerCache
from forethought.miner.chat_writer import ChatWriter, WriterSettings
from forethought.miner.local_chat import LocalChat
from forethought.miner.rephrase import Checks, rephrase
from forethought.miner.writer import Evidence, Message, NoAnswer, Quote, Request
from forethought.scorer.packaged import packaged_folder

MESSAGES = (Message("system", "Write."), Message("user", "Now."))
GREEDY = Request(MESSAGES, 0.0, 0, 12)
SAMPLED = Request(MESSAGES, 0.8, 1, 12)
EVIDENCE = Evidence("I need more.", (Quote("t:0", f"Say {END} now.", f"Say {END} now."),))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(write_tiny_chat(tmp_path_factory.mktemp("chat")))


@pytest.mark.parametrize("request_", [GREEDY, SAMPLED])
def test_the_same_request_gets_the_same_answer_from_another_process_too(folder, request_):
    torch.manual_seed(5)
    first = LocalChat(folder).answer(request_)
    torch.manual_seed(6)

    assert LocalChat(folder).answer(request_) == first


def test_samples_differ_and_leave_other_randomness_alone(folder):
    chat = LocalChat(folder)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)

    answers = {chat.answer(SAMPLED._replace(seed=seed)).text for seed in range(4)}
    assert len(answers) > 1
    assert torch.equal(torch.rand(3), expected)


def test_an_answer_that_does_not_end_is_flawed(folder):
    answer = LocalChat(folder).answer(GREEDY._replace(max_tokens=3))

    assert "cut off" in answer.flaw


def test_a_prompt_that_does_not_fit_is_not_asked(folder):
    long = GREEDY._replace(messages=(Message("user", "word " * 1000),))

    with pytest.raises(NoAnswer, match="room is for 2036"):
        LocalChat(folder).answer(long)


def test_a_template_without_a_system_gets_one_message(tmp_path):
    folder = str(write_tiny_chat(tmp_path, NO_SYSTEM + TEMPLATE))

    assert LocalChat(folder).answer(GREEDY).revision


def test_the_revision_tells_other_weights(folder, tmp_path):
    other = str(write_tiny_chat(tmp_path, seed=1))

    assert LocalChat(folder).answer(GREEDY).revision != LocalChat(other).answer(GREEDY).revision


def test_what_is_no_chat_model_is_told(tmp_path):
    with pytest.raises(ModelUnavailable, match="cannot be loaded as a writer"):
        LocalChat(str(tmp_path)).answer(GREEDY)
    with pytest.raises(ModelUnavailable, match="no chat template"):
        LocalChat(str(write_tiny_chat(tmp_path, None))).answer(GREEDY)


def test_a_run_whose_answers_are_cached_loads_no_model(folder, tmp_path):
    settings = WriterSettings(samples=2, max_tokens=5)
    first = ChatWriter(LocalChat(folder, "tiny"), AnswerCache(tmp_path), settings)
    drafts = first.write(EVIDENCE)

    again = ChatWriter(LocalChat("/nowhere", "tiny"), AnswerCache(tmp_path), settings)
    assert again.write(EVIDENCE) == drafts


def test_babble_leaves_every_phrase(folder, tmp_path):
    writer = ChatWriter(
        LocalChat(folder), AnswerCache(tmp_path), WriterSettings(samples=2, max_tokens=8)
    )

    result = rephrase([EVIDENCE], writer, Checks(HashingEmbedder()))[0]
    assert result.text == EVIDENCE.phrase
    assert result.reason


@pytest.mark.slow
def test_the_packaged_model_writes_drafts(tmp_path):
    writer = ChatWriter(
        LocalChat(str(packaged_folder())), AnswerCache(tmp_path), WriterSettings(samples=2)
    )

    assert len(writer.write(EVIDENCE)) == 2
