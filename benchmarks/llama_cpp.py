"""llama.cpp as a scorer: its C interface over ctypes, from the prebuilt libraries of an npm package (see peers-requirements.txt).

Its best way to score sequences after one context: the context decoded once, its keys and values shared with every
sequence by a unified cache (nothing is copied), all sequences in one batch in which a token that several begin with
is run once, and logits for these tokens alone. Knows the struct layout of the release that is pinned; another is refused.
"""

import ctypes
import json
import sys
import weakref
from collections.abc import Sequence
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int8, c_int32, c_uint8, c_uint32, c_void_p
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from forethought.data.errors import ModelUnavailable

FOLDER = "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64"
RELEASE = "v0.5.0"  # of ggml-org/llama.cpp
FLOAT32 = 0  # its number for a type, and for a file of that type
DISABLED = 0
UBATCH = 512  # its default; larger ones were no faster here


class ModelOptions(ctypes.Structure):
    """llama_model_params, of which nothing is changed."""

    _fields_ = [("all", c_uint8 * 80)]


class ContextOptions(ctypes.Structure):
    """llama_context_params: the fields that are set, and room between them."""

    _fields_ = [
        ("n_ctx", c_uint32),
        ("n_batch", c_uint32),
        ("n_ubatch", c_uint32),
        ("n_seq_max", c_uint32),
        ("_1", c_uint32 * 3),
        ("n_threads", c_int32),
        ("n_threads_batch", c_int32),
        ("_2", c_uint8 * 16),
        ("flash_attn_type", c_int32),
        ("_3", c_uint8 * 48),
        ("type_k", c_int32),
        ("type_v", c_int32),
        ("_4", c_uint8 * 21),
        ("kv_unified", c_bool),
        ("_5", c_uint8 * 26),
    ]


class QuantizeOptions(ctypes.Structure):
    """llama_model_quantize_params."""

    _fields_ = [
        ("nthread", c_int32),
        ("ftype", c_int32),
        ("_1", c_int32 * 2),
        ("allow_requantize", c_bool),
        ("_2", c_uint8 * 63),
    ]


class Batch(ctypes.Structure):
    """llama_batch."""

    _fields_ = [
        ("n_tokens", c_int32),
        ("token", POINTER(c_int32)),
        ("embd", c_void_p),
        ("pos", POINTER(c_int32)),
        ("n_seq_id", POINTER(c_int32)),
        ("seq_id", POINTER(POINTER(c_int32))),
        ("logits", POINTER(c_int8)),
    ]


SIGNATURES = {
    "llama_log_set": (None, [c_void_p, c_void_p]),
    "llama_model_default_params": (ModelOptions, []),
    "llama_context_default_params": (ContextOptions, []),
    "llama_model_quantize_default_params": (QuantizeOptions, []),
    "llama_model_quantize": (c_uint32, [c_char_p, c_char_p, POINTER(QuantizeOptions)]),
    "llama_model_load_from_file": (c_void_p, [c_char_p, ModelOptions]),
    "llama_model_free": (None, [c_void_p]),
    "llama_model_get_vocab": (c_void_p, [c_void_p]),
    "llama_vocab_n_tokens": (c_int32, [c_void_p]),
    "llama_init_from_model": (c_void_p, [c_void_p, ContextOptions]),
    "llama_free": (None, [c_void_p]),
    "llama_get_memory": (c_void_p, [c_void_p]),
    "llama_memory_clear": (None, [c_void_p, c_bool]),
    "llama_memory_seq_cp": (None, [c_void_p, c_int32, c_int32, c_int32, c_int32]),
    "llama_memory_seq_rm": (c_bool, [c_void_p, c_int32, c_int32, c_int32]),
    "llama_decode": (c_int32, [c_void_p, Batch]),
    "llama_get_logits": (POINTER(c_float), [c_void_p]),
}


class Room(NamedTuple):
    """What a context must hold at once: its own tokens and all sequences'."""

    tokens: int
    sequences: int


class Llama:
    """A model file in llama.cpp, with room for one context and the sequences after it.

    Its flash attention computes in half precision, whatever the cache holds; `exact` does without it and keeps the
    cache in float32.
    """

    def __init__(
        self, library: ctypes.CDLL, path: Path, room: Room, *, exact: bool = False
    ) -> None:
        self._library = library
        self._model = library.llama_model_load_from_file(
            str(path).encode(), library.llama_model_default_params()
        )
        if not self._model:
            raise ModelUnavailable(f"llama.cpp cannot load {path}")
        self._vocabulary = library.llama_vocab_n_tokens(library.llama_model_get_vocab(self._model))
        options = library.llama_context_default_params()
        options.n_ctx = options.n_batch = room.tokens
        options.n_ubatch = UBATCH
        options.n_seq_max = room.sequences + 1  # the context is one
        options.n_threads = options.n_threads_batch = torch.get_num_threads()
        options.kv_unified = True
        if exact:
            options.type_k = options.type_v = FLOAT32
            options.flash_attn_type = DISABLED
        self._context = library.llama_init_from_model(self._model, options)
        if not self._context:
            raise ModelUnavailable(f"llama.cpp has no room for {room.tokens} tokens")
        self._memory = library.llama_get_memory(self._context)
        weakref.finalize(self, library.llama_model_free, self._model)
        weakref.finalize(self, library.llama_free, self._context)  # the last one runs first
        self._length = 0
        self._end = torch.empty(0)  # (V,) logits at the context's end

    def prefill(self, context_ids: Sequence[int]) -> None:
        """Forget everything, and run the context as sequence 0."""
        self._library.llama_memory_clear(self._memory, c_bool(True))
        self._length = len(context_ids)
        places = range(self._length)
        last = self._length - 1
        self._decode(context_ids, places, [(0,)] * self._length, [i == last for i in places])
        self._end = self._logits(1)[0].clone()

    def score_after(self, sequences: Sequence[Sequence[int]]) -> tuple[np.ndarray, ...]:
        """Log-probabilities of the sequences' tokens after the prefilled context, which stays as it is."""
        stems: dict[
            tuple[int, ...], list[int]
        ] = {}  # what must be run: the sequences that begin so
        for number, ids in enumerate(sequences, 1):
            self._library.llama_memory_seq_cp(self._memory, 0, number, -1, -1)
            for length in range(1, len(ids)):
                stems.setdefault(tuple(ids[:length]), []).append(number)
        rows = {stem: row for row, stem in enumerate(stems, 1)}
        logits = self._end[None]  # (1 + stems, V)
        if stems:
            self._decode(
                [stem[-1] for stem in stems],
                [self._length + len(stem) - 1 for stem in stems],
                list(stems.values()),
                [True] * len(stems),
            )
            logits = torch.cat([logits, self._logits(len(stems))])
        masses = logits.logsumexp(-1)
        for number in range(1, len(sequences) + 1):
            self._library.llama_memory_seq_rm(self._memory, number, -1, -1)
        found = []
        for ids in sequences:
            own = [0, *(rows[tuple(ids[:length])] for length in range(1, len(ids)))]
            found.append((logits[own, list(ids)] - masses[own]).double().numpy())
        return tuple(found)

    def _decode(
        self,
        tokens: Sequence[int],
        places: Sequence[int],
        owners: Sequence[Sequence[int]],
        wanted: Sequence[bool],
    ) -> None:
        """One batch: token i stands at places[i], in every sequence of owners[i]; logits where wanted."""
        num, ints = len(tokens), c_int32 * len(tokens)
        numbers = [(c_int32 * len(own))(*own) for own in owners]
        pointers = [ctypes.cast(own, POINTER(c_int32)) for own in numbers]
        batch = Batch(
            num,
            ints(*tokens),
            None,
            ints(*places),
            ints(*map(len, owners)),
            (POINTER(c_int32) * num)(*pointers),
            (c_int8 * num)(*wanted),
        )
        code = self._library.llama_decode(self._context, batch)
        if code:
            raise ModelUnavailable(f"llama.cpp could not decode {num} tokens: code {code}")

    def _logits(self, rows: int) -> torch.Tensor:
        """(rows, V) of the last batch; a view that the next one overwrites."""
        pointer = self._library.llama_get_logits(self._context)
        return torch.from_numpy(np.ctypeslib.as_array(pointer, (rows, self._vocabulary)))


_silent = ctypes.CFUNCTYPE(None, ctypes.c_int, c_char_p, c_void_p)(lambda *_: None)


def open_library() -> ctypes.CDLL:
    """llama.cpp beside this Python environment. ModelUnavailable if it is not there, or of another release."""
    folder = Path(sys.prefix) / FOLDER
    record = folder / "_nlcBuildMetadata.json"
    if not record.is_file():
        raise ModelUnavailable(
            "the npm package @node-llama-cpp/linux-x64 is not in this environment"
        )
    release = json.loads(record.read_text())["buildOptions"]["llamaCpp"]["release"]
    if release != RELEASE:
        raise ModelUnavailable(f"llama.cpp {release} is not {RELEASE}, whose structs are known")
    ggml = ctypes.CDLL(str(folder / f"libggml.{RELEASE}.so"), mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(folder / f"libllama.{RELEASE}.so"))
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    library.llama_log_set(_silent, None)
    ggml.ggml_backend_load_all_from_path.argtypes = [c_char_p]
    ggml.ggml_backend_load_all_from_path(str(folder).encode())
    return library


def write_float32(library: ctypes.CDLL, source: Path, target: Path) -> Path:
    """`source` dequantised by llama.cpp into `target`, for a comparison without its quantised arithmetic."""
    options = library.llama_model_quantize_default_params()
    options.ftype, options.allow_requantize = FLOAT32, True
    if library.llama_model_quantize(str(source).encode(), str(target).encode(), options):
        raise ModelUnavailable(f"llama.cpp could not dequantise {source.name}")
    return target
