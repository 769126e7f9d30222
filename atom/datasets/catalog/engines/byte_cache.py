"""A least-recently-used cache that is bounded in bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ByteCache(Generic[T]):
    """Keeps values whose sizes sum up to at most `limit_bytes`. Safe for threads."""

    def __init__(self, limit_bytes: int, size_of: Callable[[T], int]) -> None:
        """`size_of` returns the size of a value in bytes."""
        self._limit_bytes = limit_bytes
        self._size_of = size_of
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self.used_bytes = 0

    def get(self, key: Hashable, load: Callable[[], T], *, evicts: bool = True) -> T:
        """Return the value, loading it outside the lock when it is not there.

        Two threads may load the same value at once; a value over the limit is not kept, and one
        that does not evict others only where there is room.
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value = load()
        self._keep(key, value, evicts=evicts)
        return value

    def _keep(self, key: Hashable, value: T, *, evicts: bool) -> None:
        size_bytes = self._size_of(value)
        if size_bytes > self._limit_bytes:
            return
        with self._lock:
            is_full = self.used_bytes + size_bytes > self._limit_bytes
            if key in self._values or (is_full and not evicts):
                return
            self._values[key] = (value, size_bytes)
            self.used_bytes += size_bytes
            while self.used_bytes > self._limit_bytes:
                _, (_, freed_bytes) = self._values.popitem(last=False)
                self.used_bytes -= freed_bytes
