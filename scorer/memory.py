"""Running out of memory, told in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from ..data.errors import OutOfMemory

CPU_SIGNS = ("can't allocate memory", "not enough memory", "DefaultCPUAllocator")


@contextmanager
def reporting_memory(what: str) -> Iterator[None]:
    """OutOfMemory, saying what did not fit, in the place of torch's own errors."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise _told(what) from error
    except RuntimeError as error:
        if any(sign in str(error) for sign in CPU_SIGNS):
            raise _told(what) from error
        raise


def _told(what: str) -> OutOfMemory:
    return OutOfMemory(
        f"out of memory: {what} did not fit; use a shorter context, a smaller set, or another dtype"
    )
