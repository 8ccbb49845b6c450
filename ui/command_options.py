"""The options that several commands share, with one help text each."""

from pathlib import Path
from typing import Annotated

import typer

StoreUrl = Annotated[
    str,
    typer.Option(
        "--store", envvar="FORETHOUGHT_STORE", help="Path or SQLAlchemy URL of the store."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Seed = Annotated[int, typer.Option(help="Fixes every random choice.")]
Model = Annotated[
    str | None, typer.Option(help="Causal model: local path or hub id; default SmolLM2-135M.")
]
EmbedderPath = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="sentence-transformers model, as MODEL or MODEL::PROMPT, or vectors of your own as "
        "FILE.npz or FILE.npy; default all-MiniLM-L6-v2.",
    ),
]
MaskRulesPath = Annotated[
    Path | None,
    typer.Option(
        "--mask-rules",
        help="Mask by these rules, as `forethought mask --print-rules` prints them.",
    ),
]
SetName = Annotated[
    str, typer.Argument(help="A stored set, ssr, handwritten, or a reasoning library's path.")
]
