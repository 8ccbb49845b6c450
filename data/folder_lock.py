"""One writer at a time in a folder of results: a lock that ends with its process, however that ends. Unix only, as is `flock`."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import ForethoughtError

LOCK = ".forethought-writing"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """`folder` is this caller's to write in, and is made where it is not there; one made here that stays empty goes again.

    ForethoughtError where somebody else writes there, or nobody can.
    """
    made: list[Path] = []
    try:
        made = _make(folder)
        lock = _take(folder / LOCK)
    except OSError as error:
        _remove_empty(made)
        raise ForethoughtError(_refusal(folder, error)) from error
    try:
        yield
    finally:
        with suppress(OSError):  # one that stays is locked by nobody
            (folder / LOCK).unlink()
        os.close(lock)
        _remove_empty(made)


def _make(folder: Path) -> list[Path]:
    """What had to be made, the innermost first."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _remove_empty(folders: list[Path]) -> None:
    for one in folders:
        with suppress(OSError):
            one.rmdir()


def _take(path: Path) -> int:
    """The descriptor of the locked file at `path`, by which the lock is held; BlockingIOError where somebody else has it."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), path.stat()):
                return lock
            os.close(lock)  # of the one before, who took it away
        except FileNotFoundError:
            os.close(lock)
        except OSError:
            os.close(lock)
            raise


def _refusal(folder: Path, error: OSError) -> str:
    if isinstance(error, BlockingIOError):
        return f"{folder}: another export or training writes there; wait until it ends, or name another --out folder"
    if os.path.isfile(folder):
        return f"{folder}: is a file; choose another --out, a folder"
    return f"cannot write to {folder} ({error.strerror}); choose another --out folder"
