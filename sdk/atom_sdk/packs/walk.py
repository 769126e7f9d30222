"""Lists the files and links of a folder the way that a dataset holds them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3

from atom_sdk.errors import LinkTargetError
from atom_sdk.packs.file_list import FileList
from atom_sdk.packs.paths import encode_path, encode_target
from atom_sdk.packs.plan import SourceFile

_READ_BYTES = 1 << 20


class SkippedPath(NamedTuple):
    """A path that a dataset cannot hold, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class FolderListing:
    """Regular files sorted by UTF-8 path, the targets of links by path, and what is left out."""

    files: FileList
    links: dict[str, str]
    skipped: list[SkippedPath]


def walk_folder(
    root: Path | str,
    ignore: Callable[[str], bool] | None = None,
    *,
    follow_links: bool = False,
) -> FolderListing:
    """List all regular files and links below `root`, except the paths for which `ignore` is true.

    A folder that is ignored is not entered. With `follow_links` a link to a file is listed as a
    file, and one to a folder as a folder; none is listed as a link. Raises PathError for a name
    that a dataset cannot hold.
    """
    walk = _Walk(ignore or _keep_all, follow_links)
    files = FileList(walk.files(os.fspath(root)))
    return FolderListing(files, dict(sorted(walk.links.items())), sorted(walk.skipped))


def _keep_all(_path: str) -> bool:
    return False


@dataclass
class _Open:
    """A folder that is gone through: what is left of it, and which folder it is."""

    entries: Iterator[tuple[str, os.DirEntry[str]]]
    identity: tuple[int, int] | None


class _Walk:
    """One folder per level is in memory."""

    def __init__(self, ignore: Callable[[str], bool], follows: bool) -> None:
        self._ignore = ignore
        self._follows = follows
        self.links: dict[str, str] = {}
        self.skipped: list[SkippedPath] = []

    def files(self, root: str) -> Iterator[SourceFile]:
        for path, entry in self._entries(root):
            encode_path(path)
            if self._is_file(entry):
                status = entry.stat(follow_symlinks=self._follows)
                yield SourceFile(path, status.st_size, status.st_mtime_ns)
            elif entry.is_symlink():
                self._take_link(path, entry)
            else:
                self.skipped.append(SkippedPath(path, "it is a special file"))

    def _take_link(self, path: str, entry: os.DirEntry[str]) -> None:
        if self._follows:
            there = os.path.exists(entry.path)
            reason = "its link leads to a special file" if there else "its link leads nowhere"
            self.skipped.append(SkippedPath(path, reason))
            return
        target = os.readlink(entry.path)
        try:
            encode_target(path, target)
        except LinkTargetError:
            reason = "it is a link whose target a dataset cannot hold"
            self.skipped.append(SkippedPath(path, reason))
        else:
            self.links[path] = target

    def _entries(self, root: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Everything but folders, in the order of the paths."""
        open_ = [_Open(self._sorted_entries("", root), self._identity(root))]
        while open_:
            path, entry = next(open_[-1].entries, (None, None))
            if path is None or entry is None:
                open_.pop()
            elif not path.endswith("/"):
                yield path, entry
            else:
                identity = self._identity(entry.path)
                if identity is not None and any(each.identity == identity for each in open_):
                    reason = "its link leads to a folder that it lies in"
                    self.skipped.append(SkippedPath(path[:-1], reason))
                    continue
                open_.append(_Open(self._sorted_entries(path, entry.path), identity))

    def _is_file(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_file(follow_symlinks=self._follows)
        except OSError:
            # A link that leads to itself.
            return False

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir(follow_symlinks=self._follows)
        except OSError:
            return False

    def _identity(self, folder: str) -> tuple[int, int] | None:
        """Device and inode; where no link is followed there is no circle to find."""
        if not self._follows:
            return None
        status = os.stat(folder)
        return status.st_dev, status.st_ino

    def _sorted_entries(self, prefix: str, folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Entries of a folder; the path of a folder ends in "/", by which its files are sorted."""
        found = []
        with os.scandir(folder) as entries:
            for entry in entries:
                path = prefix + entry.name
                if not self._ignore(path):
                    found.append((f"{path}/" if self._is_folder(entry) else path, entry))
        return iter(sorted(found, key=lambda pair: pair[0]))


def hash_file(path: Path | str) -> bytes:
    """BLAKE3 of a file, 32 bytes, in bounded memory."""
    hasher = blake3()
    with open(path, "rb", buffering=0) as file:
        buffer = memoryview(bytearray(_READ_BYTES))
        while count := file.readinto(buffer):
            hasher.update(buffer[:count])
    return hasher.digest()
