"""The files that `atom://` reads: those of a version, and of a branch with changes that wait."""

from __future__ import annotations

import json
import threading
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from atom_sdk.client.config import cache_path
from atom_sdk.packs.store import PackStore
from atom_sdk.readers.repair import PackRepair
from atom_sdk.readers.view import ViewIndex

if TYPE_CHECKING:
    from atom_sdk.client.transport.external_objects import SourceRanges
    from atom_sdk.client.transport.http import Http
    from atom_sdk.client.writing.segment import Stored
    from atom_sdk.manifests.listing import Listing

_END = "\U0010ffff"


class File(Protocol):
    """One file; it stays the same whatever happens to its branch."""

    @property
    def size(self) -> int:
        """Its size in bytes."""

    @property
    def digest(self) -> bytes:
        """BLAKE3 of its bytes."""

    @property
    def label(self) -> str | None:
        """Its label, if it has one."""

    @property
    def split(self) -> str | None:
        """Its split, if it has one."""

    def read(self, start: int, length: int) -> bytes:
        """Read some of its bytes."""

    def read_whole(self) -> bytes:
        """Read all bytes and verify them. Raises SampleDigestMismatchError."""

    def stored(self) -> Stored | None:
        """Where its bytes lie in the project's packs, None where they are in no pack."""

    def attributes(self, http: Http) -> Mapping[str, Any]:
        """The stored attributes of the file."""


class Files:
    """Files by path, sorted by code point, which is the order of their UTF-8 bytes."""

    paths: list[str]

    def file(self, row: int) -> File:
        """The file of a row."""
        raise NotImplementedError

    def row_of(self, path: str) -> int | None:
        """Row of a file; None if there is no file of this path."""
        row = bisect_left(self.paths, path)
        return row if row < len(self.paths) and self.paths[row] == path else None

    def below(self, folder: str) -> range:
        """Rows of all files below a folder, which is "" or ends in a slash."""
        start = bisect_left(self.paths, folder)
        return range(start, bisect_left(self.paths, folder + _END, start))


class VersionFiles(Files):
    """The files of one version, and where their bytes are."""

    def __init__(self, index: ViewIndex, ranges: SourceRanges) -> None:
        """Nothing is read but the paths."""
        self.index = index
        self.ranges = ranges
        self.repair = PackRepair(cache_path(), ranges)
        self.made_at: datetime | None = None
        self.paths = [index.path_of(row) for row in range(len(index))]
        self._listing: Listing | None = None
        self._lock = threading.Lock()

    def file(self, row: int) -> VersionFile:
        """The file of a row."""
        return VersionFile(self, row)

    def attributes_of(self, path: str, http: Http) -> dict[str, Any]:
        """The stored attributes of a file, which a view does not have; files come in path order."""
        from atom_sdk.client.push.attributes import UNREADABLE
        from atom_sdk.client.transport.manifest import RemoteManifest
        from atom_sdk.manifests.listing import Listing

        with self._lock:
            if self._listing is None:
                manifest = RemoteManifest(http, self.ranges.version_base)
                self._listing = Listing(manifest.root, manifest)
            written: dict[str, Any] = json.loads(self._listing.lookup(path).attributes or "{}")
        # The server says that of the same bytes again.
        return {name: value for name, value in written.items() if name != UNREADABLE}


class NoFiles(Files):
    """A branch that nothing was pushed to."""

    def __init__(self) -> None:
        """There is nothing to keep."""
        self.paths = []


class VersionFile:
    """A file of a version."""

    def __init__(self, version: VersionFiles, row: int) -> None:
        """Look it up in the view."""
        index = version.index
        self._version, self._row = version, row
        self.path = version.paths[row]
        self.size = int(index.sizes[row])
        self.digest = index.digest_of(row)
        self.label, self.split = index.label_of(row), index.split_of(row)

    def read(self, start: int, length: int) -> bytes:
        """Read some of its bytes, from this machine if its pack is here."""
        pack, offset = self._pack, int(self._version.index.offsets[self._row]) + start
        try:
            with PackStore(cache_path()).path(pack).open("rb") as file:
                file.seek(offset)
                return file.read(length)
        except FileNotFoundError:
            return bytes(self._version.ranges.read(pack, offset, length).data)

    def read_whole(self) -> bytes:
        """Read all bytes, again if the pack was corrupt. Raises SampleDigestMismatchError."""
        data = self.read(0, self.size) if self.size else b""
        if self._is_good(data):
            return data
        repair, pack = self._version.repair, self._pack
        if not PackStore(cache_path()).has(pack):
            raise repair.of_the_store(pack, self.path)
        repair.repair(pack, self.path)
        data = self.read(0, self.size)
        if not self._is_good(data):
            raise repair.still_damaged(pack, self.path)
        return data

    def stored(self) -> Stored | None:
        """Where its bytes lie in the project's packs, None where they are in no pack."""
        from atom_sdk.client.writing.segment import Stored

        index = self._version.index
        if int(index.pack_ids[self._row]) < 0:
            return None
        return Stored(self._pack, int(index.offsets[self._row]), self.size, self.digest)

    def attributes(self, http: Http) -> dict[str, Any]:
        """The stored attributes of the file."""
        return self._version.attributes_of(self.path, http)

    @property
    def _pack(self) -> bytes:
        return self._version.index.packs[int(self._version.index.pack_ids[self._row])]

    def _is_good(self, data: bytes) -> bool:
        from blake3 import blake3

        # The digest of a file at its source is that of the pin, which the server has checked.
        return self._pack == self.digest or blake3(data).digest() == self.digest


@dataclass(frozen=True)
class WrittenFile:
    """A file on this machine that is not in a version yet."""

    local: Path
    size: int
    digest: bytes
    label: str | None = None
    split: str | None = None

    @classmethod
    def of(cls, local: Path) -> WrittenFile:
        """Measure and hash a file."""
        from blake3 import blake3

        hasher = blake3().update_mmap(local)
        return cls(local, local.stat().st_size, hasher.digest())

    def read(self, start: int, length: int) -> bytes:
        """Read some of its bytes."""
        with self.local.open("rb") as file:
            file.seek(start)
            return file.read(length)

    def read_whole(self) -> bytes:
        """Read all bytes."""
        return self.local.read_bytes()

    def stored(self) -> None:
        """Return None: its bytes are in no pack of a version."""

    def attributes(self, http: Http) -> dict[str, Any]:
        """Return nothing: a file that is written has no attributes."""
        return {}


class ChangedFiles(Files):
    """The files of a branch as they will be, with changes that are not committed yet."""

    def __init__(self, base: Files) -> None:
        """Begin without a change."""
        self._base = base
        self._changes: dict[str, File | None] = {}
        self._paths: list[str] | None = base.paths

    @property
    def paths(self) -> list[str]:  # type: ignore[override]
        """All paths, sorted once after each change."""
        if self._paths is None:
            removed = self._changes.keys()
            kept = [path for path in self._base.paths if path not in removed]
            added = [path for path, file in self._changes.items() if file is not None]
            self._paths = sorted(kept + added)
        return self._paths

    def change(self, path: str, file: File | None) -> None:
        """Put a file under a path, or remove what is there."""
        self._changes[path] = file
        self._paths = None

    def file(self, row: int) -> File:
        """The file of a row."""
        path = self.paths[row]
        changed = self._changes.get(path)
        if changed is not None:
            return changed
        at = self._base.row_of(path)
        assert at is not None
        return self._base.file(at)
