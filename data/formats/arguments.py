"""A tool call's arguments, which come as objects, as JSON in a string, or broken.

What is no object, or holds numbers that JSON does not know, is kept word for word under "raw": nothing is lost.
"""

import json
import math
from typing import Any

from .window import Damage, parsed


def arguments_of(given: Any) -> dict[str, Any]:
    """The arguments as an object; {} where a model gave none."""
    if isinstance(given, dict):
        return given if is_json(given) else {"raw": json.dumps(given)}
    if given is None or given == "":
        return {}
    if not isinstance(given, str):
        return {"raw": json.dumps(given)}
    value = _parsed_object(given)
    return {"raw": given} if value is None else value


def is_unparsed(given: Any) -> bool:
    """Whether the arguments are kept word for word, since they are no object."""
    if isinstance(given, dict):
        return not is_json(given)
    if given is None or given == "":
        return False
    return not isinstance(given, str) or _parsed_object(given) is None


def is_json(value: Any) -> bool:
    """False where a number in it is infinite or undefined."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(is_json, value.values()))
    return all(map(is_json, value)) if isinstance(value, list) else True


def _parsed_object(text: str) -> dict[str, Any] | None:
    try:
        value = parsed(text)
    except Damage:
        return None
    return value if isinstance(value, dict) and is_json(value) else None
