"""Files that appear whole or not at all, and an error that says when the disk is full."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atom_sdk.errors import DiskFullError, PathInTheWayError

# EFBIG: a limit on the size of files, which asks for the same.
FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def naming_full_disk(folder: Path) -> Iterator[None]:
    """Raise DiskFullError, which names the folder, where writing to it finds no room."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        raise DiskFullError(str(folder), _free_bytes(folder)) from error


@contextmanager
def naming_the_way(path: Path) -> Iterator[None]:
    """Raise PathInTheWayError, which names the path, where a file and a folder meet."""
    try:
        yield
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise PathInTheWayError(str(path)) from error


@contextmanager
def suppressing_full_disk() -> Iterator[None]:
    """Go on without what cannot be written, where that only costs time."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise


@contextmanager
def whole_file(path: Path, name: str | None = None) -> Iterator[Path]:
    """Yield a path beside `path` to write to; what is there at the end takes its name.

    After an error nothing is left; after SIGKILL the temporary file is, under `name` if
    one is given. Raises DiskFullError.
    """
    # The name says nothing of the target's, which may have no room for more characters.
    temporary = path.with_name(name or f".{uuid.uuid4().hex}.part")
    try:
        with naming_full_disk(path.parent):
            yield temporary
            os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _free_bytes(folder: Path) -> int:
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free
