"""Sockets whose reads end with a request, or soon after somebody asks their thread to stop."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# How long a read may go on after the stop was asked for.
_SLICE_S = 0.25

# When the request of this thread is over, by the monotonic clock.
_ENDS_AT: ContextVar[float | None] = ContextVar("cluster_request_ends_at", default=None)
_STOP: ContextVar[threading.Event | None] = ContextVar("cluster_stop", default=None)


class TimedSocket(ssl.SSLSocket):
    """A socket whose reads end with the request: each wait alone could be begun again and again."""

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        """Read as a socket does. Raises TimeoutError when the request is over or to stop."""
        wait_s, ends_at, stop = self.gettimeout(), _ENDS_AT.get(), _STOP.get()
        if ends_at is None and stop is None:
            return super().recv_into(buffer, nbytes, flags)
        silent_until = float("inf") if wait_s is None else time.monotonic() + wait_s
        until = min(silent_until, float("inf") if ends_at is None else ends_at)
        try:
            while True:
                left_s = until - time.monotonic()
                if left_s <= 0 or (stop is not None and stop.is_set()):
                    raise TimeoutError("the request is over")
                slice_s = left_s if stop is None else min(left_s, _SLICE_S)
                self.settimeout(None if slice_s == float("inf") else slice_s)
                try:
                    return super().recv_into(buffer, nbytes, flags)
                except TimeoutError:
                    continue
        finally:
            self.settimeout(wait_s)


@contextmanager
def ending(ends_at: float | None) -> Iterator[None]:
    """End the reads of this thread at a time of the monotonic clock, in seconds."""
    token = _ENDS_AT.set(ends_at)
    try:
        yield
    finally:
        _ENDS_AT.reset(token)


@contextmanager
def stoppable(stop: threading.Event) -> Iterator[None]:
    """End the reads of this thread within half a second after `stop` is set."""
    token = _STOP.set(stop)
    try:
        yield
    finally:
        _STOP.reset(token)
