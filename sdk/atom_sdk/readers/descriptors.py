"""Reads samples with pread or with O_DIRECT, for data that does not fit into memory.

A map of such data makes the kernel read, keep and drop pages one fault at a time; one pread per
sample reads it at once, and O_DIRECT does not push other pages out. The data of every sample begins
at a multiple of 4 KiB, so whole blocks of it can be read directly.
"""

from __future__ import annotations

import errno
import mmap
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from atom_sdk.errors import PackMissingError
from atom_sdk.packs.tar import ALIGNMENT_BYTES

Mode = Literal["mmap", "pread", "direct"]
_NOT_SUPPORTED = {errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS}


class PackFiles:
    """Reads packs by number; `direct` becomes false where the file system refuses O_DIRECT.

    A pack is opened for each read: that costs microseconds, and thousands of packs would not stay
    within the limit of open files. So there is no state that threads or forks could disturb.
    """

    def __init__(self, packs: Sequence[bytes], folder: Path, direct: bool) -> None:
        """`folder` holds `<hex>.tar`; nothing is opened yet."""
        self._packs = packs
        self._folder = folder
        self.direct = direct

    def read(self, pack_id: int, offset: int, size: int) -> memoryview:
        """Bytes of a pack, fewer at its end. Raises PackMissingError, OSError."""
        if self.direct:
            try:
                return self._read_direct(pack_id, offset, size)
            except OSError as error:
                if error.errno not in _NOT_SUPPORTED:
                    raise
                self._give_up_direct(error)
        data = bytearray(size)
        with self._opened(pack_id, os.O_RDONLY) as descriptor:
            count = _fill(descriptor, memoryview(data), offset)
        return memoryview(data)[:count].toreadonly()

    def _read_direct(self, pack_id: int, offset: int, size: int) -> memoryview:
        start = offset - offset % ALIGNMENT_BYTES
        length = -(-(offset + size - start) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        # Anonymous maps begin at a page, as direct reads want it; one of no bytes cannot be made.
        view = memoryview(mmap.mmap(-1, max(length, ALIGNMENT_BYTES)))
        with self._opened(pack_id, os.O_RDONLY | os.O_DIRECT) as descriptor:
            count = _fill(descriptor, view[:length], start, ALIGNMENT_BYTES)
        return view[offset - start : min(offset - start + size, count)].toreadonly()

    @contextmanager
    def _opened(self, pack_id: int, flags: int) -> Iterator[int]:
        pack = self._packs[pack_id]
        try:
            descriptor = os.open(self._folder / f"{pack.hex()}.tar", flags | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise PackMissingError(pack.hex()) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _give_up_direct(self, error: OSError) -> None:
        self.direct = False
        warnings.warn(
            f"The file system of the packs refuses direct reads ({error.strerror}); "
            "samples are read through the page cache.",
            RuntimeWarning,
            stacklevel=4,
        )


def _fill(descriptor: int, target: memoryview, offset: int, step: int = 1) -> int:
    """Fill `target` from a file, going on at multiples of `step`; returns the bytes there were.

    A direct read that stops elsewhere met the end of a pack that was cut.
    """
    done = 0
    while done < len(target):
        count = os.preadv(descriptor, [target[done:]], offset + done)
        done += count
        if not count or count % step:
            break
    return done
