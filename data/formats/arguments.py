"""A tool call's arguments, which come as objects, as JSON in a string, or broken.

What is no object is kept word for word under "raw": nothing a model wrote is lost.
"""

import json
from typing import Any

from .window import Damage, parsed


def arguments_of(given: Any) -> dict[str, Any]:
    """The arguments as an object; {} where a model gave none."""
    if isinstance(given, dict):
        return given
    if given is None or given == "":
        return {}
    if not isinstance(given, str):
        return {"raw": json.dumps(given)}
    try:
        value = parsed(given)
    except Damage:
        return {"raw": given}
    return value if isinstance(value, dict) else {"raw": given}
