"""An export looked at again: whole, unchanged, of the set as it is now, and fit for its trainer."""

import json
from pathlib import Path
from typing import Any

from ..data.errors import ForethoughtError
from ..data.exports.checking import Check, checks_of, read_export
from ..data.exports.loaders import loader_checks
from ..data.library import library_hash
from ..data.store import Store
from .tokenizing import require_chat_template, require_eyes, tokenizer_hash, tokenizing_model

Json = dict[str, Any]


def check_export(folder: Path, store: Store | None = None, model: str | None = None) -> Json:
    """The report: which checks were made and what they found, and which were not, and why."""
    exported = read_export(folder)
    name = exported.manifest.get("set", {}).get("name")
    known = store is not None and name in store.set_names()
    current = library_hash(store.candidate_set(name)) if store is not None and known else None
    tokenizer = None
    checks: list[Check] = []
    if model is not None:
        served = tokenizing_model(model)
        tokenizer = served.tokenizer
        if exported.shape is not None:
            require_chat_template(served)
        if exported.manifest.get("pictures", {}).get("files"):
            require_eyes(served)
        checks += _tokens(exported.folder, tokenizer)
    checks = [
        *checks_of(exported, tokenizer, current),
        *checks,
        *loader_checks(exported, tokenizer),
    ]
    made = [check for check in checks if not check.skipped]
    left = [{"check": check.name, "reason": check.skipped} for check in checks if check.skipped]
    if current is None:
        left.append({"check": "set in the store", "reason": f"no store here has a set {name!r}"})
    return {
        "folder": str(folder),
        "dialect": exported.target,
        "ok": not any(check.found for check in made),
        "checks": [
            {
                "check": check.name,
                "of": check.of,
                "found": check.found,
                "problems": check.problems,
            }
            for check in made
        ],
        "not_checked": left,
    }


def _tokens(folder: Path, tokenizer: Any) -> list[Check]:
    """Ids that are those of another tokenizer, or that do not say the text."""
    path = folder / "tokens.json"
    if not path.is_file():
        return []
    try:
        told = json.loads(path.read_text("utf-8"))
        check = Check("tokens", len(told["candidates"]))
        if told["tokenizer"]["sha256"] != tokenizer_hash(tokenizer):
            check.note("", [f"made by another tokenizer ({told['tokenizer']['name']})"])
        for id, candidate in told["candidates"].items():
            if tokenizer.decode(candidate["ids"]) != candidate["text"]:
                check.note(id, ["its ids do not say its text"])
    except (ValueError, KeyError, TypeError) as error:
        raise ForethoughtError(f"{path} holds no token ids ({error!r}); export again") from error
    return [check]
