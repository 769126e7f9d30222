"""A node's folder of packs: filled atomically, verified while filling, one fetch per pack and node.

Layout: `<root>/packs/<hex>.tar` are whole, verified packs; `<root>/incoming/` holds what is being
written; `<root>/locks/<hex>` are empty files that processes lock, so that a pack is fetched once.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray

from atom_sdk.disk import FULL_DISK
from atom_sdk.errors import PackDigestMismatchError, PackMissingError, PackStoreFullError
from atom_sdk.packs.walk import hash_file
from atom_sdk.packs.writeback import start_writeback
from atom_sdk.packs.writer import FileSink

_WRITEBACK_BYTES = 8 << 20

Chunks = Iterable[bytes | memoryview]


class PackStore:
    """Packs by digest (32 bytes) in a folder that several processes share."""

    def __init__(self, root: Path | str) -> None:
        """Create the folder if it is missing."""
        self.root = Path(root)
        self.packs = self.root / "packs"
        for folder in (self.packs, self.root / "incoming", self.root / "locks"):
            folder.mkdir(parents=True, exist_ok=True)

    def path(self, pack: bytes) -> Path:
        """Where the pack is, or would be."""
        return self.packs / f"{pack.hex()}.tar"

    def open_path(self, pack: bytes) -> Path:
        """Where the pack is. Raises PackMissingError if it is not here."""
        path = self.path(pack)
        if not path.exists():
            raise PackMissingError(pack.hex())
        return path

    def has(self, pack: bytes) -> bool:
        """Whether the whole pack is here."""
        return self.path(pack).exists()

    def missing(self, packs: Iterable[bytes]) -> list[bytes]:
        """The packs that are not here, in the given order."""
        present = self.present()
        return [pack for pack in packs if pack.hex() not in present]

    def present(self) -> set[str]:
        """Hex digests of all packs that are here."""
        with os.scandir(self.packs) as entries:
            return {entry.name.removesuffix(".tar") for entry in entries}

    def coverage(self, packs: Sequence[bytes]) -> bytes:
        """One bit per pack in the order of a pack table, most significant first: 1 is here."""
        present = self.present()
        bits = np.fromiter((pack.hex() in present for pack in packs), np.bool_, len(packs))
        return np.packbits(bits).tobytes()

    def fill(self, pack: bytes, source: Chunks | Callable[[], Chunks]) -> Path:
        """Write a pack from chunks, unless it is here already; returns its path.

        A callable source is asked only if the pack is missing. Processes that ask for the same
        pack wait for the first one. Raises PackDigestMismatchError (nothing is kept),
        PackStoreFullError, or what the source raises.
        """
        path = self.path(pack)
        if path.exists():
            return path
        with self._lock(pack):
            if not path.exists():
                self._write(pack, source() if callable(source) else source)
        return path

    def replace_damaged(self, pack: bytes, source: Callable[[], Chunks]) -> bool:
        """Replace a pack if its bytes here do not hash to its digest; returns whether it did.

        The corrupt file stays until the new one is whole and takes its name, so that readers that
        have it mapped keep it, and nothing is lost if the source fails. Processes that find the
        same corrupt pack wait for the first one. Raises as `fill` does.
        """
        with self._lock(pack):
            with suppress(FileNotFoundError):
                if hash_file(self.path(pack)) == pack:
                    return False
            self._write(pack, source())
        return True

    def remove(self, pack: bytes) -> bool:
        """Delete a pack; readers that have it open keep their copy. Returns whether it was here."""
        try:
            self.path(pack).unlink()
        except FileNotFoundError:
            return False
        return True

    def adopt(self, pack: bytes, path: Path) -> None:
        """Take over a verified file of the same file system, under the lock of the pack."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fchmod(descriptor, 0o444)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(path, self.path(pack))
        _sync_folder(self.packs)

    @contextmanager
    def try_lock(self, pack: bytes) -> Iterator[bool]:
        """Lock a pack unless another process has it locked; yields whether it did."""
        descriptor = self._lock_file(pack)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(descriptor)

    def _lock_file(self, pack: bytes) -> int:
        path = self.root / "locks" / pack.hex()
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    @contextmanager
    def _lock(self, pack: bytes) -> Iterator[None]:
        descriptor = self._lock_file(pack)
        try:
            # The kernel drops the lock with the process, so a killed fetch blocks nobody.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _write(self, pack: bytes, chunks: Chunks) -> None:
        descriptor, name = tempfile.mkstemp(prefix=pack.hex()[:16], dir=self.root / "incoming")
        try:
            actual = _copy_hashed(descriptor, chunks)
            if actual != pack:
                raise PackDigestMismatchError(pack.hex(), actual.hex())
            os.fchmod(descriptor, 0o444)
            os.fsync(descriptor)
            os.rename(name, self.path(pack))
            _sync_folder(self.packs)
        except OSError as error:
            if error.errno in FULL_DISK:
                free = shutil.disk_usage(self.root).free
                raise PackStoreFullError(str(self.root), pack.hex(), free) from error
            raise
        finally:
            os.close(descriptor)
            Path(name).unlink(missing_ok=True)


def _copy_hashed(descriptor: int, chunks: Chunks) -> bytes:
    sink = FileSink(descriptor)
    hasher = blake3()
    done = started = 0
    for chunk in chunks:
        view = memoryview(chunk).cast("B")
        sink.write(view)
        hasher.update(view)
        done += len(view)
        if done - started >= _WRITEBACK_BYTES:
            start_writeback(descriptor, started, done - started)
            started = done
    return hasher.digest()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def covered_packs(bitmap: bytes, count: int) -> NDArray[np.bool_]:
    """Unpack a coverage bitmap, shape (count,), in the order of its pack table."""
    return np.unpackbits(np.frombuffer(bitmap, np.uint8), count=count).astype(np.bool_)
