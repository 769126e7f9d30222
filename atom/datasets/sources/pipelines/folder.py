"""Folders of this machine or of a network file system that is mounted on it.

Only below folders that the administrator allows. No symbolic link is followed on the way down:
one could lead anywhere, and may be changed while we look.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from atom.datasets.source_spec import SourceSpec, no_whole_path
from atom.datasets.sources.errors import (
    SourceChanged,
    SourceDenied,
    SourceFolderRefused,
    SourceMissing,
)
from atom.datasets.sources.pipelines.objects import Shard, SourceObject
from atom_sdk.manifests.pins import Pin
from atom_sdk.sentences import Sentence

_PAGE = 1000
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class FolderReader:
    """One folder."""

    def __init__(self, spec: SourceSpec, allowed: Sequence[str]) -> None:
        """Raises Invalid, SourceFolderRefused or SourceMissing."""
        self._folder = _checked(spec.folder, allowed)

    def folders(self, prefix: str) -> list[str] | None:
        """Return the folders directly below."""
        return [name for name in self._names(prefix) if name.endswith("/")]

    def pages(self, shard: Shard, after: str = "") -> Iterator[list[SourceObject]]:
        """Yield the files of a shard that come after a path, in the order of their bytes."""
        page: list[SourceObject] = []
        for found in self._walk(shard.prefix, after, is_deep=shard.is_deep):
            page.append(found)
            if len(page) == _PAGE:
                yield page
                page = []
        yield page

    def read(self, pin: Pin, start: int, end: int) -> bytes:
        """Return bytes of exactly the pinned state. Raises SourceChanged."""
        try:
            descriptor = self._open(pin.key, _FILE_FLAGS)
        except (SourceMissing, SourceDenied) as exc:
            if not self._folder.is_dir():
                raise
            raise SourceChanged.of([pin.key]) from exc
        try:
            _require_pinned(descriptor, pin)
            data = os.pread(descriptor, end - start, start)
            # Again: it may have been written to in between.
            _require_pinned(descriptor, pin)
        finally:
            os.close(descriptor)
        if len(data) != end - start:
            raise SourceChanged.of([pin.key])
        return data

    def _walk(self, prefix: str, after: str, *, is_deep: bool) -> Iterator[SourceObject]:
        for name in self._names(prefix):
            if name.endswith("/"):
                # A whole folder comes before `after` unless it leads there.
                if is_deep and (name > after or after.startswith(name)):
                    yield from self._walk(name, after, is_deep=True)
            elif name > after and (found := self._look(name)) is not None:
                yield found

    def _names(self, prefix: str) -> list[str]:
        """Return what is directly below, folders with a slash: sorted as whole paths are."""
        descriptor = self._open(prefix.rstrip("/"), _FOLDER_FLAGS)
        try:
            with os.scandir(descriptor) as entries:
                names = [
                    prefix + entry.name + ("/" if entry.is_dir(follow_symlinks=False) else "")
                    for entry in entries
                    if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)
                ]
        finally:
            os.close(descriptor)
        return sorted(names, key=os.fsencode)

    def _look(self, name: str) -> SourceObject | None:
        try:
            descriptor = self._open(name, _FILE_FLAGS)
        except SourceMissing:
            return None
        try:
            found = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return None
        return SourceObject(name, found.st_size, _etag(found), _mtime(found))

    def _open(self, name: str, flags: int) -> int:
        """Open what is below the folder, step by step: no link may lead out of it."""
        try:
            descriptor = os.open(self._folder, _FOLDER_FLAGS)
            steps = name.split("/") if name else []
            for number, step in enumerate(steps):
                inner = flags if number == len(steps) - 1 else _FOLDER_FLAGS
                if step in {"", ".", ".."}:
                    os.close(descriptor)
                    raise SourceMissing(
                        Sentence("datasets.not_a_path", "{name} is not a path.", name=repr(name))
                    )
                try:
                    below = os.open(step, inner, dir_fd=descriptor)
                finally:
                    os.close(descriptor)
                descriptor = below
        except PermissionError as exc:
            raise SourceDenied(
                Sentence(
                    "datasets.server_may_not_read",
                    "The server may not read {path}.",
                    path=repr(name or self._folder.name),
                )
            ) from exc
        except OSError as exc:
            raise SourceMissing(
                Sentence(
                    "datasets.source_path_missing",
                    "{path} is not there.",
                    path=repr(name or self._folder.name),
                )
            ) from exc
        return descriptor


def _checked(folder: str, allowed: Sequence[str]) -> Path:
    path = Path(folder)
    if not path.is_absolute() or ".." in path.parts:
        raise no_whole_path()
    real = path.resolve()
    if not any(real.is_relative_to(Path(base).resolve()) for base in allowed):
        raise SourceFolderRefused(
            Sentence(
                "datasets.folder_not_allowed",
                "The folder is not below a folder that the administrator allows.",
            )
        )
    if not real.is_dir():
        raise SourceMissing(Sentence("datasets.folder_missing", "The folder is not there."))
    return real


def _require_pinned(descriptor: int, pin: Pin) -> None:
    found = os.fstat(descriptor)
    same = (found.st_size, _etag(found), _mtime(found)) == (pin.size, pin.etag, pin.mtime)
    if not same or not stat.S_ISREG(found.st_mode):
        raise SourceChanged.of([pin.key])


def _etag(found: os.stat_result) -> str:
    """Return what changes with every write: also the inode, since tools replace files."""
    return f"{found.st_ino:x}-{found.st_mtime_ns:x}-{found.st_size:x}"


def _mtime(found: os.stat_result) -> datetime:
    return _EPOCH + timedelta(microseconds=found.st_mtime_ns // 1000)
