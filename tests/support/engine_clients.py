"""Engines connected to a server of tests, and answers spoiled in one place."""

import dataclasses

from engine_server import EngineServer

from forethought.scorer.engines.engine import Engine, expected_model
from forethought.scorer.engines.sglang import SGLangEngine
from forethought.scorer.engines.transport import Patience, Transport
from forethought.scorer.engines.vllm import VLLMEngine

ENGINES = {"sglang": SGLangEngine, "vllm": VLLMEngine}
PATIENCE = Patience(connect=2, read=30, pause=0.001, tries=3)
JUNK = [None, 5, True, "x", [], {}, [[]], {"a": 1}, 10**400, float("nan"), -(10**300)]


def connect(server: EngineServer, **changes: object) -> Engine:
    expected = dataclasses.replace(expected_model(server.model), **changes)
    return ENGINES[server.kind](Transport(server.url, PATIENCE), expected)


def places(answer, path=()):
    """Every place in a JSON document."""
    inside = answer.items() if isinstance(answer, dict) else enumerate(answer)
    for key, own in inside if isinstance(answer, dict | list) else ():
        yield (*path, key)
        if isinstance(own, dict | list):
            yield from places(own, (*path, key))


def spoiled(answer, path, junk):
    if not path:
        return junk
    copy = answer.copy()
    copy[path[0]] = spoiled(answer[path[0]], path[1:], junk)
    return copy
