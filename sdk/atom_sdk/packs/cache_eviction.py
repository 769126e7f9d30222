"""Keeps a node's packs below a number of bytes, without taking one that somebody reads.

A reader writes the packs that it has open into a file of `<root>/pins/` and holds a lock on it. The
kernel drops the lock with the process, so the pins of a killed reader count no more.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from atom_sdk.packs.store import PackStore

PARTIAL_FOLDER = "partial"
PARTIAL_SUFFIX = ".data"
BLOCKS_SUFFIX = ".blocks"
_PINS_FOLDER = "pins"
_LOCK_NAME = ".lock"


def cache_limit_bytes() -> int | None:
    """The bytes that `ATOM_CACHE_BYTES` allows for packs on this machine, None without a limit.

    Raises ValueError if it is not a number of bytes.
    """
    text = os.environ.get("ATOM_CACHE_BYTES", "")
    if not text:
        return None
    if not text.isdecimal():
        raise ValueError(f"ATOM_CACHE_BYTES must be a number of bytes, not {text!r}.")
    return int(text)


class PackLease:
    """The packs that one reader has open; they are not evicted while this object lives."""

    def __init__(self, store: PackStore) -> None:
        """The lease begins without packs."""
        self._store = store
        self._packs: set[bytes] = set()
        folder = _pins_folder(store)
        self._path = folder / uuid.uuid4().hex
        with _all_pins(folder):
            self._descriptor = os.open(
                self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666
            )
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def add(self, packs: Iterable[bytes]) -> None:
        """Lease packs, and count them as used just now.

        Look afterwards whether they are there: one may have been evicted a moment before.
        """
        new = [pack for pack in packs if pack not in self._packs]
        if new:
            self._packs.update(new)
            self._save()
        for pack in new:
            with suppress(OSError):
                os.utime(self._store.path(pack))

    def drop(self, pack: bytes) -> None:
        """End the lease of a pack."""
        self._packs.discard(pack)
        self._save()

    def _save(self) -> None:
        with _all_pins(self._path.parent):
            text = "".join(f"{pack.hex()}\n" for pack in self._packs).encode()
            # Cut last: on a full disk the packs of before stay leased.
            os.pwrite(self._descriptor, text, 0)
            os.truncate(self._descriptor, len(text))

    def __del__(self) -> None:
        """End the lease; a forked child that still has the file open keeps the packs."""
        with suppress(AttributeError, OSError):
            os.close(self._descriptor)


class PackRoom:
    """Evicts the least recently used packs of a store when new ones need their room."""

    def __init__(self, store: PackStore, limit_bytes: int | None) -> None:
        """`limit_bytes` counts whole packs and those that are arriving; None is no limit."""
        self._store = store
        self.limit_bytes = limit_bytes
        self._pins = _pins_folder(store)

    def admit(self, extra_bytes: int, create: Callable[[], None]) -> bool:
        """Make room and call `create` before somebody else takes it; False if there is none."""
        if self.limit_bytes is None:
            create()
            return True
        with _all_pins(self._pins):
            fits = self._evict_to(self.limit_bytes - extra_bytes)
            if fits:
                create()
            return fits

    def shrink(self) -> bool:
        """Evict what is over the limit; False if what is being read does not fit by itself."""
        return self.admit(0, lambda: None)

    def _evict_to(self, target_bytes: int) -> bool:
        candidates = sorted(_stored(self._store))
        used = sum(size for _, size, _ in candidates)
        if used <= target_bytes:
            return True
        pinned = _pinned(self._pins)
        free = [entry for entry in candidates if entry[2].stem not in pinned]
        # Nothing is evicted for a pack that would not fit anyway.
        if used - sum(size for _, size, _ in free) > target_bytes:
            return False
        for _, size, path in free:
            if used <= target_bytes:
                break
            path.unlink(missing_ok=True)
            path.with_suffix(BLOCKS_SUFFIX).unlink(missing_ok=True)
            used -= size
        return True


def _stored(store: PackStore) -> list[tuple[int, int, Path]]:
    """When it was used, its bytes and its path, for each whole or arriving pack."""
    found: dict[str, tuple[int, int, Path]] = {}
    # Arriving packs first: one that becomes whole meanwhile is then seen twice, never missed.
    for folder, suffix in ((store.root / PARTIAL_FOLDER, PARTIAL_SUFFIX), (store.packs, ".tar")):
        with suppress(FileNotFoundError), os.scandir(folder) as entries:
            for entry in entries:
                # A link leads to a pack of the node, which takes no room here.
                if not entry.name.endswith(suffix) or entry.is_symlink():
                    continue
                with suppress(FileNotFoundError):
                    status = entry.stat()
                    path = Path(entry.path)
                    found[path.stem] = status.st_mtime_ns, status.st_size, path
    return list(found.values())


def _pins_folder(store: PackStore) -> Path:
    folder = store.root / _PINS_FOLDER
    folder.mkdir(exist_ok=True)
    return folder


def _pinned(folder: Path) -> set[str]:
    """Hex digests that living readers have leased; files of dead ones are removed."""
    pinned: set[str] = set()
    for path in folder.iterdir():
        if path.name == _LOCK_NAME:
            continue
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                pinned.update(file.read().decode().split())
            else:
                path.unlink(missing_ok=True)
    return pinned


@contextmanager
def _all_pins(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
