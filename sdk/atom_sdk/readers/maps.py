"""Memory maps of the packs that a reader uses, opened when first needed."""

from __future__ import annotations

import mmap
import os
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path

from atom_sdk.errors import PackMissingError

_PAGE_BYTES = mmap.PAGESIZE


class PackMaps:
    """Maps packs by their number in a pack table; safe for threads and across fork."""

    def __init__(self, packs: Sequence[bytes], folder: Path) -> None:
        """`folder` holds `<hex>.tar`, as the `packs` folder of a PackStore does."""
        self._packs = packs
        self._folder = folder
        self._maps: dict[int, mmap.mmap] = {}
        self._views: dict[int, memoryview] = {}
        self._lock = threading.Lock()
        _instances.add(self)

    def view(self, pack_id: int) -> memoryview:
        """The bytes of a pack. Raises PackMissingError."""
        view = self._views.get(pack_id)
        return view if view is not None else self._open(pack_id)

    def will_need(self, pack_id: int, offset: int, size: int) -> None:
        """Ask the kernel to read a part of a pack soon. Raises PackMissingError."""
        self.view(pack_id)
        start = offset - offset % _PAGE_BYTES
        length = min(offset + size, len(self._maps[pack_id])) - start
        if length > 0:
            self._maps[pack_id].madvise(mmap.MADV_WILLNEED, start, length)

    def forget(self) -> None:
        """Drop all maps; samples that are in use keep theirs."""
        self._lock = threading.Lock()
        self._maps, self._views = {}, {}

    def _open(self, pack_id: int) -> memoryview:
        with self._lock:
            if pack_id not in self._views:
                mapped = _map_file(
                    self._folder / f"{self._packs[pack_id].hex()}.tar", self._packs[pack_id]
                )
                # The order matters: whoever finds the view must find the map.
                self._maps[pack_id] = mapped
                self._views[pack_id] = memoryview(mapped)
            return self._views[pack_id]


def _map_file(path: Path, pack: bytes) -> mmap.mmap:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise PackMissingError(pack.hex()) from error
    try:
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


_instances: weakref.WeakSet[PackMaps] = weakref.WeakSet()


def _forget_all() -> None:
    # The lock may have been held by a thread that does not exist in the child.
    for maps in list(_instances):
        maps.forget()


os.register_at_fork(after_in_child=_forget_all)
