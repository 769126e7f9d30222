"""A pack that arrives in blocks and is read while it arrives, shared by all processes of a node.

`<root>/partial/<hex>.data` is a sparse file of the pack's size and `<hex>.blocks` has one byte per
block of 1 MiB: 1 when the block is there. Whoever fetches a block locks its byte, so that it comes
once; the kernel drops the lock of a killed process. The last block makes it a whole pack, verified.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import time
from contextlib import suppress
from pathlib import Path

from atom_sdk.packs.cache_eviction import BLOCKS_SUFFIX, PARTIAL_FOLDER, PARTIAL_SUFFIX
from atom_sdk.packs.store import PackStore
from atom_sdk.packs.walk import hash_file
from atom_sdk.packs.writer import FileSink

BLOCK_BYTES = 1 << 20
_PRESENT = b"\1"
# struct flock on 64-bit Linux: type, whence, start, length, pid, padding.
_FLOCK = "hhqqi0q"
_POLL_S = 0.02


def block_count(pack_bytes: int) -> int:
    """Number of blocks of a pack."""
    return -(-pack_bytes // BLOCK_BYTES)


class PartialPack:
    """Blocks of one pack on this node; safe for threads. A forked child opens its own."""

    def __init__(self, store: PackStore, pack: bytes) -> None:
        """Open what a process of this node began. Raises FileNotFoundError if none did."""
        self.pack = pack
        self._store = store
        self._data_path = _data_path(store, pack)
        self._data = os.open(self._data_path, os.O_RDWR | os.O_CLOEXEC)
        try:
            self._state = os.open(
                self._data_path.with_suffix(BLOCKS_SUFFIX), os.O_RDWR | os.O_CLOEXEC
            )
        except FileNotFoundError:
            os.close(self._data)
            raise
        self.pack_bytes = os.fstat(self._data).st_size
        if not self.pack_bytes:
            # Cut to nothing: whoever looks for it begins it again.
            raise FileNotFoundError(self._data_path)
        self.blocks = block_count(self.pack_bytes)
        self._map = mmap.mmap(self._data, 0, access=mmap.ACCESS_READ)
        self.view = memoryview(self._map)

    def __del__(self) -> None:
        """Close the files; views that are in use keep their map."""
        for name in ("_data", "_state"):
            with suppress(AttributeError, OSError):
                os.close(getattr(self, name))

    def present(self) -> bytes:
        """One byte per block, 1 if it is there."""
        return os.pread(self._state, self.blocks, 0).ljust(self.blocks, b"\0")

    def has(self, block: int) -> bool:
        """Whether a block is there."""
        return os.pread(self._state, 1, block) == _PRESENT

    def write(self, block: int, data: memoryview) -> None:
        """Store whole blocks, the first of which is `block`; the last of a pack may be short."""
        done = 0
        while done < len(data):
            done += os.pwrite(self._data, data[done:], block * BLOCK_BYTES + done)
        os.pwrite(self._state, _PRESENT * block_count(len(data)), block)

    def discard(self, first: int, last: int) -> None:
        """Forget blocks whose bytes are wrong."""
        os.pwrite(self._state, bytes(last + 1 - first), first)

    def try_claim(self, block: int) -> bool:
        """Say that this process fetches a block; False if another one does."""
        try:
            fcntl.fcntl(self._state, fcntl.F_OFD_SETLK, _lock(fcntl.F_WRLCK, block))
        except BlockingIOError:
            return False
        return True

    def release(self, first: int, count: int) -> None:
        """Give back what was claimed."""
        fcntl.fcntl(self._state, fcntl.F_OFD_SETLK, _lock(fcntl.F_UNLCK, first, count))

    def wait_for(self, block: int, patience_s: float) -> bool:
        """Wait until another process has fetched a block or lets go of it; False if it does not.

        A stopped process must not stop the others: after `patience_s` they fetch by themselves.
        """
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if self.has(block):
                return True
            if self.try_claim(block):
                self.release(block, 1)
                return True
            time.sleep(_POLL_S)
        return False

    def is_complete(self) -> bool:
        """Whether every block is there."""
        return self.present() == _PRESENT * self.blocks

    def finish(self) -> bool:
        """Make it a whole pack of the store if every block is there; whether the store has it.

        Bytes that do not hash to the pack's digest are removed, to be fetched again.
        """
        if self._store.has(self.pack):
            return True
        if not self.is_complete():
            return False
        with self._store.try_lock(self.pack) as mine:
            if not mine or self._store.has(self.pack):
                return self._store.has(self.pack)
            with suppress(FileNotFoundError):
                good = hash_file(self._data_path) == self.pack
                if good:
                    self._store.adopt(self.pack, self._data_path)
                self._data_path.unlink(missing_ok=True)
                self._data_path.with_suffix(BLOCKS_SUFFIX).unlink(missing_ok=True)
        return self._store.has(self.pack)


def open_partial(store: PackStore, pack: bytes) -> PartialPack | None:
    """The part on this node of a pack that is arriving, if any."""
    try:
        return PartialPack(store, pack)
    except FileNotFoundError:
        return None


def create_partial(
    store: PackStore, pack: bytes, pack_bytes: int, block: int, data: memoryview
) -> None:
    """Begin a pack with its first blocks, under the store's lock of this pack. Raises OSError.

    They are there when it appears, or another process would fetch them once more.
    """
    path = _data_path(store, pack)
    path.parent.mkdir(exist_ok=True)
    state = bytearray(block_count(pack_bytes))
    state[block : block + block_count(len(data))] = _PRESENT * block_count(len(data))
    temporary = path.with_suffix(".new")
    try:
        path.with_suffix(BLOCKS_SUFFIX).write_bytes(state)
        with temporary.open("wb", buffering=0) as file:
            file.truncate(pack_bytes)
            file.seek(block * BLOCK_BYTES)
            FileSink(file.fileno()).write(data)
        # Last, because this is the file that says that the pack was begun.
        temporary.rename(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        path.with_suffix(BLOCKS_SUFFIX).unlink(missing_ok=True)
        raise


def _data_path(store: PackStore, pack: bytes) -> Path:
    return store.root / PARTIAL_FOLDER / f"{pack.hex()}{PARTIAL_SUFFIX}"


def _lock(kind: int, first: int, count: int = 1) -> bytes:
    return struct.pack(_FLOCK, kind, os.SEEK_SET, first, count, 0)
