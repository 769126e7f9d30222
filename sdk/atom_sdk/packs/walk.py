"""Lists the files of a folder the way that a dataset holds them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from blake3 import blake3

from atom_sdk.packs.file_list import FileList
from atom_sdk.packs.paths import encode_path
from atom_sdk.packs.plan import SourceFile

_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FolderListing:
    """Regular files sorted by UTF-8 path; `skipped` are links and special files."""

    files: FileList
    skipped: list[str]


def walk_folder(root: Path | str, ignore: Callable[[str], bool] | None = None) -> FolderListing:
    """List all regular files below `root`, except the paths for which `ignore` is true.

    A folder that is ignored is not entered. Raises PathError for a name that a dataset cannot hold.
    """
    skipped: list[str] = []
    files = FileList(_files(os.fspath(root), ignore or _keep_all, skipped))
    return FolderListing(files, sorted(skipped))


def _files(root: str, ignore: Callable[[str], bool], skipped: list[str]) -> Iterator[SourceFile]:
    for path, entry in _entries(root, ignore):
        if entry.is_file(follow_symlinks=False):
            encode_path(path)
            status = entry.stat(follow_symlinks=False)
            yield SourceFile(path, status.st_size, status.st_mtime_ns)
        else:
            skipped.append(path)


def _keep_all(_path: str) -> bool:
    return False


def _entries(root: str, ignore: Callable[[str], bool]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything but folders, in the order of the paths; one folder per level is in memory."""
    open_ = [_sorted_entries("", root, ignore)]
    while open_:
        path, entry = next(open_[-1], (None, None))
        if path is None or entry is None:
            open_.pop()
        elif path.endswith("/"):
            open_.append(_sorted_entries(path, entry.path, ignore))
        else:
            yield path, entry


def _sorted_entries(
    prefix: str, folder: str, ignore: Callable[[str], bool]
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Entries of a folder; the path of a folder ends in "/", by which what is in it is sorted."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            path = prefix + entry.name
            if not ignore(path):
                found.append((f"{path}/" if entry.is_dir(follow_symlinks=False) else path, entry))
    return iter(sorted(found, key=lambda pair: pair[0]))


def hash_file(path: Path | str) -> bytes:
    """BLAKE3 of a file, 32 bytes, in bounded memory."""
    hasher = blake3()
    with open(path, "rb", buffering=0) as file:
        buffer = memoryview(bytearray(_READ_BYTES))
        while count := file.readinto(buffer):
            hasher.update(buffer[:count])
    return hasher.digest()
