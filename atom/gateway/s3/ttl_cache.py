"""A small cache whose values are good for some seconds."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class TtlCache(Generic[T]):
    """Keeps at most `limit` values for `ttl_s` seconds. Safe for threads."""

    def __init__(self, ttl_s: float, limit: int) -> None:
        self._ttl_s = ttl_s
        self._limit = limit
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()

    def get(self, key: Hashable, load: Callable[[], T]) -> T:
        """Return the value, loading it outside the lock; what `load` raises is not kept."""
        with self._lock:
            found = self._values.get(key)
        if found is not None and found[0] > time.monotonic():
            return found[1]
        # The time counts from before the load, so a change during it is missed for `ttl_s` at most.
        good_until_s = time.monotonic() + self._ttl_s
        value = load()
        with self._lock:
            self._values[key] = (good_until_s, value)
            self._values.move_to_end(key)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)
        return value
