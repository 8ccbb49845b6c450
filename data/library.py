"""The candidate set as a file: the SSR authors' reasoning library, byte for byte, and ours beside it.

`NAME.json` holds what theirs does (`name`, `version`, `note`, `entries`), so that their code reads it and
their hash stays theirs. Status, support and the manifest go to `NAME.forethought.json`. Rejected
candidates are no part of a library.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from .candidates import MINED_AT, Candidate, CandidateSet, Status, check_text
from .errors import InvalidCandidate, InvalidLibrary, NotFound

LIBRARIES = Path(__file__).parent / "libraries"
ENTRY_KEYS = {"text", "expected_actions", "created_at"}
LIBRARY_KEYS = {"name", "version", "note", "entries"}


def library_json(candidate_set: CandidateSet) -> dict[str, Any]:
    """The active candidates in the authors' form and in the set's order."""
    return {
        "name": candidate_set.name,
        "version": candidate_set.version,
        "note": candidate_set.note,
        "entries": {
            candidate.id: {
                "text": candidate.text,
                "expected_actions": list(candidate.expected_actions),
                "created_at": candidate.created_at,
            }
            for candidate in candidate_set.active
        },
    }


def library_hash(candidate_set: CandidateSet) -> str:
    """The authors' hash: SHA-256 of the entries as JSON with sorted keys. Order is not part of it."""
    entries = library_json(candidate_set)["entries"]
    return sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()


def side_json(candidate_set: CandidateSet, written_at: str) -> dict[str, Any]:
    """What the authors' form has no place for; `hash` ties it to its library."""
    return {
        "hash": library_hash(candidate_set),
        "written_at": written_at,
        "manifest": dict(candidate_set.manifest),
        "candidates": {
            candidate.id: {
                "status": candidate.status.value,
                "questions": candidate.questions,
                "support": list(candidate.support),
                "version": candidate.version,
                "aliases": list(candidate.aliases),
            }
            for candidate in candidate_set.active
        },
    }


def library_text(content: Mapping[str, Any]) -> str:
    """A library or side file as the authors lay theirs out."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def side_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}.forethought.json")


def read_library(path: str | Path) -> CandidateSet:
    """The set in a library file, with what its side file adds where there is one.

    Raises NotFound for a missing file, InvalidLibrary with the entry's id for one that cannot be used.
    """
    path = Path(path)
    content = _load(path)
    candidate_set = CandidateSet(
        name=_string(content, "name", path),
        candidates=tuple(
            _candidate(id, entry, path) for id, entry in _entries(content, path).items()
        ),
        note=_string(content, "note", path),
        version=_string(content, "version", path),
    )
    side = side_path(path)
    return _with_side(candidate_set, _load(side), side) if side.exists() else candidate_set


def builtin(name: str) -> CandidateSet:
    """A set that ships with Forethought: `ssr` (the paper's six) or `handwritten`."""
    path = LIBRARIES / f"{name}.json"
    names = sorted(path.stem for path in LIBRARIES.glob("*.json"))
    if name not in names:
        raise NotFound(f"no built-in set {name!r}; there are: {', '.join(names)}")
    return read_library(path)


def _load(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8-sig"), object_pairs_hook=_without_repeats)
    except FileNotFoundError as error:
        raise NotFound(f"no library file {path}") from error
    except OSError as error:
        raise InvalidLibrary(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:  # broken JSON, UTF-8, or a key twice
        raise InvalidLibrary(f"{path}: no reasoning library ({error})") from error
    if not isinstance(content, dict):
        raise InvalidLibrary(f"{path}: no reasoning library (the file is not a JSON object)")
    return content


def _without_repeats(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise ValueError(f"the key {key!r} stands twice in one object")
        content[key] = value
    return content


def _entries(content: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    _refuse_unknown(content, LIBRARY_KEYS, f"{path}")
    entries = content.get("entries")
    if not isinstance(entries, dict) or not entries:
        raise InvalidLibrary(f"{path}: the library has no entries; add at least one candidate")
    return entries


def _candidate(id: str, entry: Any, path: Path) -> Candidate:
    where = f"{path}: entry {id!r}"
    if not isinstance(entry, dict):
        raise InvalidLibrary(f"{where} is not a JSON object")
    _refuse_unknown(entry, ENTRY_KEYS, where)
    actions = entry.get("expected_actions", [])
    if not isinstance(actions, list) or not all(isinstance(name, str) for name in actions):
        raise InvalidLibrary(f"{where}: expected_actions is not a list of names")
    text, created_at = entry.get("text"), entry.get("created_at", MINED_AT)
    if not isinstance(text, str) or not isinstance(created_at, str):
        raise InvalidLibrary(f"{where}: text or created_at is missing or not a string")
    try:
        text.encode()
        return Candidate(id, check_text(text), tuple(actions), created_at=created_at)
    except InvalidCandidate as error:
        raise InvalidLibrary(f"{where}: {error}") from error
    except UnicodeEncodeError as error:
        raise InvalidLibrary(f"{where}: the text has a lone surrogate; replace it") from error


def _refuse_unknown(content: Mapping[str, Any], known: set[str], where: str) -> None:
    if unknown := sorted(content.keys() - known):  # read over, they would drop out of the hash
        raise InvalidLibrary(
            f"{where} has the unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}"
        )


def _string(content: Mapping[str, Any], key: str, path: Path) -> str:
    value = content.get(key, path.stem if key == "name" else "")
    if not isinstance(value, str):
        raise InvalidLibrary(f"{path}: {key} is not a string")
    return value


def _with_side(candidate_set: CandidateSet, side: Mapping[str, Any], path: Path) -> CandidateSet:
    if side.get("hash") != library_hash(candidate_set):
        raise InvalidLibrary(
            f"{path} belongs to another version of its library; restore the library, or delete {path.name}"
        )
    try:
        candidates = tuple(
            _with_facts(c, side["candidates"][c.id]) for c in candidate_set.candidates
        )
        return replace(candidate_set, candidates=candidates, manifest=dict(side["manifest"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidLibrary(f"{path}: no side file of a library ({error!r}); delete it") from error


def _with_facts(candidate: Candidate, facts: Mapping[str, Any]) -> Candidate:
    return replace(
        candidate,
        status=Status(facts["status"]),
        questions=int(facts["questions"]),
        support=tuple(facts["support"]),
        version=int(facts["version"]),
        aliases=tuple(facts.get("aliases", ())),  # side files of the first release have none
    )
