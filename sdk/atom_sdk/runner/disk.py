"""Disks that take no write: full, read-only or failing. They pass, or a person repairs them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FULL, READ_ONLY, FAILING = "full", "read_only", "failing"
RETRY_S = 1.0
_BY_ERRNO = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EROFS: READ_ONLY,
    errno.EIO: FAILING,
}


def refusal(error: OSError) -> str:
    """Return what an error says of the disk; "" if it says something else."""
    return _BY_ERRNO.get(error.errno or 0, "")


def refusal_of(folder: Path) -> str:
    """Return why a folder's disk takes nothing now; "" if it does."""
    probe = folder / f".written.{os.getpid()}"
    try:
        with open(str(probe), "wb") as file:
            file.write(b"written")
            file.flush()
            os.fsync(file.fileno())
        probe.unlink()
    except OSError as error:
        return refusal(error)
    return ""


@contextmanager
def suppressing_refusals() -> Iterator[None]:
    """Go on without what guards against a crash only."""
    try:
        yield
    except OSError as error:
        if not refusal(error):
            raise
