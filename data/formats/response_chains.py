"""Responses that go on from one another by `previous_response_id`, each with its own new input only.

A chain's parts are put together as they come, a response after the one it goes on from; what branches is a run each leaf.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..traces import Trace
from .conversation import Conversation
from .exchanges import items_of, said_of_items
from .gathering import RunPart
from .openai_chat import model_of
from .outcomes import outcome_in
from .parts import Said

Raw = Mapping[str, Any]

CHAIN, AFTER = "responses", "previous_response_id"


def is_chained(value: Any) -> bool:
    """Whether a response says which one it goes on from, or that it is the first."""
    response = _response(value)
    return AFTER in response and isinstance(response.get("id"), str)


def chained_part(value: Raw) -> Iterator[RunPart]:
    response = _response(value)
    part = {"id": response["id"], AFTER: response.get(AFTER), "items": list(items_of(value))}
    told = {"model": model_of(response), "reward": value.get("reward")}
    yield RunPart(response["id"], part | told, after=str(response.get(AFTER) or ""))


def is_chain(document: Any) -> bool:
    return isinstance(document, dict) and set(document) == {CHAIN}


def read_chain(document: Raw) -> Iterator[Trace]:
    """A run each response that none goes on from."""
    responses = {one["id"]: one for one in document[CHAIN]}
    parents = {one.get(AFTER) for one in responses.values()}
    told: set[str] = set()
    for last in responses.values():
        if last["id"] in parents:
            continue
        path = _path(responses, last)
        shared = len(_said(one for one in path if one["id"] in told))
        told |= {one["id"] for one in path}
        yield Conversation(_said(path), shared=shared).trace(
            outcome_in(last), str(last.get("model") or ""), last["id"]
        )


def _path(responses: Mapping[str, Raw], last: Raw) -> Sequence[Raw]:
    path: list[Raw] = []
    at: Raw | None = last
    while at is not None and at not in path:
        path.append(at)
        at = responses.get(str(at.get(AFTER)))
    return path[::-1]


def _said(path: Iterator[Raw] | Sequence[Raw]) -> list[Said]:
    return said_of_items([item for one in path for item in one["items"]])


def _response(value: Any) -> Raw:
    """The response, alone or beside its request."""
    if not isinstance(value, dict):
        return {}
    inner = value.get("response")
    return inner if isinstance(inner, dict) and AFTER in inner else value
