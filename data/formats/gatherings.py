"""Documents that are parts of a run, and which run each belongs to; the joined run is then read by a row of the table.

A row here names the list in which the joined document holds its parts.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .dialects import role_of
from .exchanges import is_logged, logged_call
from .gathering import RunPart
from .response_chains import CHAIN, chained_part, is_chained
from .sessions import (
    CLAUDE,
    CODEX,
    SESSION,
    claude_parts,
    codex_parts,
    is_claude_line,
    is_codex_line,
    is_session_line,
    session_parts,
)
from .span_fields import (
    attributed_span,
    is_attributed,
    is_langfuse,
    is_langsmith,
    is_otlp,
    is_weave,
    langfuse_observations,
    langsmith_run,
    otlp_spans,
    weave_call,
)


@dataclass(frozen=True)
class Gathering:
    """`detects` takes any JSON value and never raises; `parts` takes what it detected."""

    name: str
    detects: Callable[[Any], bool]
    parts: Callable[[Any], Iterable[RunPart]]


def is_message(value: Any) -> bool:
    """A message that stands by itself: a file of them is one run."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and ("content" in value or "tool_calls" in value or "parts" in value)
        and role_of(value) is not None
    )


def is_smol_step(value: Any) -> bool:
    """A step of smolagents' memory, which is a list of them."""
    if not isinstance(value, dict):
        return False
    is_task = "task_images" in value and "task" in value
    return (
        is_task or "step_number" in value or ("plan" in value and "model_output_message" in value)
    )


def _alone(value: Any) -> Iterator[RunPart]:
    yield RunPart("", value)


GATHERINGS = (
    Gathering(SESSION, is_session_line, session_parts),
    Gathering(CLAUDE, is_claude_line, claude_parts),
    Gathering(CODEX, is_codex_line, codex_parts),
    Gathering("otel-genai", is_otlp, otlp_spans),
    Gathering("openinference", is_attributed, attributed_span),
    Gathering("langsmith", is_langsmith, langsmith_run),
    Gathering("langfuse", is_langfuse, langfuse_observations),
    Gathering("weave", is_weave, weave_call),
    Gathering(CHAIN, is_chained, chained_part),
    Gathering("request-log", is_logged, logged_call),
    Gathering("steps", is_smol_step, _alone),
    Gathering("messages", is_message, _alone),
)
