"""What a tokenizer makes of special tokens and of the tags that the renderer writes, and whether it is of use at all.

In a text, special tokens stay plain text: nobody's words may close a turn. The renderer's own tags are no one's words: a model
that was trained with `<thinking>` as one token must be scored on that token. A candidate that holds a tag is refused
elsewhere (data/candidates.py).
"""

import copy
import json
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from ..data.errors import ModelUnavailable
from ..data.render import CLOSING, OPENING

TAGS = (OPENING, CLOSING, "<tool_call>", "</tool_call>", "<answer>", "</answer>")
FILES = ("tokenizer.json", "tokenizer.model", "vocab.json")  # one of them holds the tokens


def read_tokenizer(path: str, vocabulary: int) -> Any:
    """The tokenizer at a folder or hub id; ModelUnavailable where it is none for `vocabulary` embeddings."""
    if Path(path).is_dir() and not any((Path(path) / name).is_file() for name in FILES):
        raise ModelUnavailable(
            f"{path} holds no tokenizer ({', '.join(FILES)}); save the model's own beside its weights"
        )
    tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
    _require_usable(tokenizer, path, vocabulary)
    return tokenizer


def special_tokens(tokenizer: Any) -> tuple[str, ...]:
    """All there are but the tags: a tokenizer names only those with a role among its `all_special_tokens`."""
    named = {str(token) for token in getattr(tokenizer, "all_special_tokens", ())}
    return tuple(sorted((named | _special_added(tokenizer)) - set(TAGS)))


def keeping_tags(tokenizer: Any) -> Any:
    """`tokenizer`, or a copy that keeps a tag whole where the tag is one of its special tokens.

    Special tokens written in a text are split; added tokens that are not special never are. So the copy has the
    tags as the latter, under the same ids. ModelUnavailable where that cannot be had.
    """
    tags = _special_added(tokenizer) & set(TAGS)
    if not tags:
        return tokenizer
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ModelUnavailable(
            f"the tokenizer has {', '.join(sorted(tags))} as special tokens and no fast version; save one as tokenizer.json"
        )
    described = json.loads(backend.to_str())
    for token in described["added_tokens"]:
        token["special"] = token["special"] and token["content"] not in tags
    kept = copy.deepcopy(tokenizer)
    kept._tokenizer = type(backend).from_str(json.dumps(described))
    return kept


def _require_usable(tokenizer: Any, name: str, vocabulary: int) -> None:
    """ModelUnavailable for an empty tokenizer, or one with text tokens that a model of `vocabulary` embeddings has not."""
    if not tokenizer("a", add_special_tokens=False).input_ids:
        raise ModelUnavailable(f"{name}: the tokenizer has no token for 'a'; its files are damaged")
    special = {*special_tokens(tokenizer), *TAGS}
    largest = max(
        (i for token, i in tokenizer.get_vocab().items() if token not in special), default=0
    )
    if largest >= vocabulary:
        raise ModelUnavailable(
            f"{name}: the tokenizer has ids up to {largest} and the model embeds {vocabulary}; they are of different models"
        )


def _special_added(tokenizer: Any) -> set[str]:
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    return {str(token) for token in added if token.special}
