"""A model as it lies in a folder or on the hub: read whole or refused in one line.

Knows which models the scorer computes rightly, and what a damaged, partial or ill-fitting checkpoint looks like; transformers
would fill what is missing with random numbers. Knows nothing of how a network is used (model.py).
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
)
from transformers.utils import logging as transformers_logging

from ..data.errors import ForethoughtError, ModelUnavailable
from .cache import keep, recall
from .tokenizer import read_tokenizer
from .vision import read_image_processor

TEXT_FAMILIES = ("llama", "qwen2", "qwen3")
VISION_FAMILIES = ("qwen2_5_vl", "qwen3_vl")
FAMILIES = TEXT_FAMILIES + VISION_FAMILIES
# Parts of a weight's name that say that it plays no part in likelihoods of text; of pictures the first of them do.
PICTURE_PARTS = {"visual", "vision_tower", "vision_model", "multi_modal_projector"}
IDLE_PARTS = {"mtp", "v_head", "inv_freq"}  # more heads for training and drafting; old constants
WEIGHTS = ("*.safetensors", "*.bin")
TEXT_FILES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "vocab.json",
    "merges.txt",
    "added_tokens.json",
    "special_tokens_map.json",
    "preprocessor_config.json",
    "processor_config.json",
)
QUOTED = 240  # characters of what transformers says
NAMED = 3  # weights in a message


class Checkpoint(NamedTuple):
    """What a folder or hub id holds; `image_processor` is None where there is none."""

    network: Any
    tokenizer: Any
    image_processor: Any


def located(path: str) -> str:
    """The folder at `path`, `~` expanded, or `path` as a hub id; ModelUnavailable if it can be neither."""
    if not path.strip():
        raise ModelUnavailable(
            "the model's name is empty; pass a folder, or a hub id like org/name"
        )
    place = Path(path).expanduser()
    if place.is_dir():
        if not (place / "config.json").is_file():
            raise ModelUnavailable(f"{path} holds no model: it has no config.json")
        return str(place)
    if place.exists():
        raise ModelUnavailable(f"{path} is a file; pass the model's folder, or a hub id")
    if path.count("/") != 1 or path.startswith((".", "~", os.sep)):
        raise ModelUnavailable(
            f"no model at {path!r}: no such folder; pass a folder, or a hub id like org/name"
        )
    return path


def read_checkpoint(path: str, dtype: torch.dtype) -> Checkpoint:
    """All that lies at a `located` path; the config and the files are judged before gigabytes are read."""
    with told_in_one_line(path, "a model"):
        config = AutoConfig.from_pretrained(path, trust_remote_code=False)
        require_supported(config, path)
        for file in sorted(Path(path).glob("*.safetensors")):
            _require_whole(file)
        sees = hasattr(config, "vision_config")
        kind: Any = AutoModelForImageTextToText if sees else AutoModelForCausalLM
        network, found = kind.from_pretrained(
            path,
            config=config,
            dtype=dtype,
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # told in found, and refused by name below
        )
        _require_fit(path, found, IDLE_PARTS if sees else IDLE_PARTS | PICTURE_PARTS)
        tokenizer = read_tokenizer(path, network.get_input_embeddings().num_embeddings)
        eyes = read_image_processor(path, config.vision_config) if sees else None
        return Checkpoint(network, tokenizer, eyes)


@contextmanager
def told_in_one_line(path: str, what: str) -> Iterator[None]:
    """What a large library says of foreign files, tables and tracebacks, as one ModelUnavailable."""
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        yield
    except ForethoughtError:
        raise
    except Exception as error:  # damaged files raise anything
        said = " ".join(str(error).split())
        if not said or isinstance(error, LookupError | TypeError | AttributeError):
            said = f"its files are damaged ({type(error).__name__}: {said})"
        reason = said if len(said) <= QUOTED else f"{said[:QUOTED]}..."
        hint = "" if Path(path).is_dir() else "; pass a model's folder if the hub cannot be reached"
        raise ModelUnavailable(f"cannot load {what} from {path!r}: {reason}{hint}") from error
    finally:
        transformers_logging.set_verbosity(verbosity)


def require_supported(config: Any, name: str) -> None:
    """Refuse what the shared-context scorer would get wrong in silence."""
    if config.model_type not in FAMILIES:
        raise ModelUnavailable(
            f"{name}: models of type {config.model_type!r} are not supported (only {', '.join(FAMILIES)})"
        )
    text = config.get_text_config()
    kinds = set(getattr(text, "layer_types", None) or ()) - {"full_attention"}
    if kinds:
        raise ModelUnavailable(
            f"{name}: layers with {', '.join(sorted(kinds))} cannot share one context among candidates"
        )
    rope = (getattr(text, "rope_parameters", None) or {}).get("rope_type", "default")
    if rope in ("dynamic", "longrope"):
        raise ModelUnavailable(
            f"{name}: {rope!r} positions change with the length, so a context's keys cannot be kept"
        )


def revision_of(path: str, config: Any) -> str:
    """The hub's commit, or a digest of every byte in the folder that a likelihood or a token depends on."""
    folder = Path(path)
    if not folder.is_dir():
        return getattr(config, "_commit_hash", None) or "unknown"
    digest = hashlib.sha256()
    small = [folder / name for name in TEXT_FILES]
    large = [file for pattern in WEIGHTS for file in folder.glob(pattern)]
    for file in [file for file in small if file.is_file()] + sorted(large):
        digest.update(f"{file.name} {_digest(file)}\n".encode())
    return digest.hexdigest()


def _digest(file: Path) -> str:
    """SHA-256 of the content: a second for each GB, so it is remembered for as long as the file is left alone."""
    found = file.stat()  # before reading: what is written meanwhile moves it
    facts = {
        "path": str(file.resolve()),
        "size": found.st_size,
        "inode": found.st_ino,
        "modified": found.st_mtime_ns,
        "changed": found.st_ctime_ns,  # also where a copy keeps the other's time
    }
    known = recall("digests", facts)
    if isinstance(known, str):
        return known
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    keep("digests", facts, digest)
    return digest


def _require_whole(file: Path) -> None:
    """ModelUnavailable, which says what the file is instead, if it is no whole safetensors file."""
    size = file.stat().st_size
    with file.open("rb") as content:
        start = content.read(8)
        length = int.from_bytes(start, "little")
        header = content.read(length) if length <= size - 8 else b""
    if start.startswith(b"version "):
        raise ModelUnavailable(f"{file} is a Git LFS pointer, not weights; run `git lfs pull`")
    if start.lstrip().startswith(b"<"):
        raise ModelUnavailable(f"{file} is a web page, not weights; download it again")
    try:
        entries = json.loads(header)
        ends = [own["data_offsets"][1] for name, own in entries.items() if name != "__metadata__"]
        needed = 8 + length + max(ends, default=0)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ModelUnavailable(
            f"{file} is no safetensors file, or cut off in its beginning; copy it again"
        ) from error
    if size != needed:
        raise ModelUnavailable(f"{file} has {size} bytes of {needed}; copy it again")


def _require_fit(path: str, found: Mapping[str, Any], idle: set[str]) -> None:
    """ModelUnavailable unless the checkpoint has the config's weights: all of them, in their shapes, and no others."""
    kinds = {
        "missing": found["missing_keys"],
        "of another shape than its config.json says": [key for key, *_ in found["mismatched_keys"]],
        "left over": [key for key in found["unexpected_keys"] if not idle & set(key.split("."))],
    }
    for kind, keys in kinds.items():
        if keys:
            named = ", ".join(sorted(keys)[:NAMED]) + (", ..." if len(keys) > NAMED else "")
            raise ModelUnavailable(
                f"{path}: {len(keys)} weights are {kind} ({named}); the checkpoint is incomplete, "
                "or its config.json is another model's"
            )
