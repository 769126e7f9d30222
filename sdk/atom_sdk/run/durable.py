"""Writes folders of files that are whole after a crash, or not there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

Content = bytes | str | os.PathLike[str]
Files = Mapping[str, Content] | Callable[[Path], object]


def write_files(folder: Path, files: Files) -> None:
    """Fill a folder: bytes as they are, a path as a copy, or whatever the callable writes into it.

    Raises ValueError for a name that leaves the folder.
    """
    if callable(files):
        files(folder)
        return
    for name, content in files.items():
        target = folder / name
        if not target.is_relative_to(folder) or ".." in Path(name).parts:
            raise ValueError(f"The file name {name!r} would leave its folder.")
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            shutil.copyfile(content, target)


def sync_folder(folder: Path) -> None:
    """Make every file below, and the folders themselves, survive a power cut."""
    for root, _, names in os.walk(folder):
        for name in names:
            sync(Path(root) / name)
        sync(Path(root))


def sync(path: Path) -> None:
    """Make one file or folder survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
