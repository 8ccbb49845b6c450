"""Models as far as exports go: their tokenizers and what rows they could read, without their weights. Torch waits until one is named."""

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..data.errors import ModelUnavailable

if TYPE_CHECKING:
    from ..scorer.model import LanguageModel


def tokenizing_model(path: str | None) -> "LanguageModel":
    """The packaged SmolLM2, or the model at `path`, as far as tokens go: without its weights."""
    from ..scorer.engines.served import load_served

    return load_served(path)


def tokenizer_hash(tokenizer: Any) -> str:
    """SHA-256 of all that it is: of the fast one's own description, else of its vocabulary."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    described = backend.to_str() if backend else repr(sorted(tokenizer.get_vocab().items()))
    return sha256(described.encode("utf-8", "replace")).hexdigest()


def require_chat_template(model: "LanguageModel") -> None:
    """ModelUnavailable for a tokenizer with no chat template, which no trainer could write a chat with."""
    if not getattr(model.tokenizer, "chat_template", None):
        raise ModelUnavailable(
            f"{model.name} has no chat template, so a chat cannot be trained with it; take an instruct model"
        )


def require_eyes(model: "LanguageModel") -> None:
    """ModelUnavailable for one that reads text alone, which no trainer could show a picture."""
    config = model.network.config
    parts = [config, *(getattr(config, name, None) for name in config.sub_configs)]
    if not any(hasattr(part, "vision_config") for part in parts):
        raise ModelUnavailable(
            f"{model.name} reads text alone, and these rows show pictures; name a model that sees, or export with --prompt plain"
        )
