"""Lists the files of a folder the way that a dataset holds them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from blake3 import blake3

from atom_sdk.packs.paths import encode_path
from atom_sdk.packs.plan import SourceFile

_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FolderListing:
    """Regular files sorted by UTF-8 path; `skipped` are links and special files."""

    files: list[SourceFile]
    skipped: list[str]


def walk_folder(root: Path | str, ignore: Callable[[str], bool] | None = None) -> FolderListing:
    """List all regular files below `root`, except the paths for which `ignore` is true.

    A folder that is ignored is not entered. Raises PathError for a name that a dataset cannot hold.
    """
    files: list[SourceFile] = []
    skipped: list[str] = []
    for path, entry in _entries(os.fspath(root), ignore or _keep_all):
        if entry.is_file(follow_symlinks=False):
            encode_path(path)
            status = entry.stat(follow_symlinks=False)
            files.append(SourceFile(path, status.st_size, status.st_mtime_ns))
        else:
            skipped.append(path)
    files.sort()
    return FolderListing(files, sorted(skipped))


def _keep_all(_path: str) -> bool:
    return False


def _entries(root: str, ignore: Callable[[str], bool]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    pending = [("", root)]
    while pending:
        prefix, folder = pending.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                path = prefix + entry.name
                if ignore(path):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append((f"{path}/", entry.path))
                else:
                    yield path, entry


def hash_file(path: Path | str) -> bytes:
    """BLAKE3 of a file, 32 bytes, in bounded memory."""
    hasher = blake3()
    with open(path, "rb", buffering=0) as file:
        buffer = memoryview(bytearray(_READ_BYTES))
        while count := file.readinto(buffer):
            hasher.update(buffer[:count])
    return hasher.digest()
