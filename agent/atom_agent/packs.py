"""Packs on the node's disk: a `PackStore` for each project below the cache folder.

Readers of a project see only its folder, so a pack that two projects hold is there twice.
"""

from __future__ import annotations

import errno
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from atom_agent.errors import FetchError, Reason
from atom_agent.messages import PackName, Removal
from atom_sdk.disk import FULL_DISK
from atom_sdk.errors import PackDigestMismatchError, PackStoreFullError
from atom_sdk.packs import PackStore, hash_file
from atom_sdk.packs.store import Chunks

# The disk is broken: it takes no more bytes, as one that is mounted read-only.
_READ_ONLY = frozenset({errno.EROFS, errno.EIO, errno.EACCES, errno.EPERM})
_SUFFIX = ".tar"


@dataclass(frozen=True, slots=True)
class DiskState:
    """Bytes of the file system and of its packs; `problem` is empty if all is well."""

    total_bytes: int
    free_bytes: int
    cache_bytes: int
    limit_bytes: int | None
    is_read_only: bool
    problem: str


class NodePacks:
    """All packs of this node; safe for threads."""

    def __init__(self, folder: Path, own_limit: int | None = None) -> None:
        """Use a cache folder. It is created when a pack needs it, since the disk may be bad.

        `own_limit` is in bytes; the server may set a lower limit.
        """
        self.folder = folder
        self._guard = threading.Lock()
        self._reserved: dict[str, int] = {}
        self._own_limit = self.limit_bytes = own_limit

    def set_limit(self, limit_bytes: int | None) -> None:
        """Take the server's limit, unless the node's own is lower."""
        limits = [limit for limit in (self._own_limit, limit_bytes) if limit is not None]
        self.limit_bytes = min(limits, default=None)

    def path(self, pack: PackName) -> Path:
        """Where a pack is, or would be."""
        return self.folder / pack.project / "packs" / f"{pack.digest}{_SUFFIX}"

    def inventory(self) -> dict[str, list[str]]:
        """The digests of all whole packs, by project. Raises OSError if the disk is unreadable."""
        return {
            folder.name: sorted(path.stem for path in _whole_packs(folder))
            for folder in self._projects()
        }

    def fill(self, pack: PackName, chunks: Callable[[], Chunks]) -> bool:
        """Write a pack unless it is here; returns whether `chunks` was asked.

        Raises FetchError with the reason `digest`, `disk_full` or `read_only`, or what the chunks
        raise. Nothing of a pack that failed is kept.
        """
        asked_source = False

        def source() -> Chunks:
            nonlocal asked_source
            asked_source = True
            return chunks()

        try:
            PackStore(self.folder / pack.project).fill(bytes.fromhex(pack.digest), source)
        except PackDigestMismatchError as error:
            raise FetchError(Reason.DIGEST, str(error)) from error
        except PackStoreFullError as error:
            raise FetchError(Reason.DISK_FULL, str(error)) from error
        except OSError as error:
            raise _failure_of_disk(error) from error
        return asked_source

    def reserve(self, fetch: str, size_bytes: int) -> None:
        """Keep room for a fetch below the node's limit. Raises FetchError `disk_full` without."""
        with self._guard:
            if self.limit_bytes is not None:
                used = self._cache_bytes() + sum(self._reserved.values())
                if used + size_bytes > self.limit_bytes:
                    raise FetchError(
                        Reason.DISK_FULL,
                        f"The cache holds or awaits {used} bytes; {size_bytes} more would pass "
                        f"its limit of {self.limit_bytes} bytes.",
                    )
            self._reserved[fetch] = size_bytes

    def free(self, fetch: str) -> None:
        """Give back the room that was kept for a fetch."""
        with self._guard:
            self._reserved.pop(fetch, None)

    def carry_out(self, removal: Removal) -> bool:
        """Remove a pack, or check it first; returns whether it is gone. Raises OSError."""
        path = self.path(removal.pack)
        if removal.verify:
            with suppress(FileNotFoundError):
                if hash_file(path).hex() == removal.pack.digest:
                    return False
        path.unlink(missing_ok=True)
        return True

    def remove_leftovers(self) -> int:
        """Remove what a killed fetch left in `incoming`; returns the number of files.

        A file whose pack another process fills at this moment stays.
        """
        count = 0
        for folder in self._projects():
            with suppress(OSError):
                store = PackStore(folder)
                held = _locked_prefixes(store)
                for path in list((folder / "incoming").iterdir()):
                    if path.name[:16] not in held:
                        path.unlink(missing_ok=True)
                        count += 1
        return count

    def state(self) -> DiskState:
        """Measure the disk. A disk that cannot be measured or written to is told as `problem`."""
        try:
            usage = os.statvfs(_nearest(self.folder))
            cache_bytes = self._cache_bytes()
        except OSError as error:
            return DiskState(0, 0, 0, self.limit_bytes, True, f"The disk cannot be read: {error}.")
        problem, is_read_only = self._problem()
        return DiskState(
            total_bytes=usage.f_blocks * usage.f_frsize,
            free_bytes=usage.f_bavail * usage.f_frsize,
            cache_bytes=cache_bytes,
            limit_bytes=self.limit_bytes,
            is_read_only=is_read_only,
            problem=problem,
        )

    def _problem(self) -> tuple[str, bool]:
        """Write a few bytes: flags of the mount do not show a disk that fails."""
        probe = self.folder / f".probe-{os.getpid()}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"probe")
        except OSError as error:
            return f"The disk takes no bytes: {error.strerror}.", error.errno in _READ_ONLY
        finally:
            with suppress(OSError):
                probe.unlink(missing_ok=True)
        return "", False

    def _projects(self) -> Iterator[Path]:
        if not self.folder.exists():
            return
        for path in sorted(self.folder.iterdir()):
            with suppress(ValueError):
                if str(uuid.UUID(path.name)) == path.name and path.is_dir():
                    yield path

    def _cache_bytes(self) -> int:
        return sum(
            path.stat().st_size for folder in self._projects() for path in _whole_packs(folder)
        )


def _whole_packs(project: Path) -> list[Path]:
    folder = project / "packs"
    return list(folder.glob(f"*{_SUFFIX}")) if folder.exists() else []


def _locked_prefixes(store: PackStore) -> set[str]:
    """The beginnings of the names of files that other processes fill now."""
    held = set()
    for path in (store.root / "locks").iterdir():
        with store.try_lock(bytes.fromhex(path.name)) as is_free:
            if not is_free:
                held.add(path.name[:16])
    return held


def _nearest(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _failure_of_disk(error: OSError) -> FetchError:
    text = f"The disk of the cache: {error.strerror or error}."
    if error.errno in FULL_DISK:
        return FetchError(Reason.DISK_FULL, text)
    return FetchError(Reason.READ_ONLY, text)
