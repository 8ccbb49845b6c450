"""A router in a file of safetensors: facts and arrays, written whole, and judged before anything is built from them."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ....data.errors import ForethoughtError
from ..outcomes import InvalidRoutingTable, require_cells
from .network import Shape
from .profiles import BESIDE_GROUPS
from .wording import BUCKETS

Facts = Mapping[str, Any]
Arrays = Mapping[str, np.ndarray]
FORMAT = "forethought-router-1"
LARGEST = 1 << 16  # of a size or a count that a file may claim
SIZES = ("width", "query_tokens", "capsules", "layers", "heads")


class RouterFile(NamedTuple):
    """What stands in it; `facts` are of the types and sizes that the `arrays` have."""

    facts: Facts
    arrays: Arrays


def write_router_file(path: Path, facts: Facts, arrays: Arrays) -> None:
    """Whole or not at all. ForethoughtError where it cannot be, and where something else than a file lies there."""
    require_plain(path)
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        told = json.dumps({"format": FORMAT, **facts})
        save_file(dict(arrays), partial, {"router": told})
        partial.replace(path)
    except (OSError, SafetensorError) as error:
        raise ForethoughtError(f"{path}: cannot be written ({error}); name another file") from error


def require_plain(path: Path) -> None:
    """ForethoughtError where something lies that a file would take the place of and that is none: a folder, a device, a pipe."""
    if path.exists() and not path.is_file():
        raise ForethoughtError(
            f"cannot write {path}: it is a folder or a device, and no file; name another"
        )


def read_router_file(path: Path) -> RouterFile:
    """ForethoughtError where it is something else, or holds what no router can be made of."""
    try:
        with safe_open(path, "numpy") as file:
            facts = json.loads((file.metadata() or {}).get("router", "{}"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}
    except (OSError, SafetensorError, ValueError, TypeError, RecursionError) as error:
        raise unreadable(path, error) from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ForethoughtError(
            f"{path}: no router of this program; train one with `forethought route --out`"
        )
    try:
        _judge_facts(facts)
        _judge_arrays(facts, arrays)
    except (KeyError, TypeError, ValueError, InvalidRoutingTable) as error:
        raise unreadable(path, error) from error
    return RouterFile(facts, arrays)


def unreadable(path: Path, error: Exception) -> ForethoughtError:
    """In one line, whatever the `error` says."""
    told = " ".join(f"{error}".split())[:200] or type(error).__name__
    return ForethoughtError(f"{path}: cannot be read as a router ({told})")


def _judge_facts(facts: Facts) -> None:
    for name in ("arms", "ids"):
        told = facts[name]
        if not isinstance(told, list) or not all(isinstance(one, str) for one in told):
            raise ValueError(f"{name} are no list of names")
        if not told or len(set(told)) < len(told):
            raise ValueError(f"{name} without names of their own")
    if not all(arm.strip() for arm in facts["arms"]):
        raise ValueError("an arm has no name")
    if not isinstance(facts["embedder"], str):
        raise ValueError("the embedder has no name")
    _judge_shape(facts)


def _judge_shape(facts: Facts) -> None:
    """Sizes and counts; how many networks there are, and of which shape."""
    if not isinstance(facts["shape"], dict):
        raise ValueError("the shape is no table")
    shape = Shape(**facts["shape"])
    counts = {name: facts[name] for name in ("networks", "slices", "regions")}
    counts |= {name: getattr(shape, name) for name in SIZES}
    for name, count in counts.items():
        if type(count) is not int or not 1 <= count <= LARGEST:
            raise ValueError(f"{name} is no number from 1 to {LARGEST}")
    numbers = (shape.dropout, shape.bound, shape.temperature)
    if not all(isinstance(one, int | float) and math.isfinite(one) for one in numbers):
        raise ValueError("the shape holds what is no number")
    if shape.width % shape.heads or not 0 <= shape.dropout < 1 or not shape.temperature > 0:
        raise ValueError("the shape is that of no network")


def _judge_arrays(facts: Facts, arrays: Arrays) -> None:
    if max(facts["networks"], Shape(**facts["shape"]).layers) > len(arrays):
        raise ValueError("networks and layers without weights")
    questions, arms = len(facts["ids"]), len(facts["arms"])
    numbers = facts["slices"] + facts["regions"] + BESIDE_GROUPS
    _require(arrays, "profiles", (arms, numbers), "f")
    _require(arrays, "wording.rarity", (BUCKETS,), "f")
    _require(arrays, "wording.directions", (BUCKETS, None), "f")
    _require(arrays, "worded.centre", (arrays["wording.directions"].shape[1],), "f")
    scales = ["meaning", "worded", *(["image"] if "image.centre" in arrays else [])]
    for name in scales:
        _require(arrays, f"{name}.centre", (None,), "f")
        _require(arrays, f"{name}.spread", (1,), "f")
        if not arrays[f"{name}.spread"][0] > 0:
            raise ValueError(f"{name}.spread is not above 0")
    for name in ("slice", "region"):
        _require(arrays, f"pool.{name}", (questions,), "iu")
        if not _within(arrays[f"pool.{name}"], facts[f"{name}s"]):
            raise ValueError(f"pool.{name} holds what is none of {facts[f'{name}s']}")
    quality, cost = arrays["pool.quality"], arrays["pool.cost"]
    _require(arrays, "pool.quality", (questions, None), "f")
    _require(arrays, "pool.cost", quality.shape, "f")
    require_cells(
        quality, cost, facts["ids"], [f"arm {n}" for n in range(quality.shape[1])], "pool"
    )
    if not quality.shape[1] or np.isnan(quality).all(axis=0).any():
        raise ValueError("the pool has an arm without a quality")
    for name, array in arrays.items():
        if not name.startswith("pool.") and not np.isfinite(array).all():
            raise ValueError(f"{name} holds what is no number")
        if name.startswith(("network.", "profiles")) and array.dtype != np.float32:
            raise ValueError(f"{name} is not of 32 bits")


def _require(arrays: Arrays, name: str, shape: tuple[int | None, ...], kinds: str) -> None:
    """ValueError for an array of another shape (None: any size) or kind of number."""
    found = arrays[name]
    is_alike = len(found.shape) == len(shape) and all(
        size in (None, own) for own, size in zip(found.shape, shape, strict=True)
    )
    if not is_alike or found.dtype.kind not in kinds:
        raise ValueError(f"{name} has the shape {found.shape} and the type {found.dtype}")


def _within(places: np.ndarray, number: int) -> bool:
    return bool(((places >= 0) & (places < number)).all())
