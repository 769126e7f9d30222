"""Memory maps of the packs that a reader uses, opened when first needed."""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from atom_sdk.errors import PackMissingError
from atom_sdk.forks import forget_in_children

_PAGE_BYTES = mmap.PAGESIZE
# Large enough that a disk reads it about as fast as anything longer, small enough that the first
# samples of an epoch, each in a window of its own, do not wait long.
_WINDOW_SHIFT = 19
WINDOW_BYTES = 1 << _WINDOW_SHIFT


class PackMaps:
    """Maps packs by their number in a pack table; safe for threads and across fork."""

    def __init__(self, packs: Sequence[bytes], folder: Path) -> None:
        """`folder` holds `<hex>.tar`, as the `packs` folder of a PackStore does."""
        self._packs = packs
        self._folder = folder
        self._maps: dict[int, mmap.mmap] = {}
        # One byte per window of a pack, 1 if it was asked for; by the number of the pack.
        self._asked: dict[int, bytearray] = {}
        # The bytes of the packs that are mapped, by number.
        self.views: dict[int, memoryview] = {}
        self._lock = threading.Lock()
        forget_in_children(self)

    def view(self, pack_id: int) -> memoryview:
        """The bytes of a pack. Raises PackMissingError."""
        view = self.views.get(pack_id)
        return view if view is not None else self._open(pack_id)

    def will_need(self, pack_id: int, offset: int, size: int) -> None:
        """Ask the kernel to read a part of a pack soon. Raises PackMissingError."""
        self.view(pack_id)
        mapped = self._maps.get(pack_id)
        if mapped is None:
            return
        start = offset - offset % _PAGE_BYTES
        length = min(offset + size, len(mapped)) - start
        if length > 0:
            mapped.madvise(mmap.MADV_WILLNEED, start, length)

    def will_need_rows(
        self, rows: Iterable[int], pack_ids: memoryview, offsets: memoryview, sizes: memoryview
    ) -> None:
        """Ask for the samples of rows, in one loop; a missing pack is left to whoever reads it."""
        maps, will_need = self._maps, mmap.MADV_WILLNEED
        for row in rows:
            pack_id, offset = pack_ids[row], offsets[row]
            mapped = maps.get(pack_id)
            if mapped is None:
                with suppress(PackMissingError):
                    self.will_need(pack_id, offset, sizes[row])
                continue
            start = offset & -_PAGE_BYTES
            # A length beyond the end is cut by Python; a beginning there is an error.
            if start < len(mapped):
                mapped.madvise(will_need, start, sizes[row] + offset - start)

    def will_need_windows(
        self, rows: Iterable[int], pack_ids: memoryview, offsets: memoryview, sizes: memoryview
    ) -> None:
        """Ask for the windows that the samples of rows are in, each window once.

        For whoever reads most of the packs in any order: a disk reads a window in the time of some
        single samples. A missing pack is left to whoever reads it.
        """
        asked = self._asked
        for row in rows:
            pack_id, offset = pack_ids[row], offsets[row]
            windows = asked.get(pack_id)
            if windows is None:
                windows = self._windows_of(pack_id)
            end = (offset + sizes[row] >> _WINDOW_SHIFT) + 1
            number = windows.find(0, offset >> _WINDOW_SHIFT, end)
            while number >= 0:
                windows[number] = 1
                self.ask(pack_id, number << _WINDOW_SHIFT)
                number = windows.find(0, number + 1, end)

    def ask(self, pack_id: int, start: int) -> None:
        """Ask the kernel for the window of a pack that begins there."""
        mapped = self._maps.get(pack_id)
        # A length beyond the end is cut by Python; a beginning there is an error.
        if mapped is not None and start < len(mapped):
            mapped.madvise(mmap.MADV_WILLNEED, start, WINDOW_BYTES)

    def begin_epoch(self) -> None:
        """Ask for every window again: what was read long ago may be in memory no more."""
        self._asked = {}

    def drop(self, pack_id: int) -> None:
        """Drop a pack; samples that are in use keep its map."""
        with self._lock:
            self.views.pop(pack_id, None)
            self._maps.pop(pack_id, None)
            self._asked.pop(pack_id, None)

    def forget(self) -> None:
        """Drop all maps; samples that are in use keep theirs."""
        self._lock = threading.Lock()
        self._maps, self.views, self._asked = {}, {}, {}

    def _windows_of(self, pack_id: int) -> bytearray:
        try:
            length = len(self.view(pack_id))
        except PackMissingError:
            # Not kept: the pack may be there when the next sample of it is asked for.
            return bytearray()
        return self._asked.setdefault(pack_id, bytearray((length >> _WINDOW_SHIFT) + 1))

    def _open(self, pack_id: int) -> memoryview:
        with self._lock:
            if pack_id not in self.views:
                mapped, size = _map_file(
                    self._folder / f"{self._packs[pack_id].hex()}.tar", self._packs[pack_id]
                )
                # The order matters: whoever finds the view must find the map.
                self._maps[pack_id] = mapped
                self.views[pack_id] = memoryview(mapped)[:size]
            return self.views[pack_id]


def _map_file(path: Path, pack: bytes) -> tuple[mmap.mmap, int]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise PackMissingError(pack.hex()) from error
    try:
        size = os.fstat(descriptor).st_size
        # A map of no bytes cannot be made. A pack that was cut to nothing is corrupt, not missing.
        mapped = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ) if size else mmap.mmap(-1, 1)
        return mapped, size
    finally:
        os.close(descriptor)
