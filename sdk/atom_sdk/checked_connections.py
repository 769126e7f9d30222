"""HTTP connections to an address that was checked a moment before, and to no other.

A client that resolves a name by itself, after a check did, can be sent elsewhere in between (DNS
rebinding). Here the name is resolved once for each connection, every address of it is checked, and
the socket goes to one of these; the name stays what TLS and the Host header mean.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import httpcore
import httpx

from atom_sdk.pace import Pace, Waiting

_LIMITS = httpx.Limits(max_connections=32, max_keepalive_connections=16)
# Maps host and port to addresses, all of which may be connected to. Its exceptions reach the
# sender.
AddressesOf = Callable[[str, int], list[str]]


class CheckedTransport(httpx.HTTPTransport):
    """Connects to what `addresses_of` returns and uses no proxy."""

    def __init__(
        self,
        addresses_of: AddressesOf,
        allowed_s: float | None = None,
        pace: Pace | None = None,
    ) -> None:
        """Each new connection asks `addresses_of` once, and is over after `allowed_s` if given.

        An answer that comes more slowly than `pace` is cut off.
        """
        super().__init__(trust_env=False)
        self._pool.close()
        self._pool = httpcore.ConnectionPool(
            ssl_context=_trusted(),
            max_connections=_LIMITS.max_connections,
            max_keepalive_connections=_LIMITS.max_keepalive_connections,
            network_backend=_CheckedBackend(addresses_of, allowed_s, pace),
        )


@cache
def _trusted() -> ssl.SSLContext:
    """Return whose certificates are taken; to read them takes longer than to ask."""
    return httpx.create_ssl_context(trust_env=False)


class _CheckedBackend(httpcore.SyncBackend):
    def __init__(
        self, addresses_of: AddressesOf, allowed_s: float | None, pace: Pace | None
    ) -> None:
        self._addresses_of, self._allowed_s, self._pace = addresses_of, allowed_s, pace

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        end = _End(self._allowed_s)
        *others, last = self._addresses_of(host, port)

        def connect(address: str) -> httpcore.NetworkStream:
            wait_s = end.limited(timeout, httpcore.ConnectTimeout)
            made = super(_CheckedBackend, self).connect_tcp(
                address, port, wait_s, local_address, socket_options
            )
            if self._allowed_s is not None:
                made = _EndingStream(made, end)
            return made if self._pace is None else _PacedStream(made, Waiting(self._pace))

        for address in others:
            try:
                return connect(address)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return connect(last)


class _End:
    """When a connection is over, however little by little something comes."""

    def __init__(self, allowed_s: float | None) -> None:
        self._at = None if allowed_s is None else time.monotonic() + allowed_s

    def limited(self, wait_s: float | None, over: type[Exception]) -> float | None:
        """Return how long to wait at most. Raises `over` when the time is over."""
        if self._at is None:
            return wait_s
        left_s = self._at - time.monotonic()
        if left_s <= 0:
            raise over
        return left_s if wait_s is None else min(wait_s, left_s)


class _Around(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _EndingStream(_Around):
    """A connection that has an end: each wait alone could be begun again and again."""

    def __init__(self, stream: httpcore.NetworkStream, end: _End) -> None:
        super().__init__(stream)
        self._end = end

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._end.limited(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._end.limited(timeout, httpcore.WriteTimeout))

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        wait_s = self._end.limited(timeout, httpcore.ConnectTimeout)
        return _EndingStream(
            self._stream.start_tls(ssl_context, server_hostname, wait_s), self._end
        )


class _PacedStream(_Around):
    """A connection whose answers may not trickle, however long it is kept."""

    def __init__(self, stream: httpcore.NetworkStream, waiting: Waiting) -> None:
        super().__init__(stream)
        self._waiting = waiting

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._waiting.is_over:
            raise httpcore.ReadTimeout("the answer comes too slowly")
        with self._waiting.measured():
            data = self._stream.read(max_bytes, timeout)
        self._waiting.came(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._waiting.begin()
        self._stream.write(buffer, timeout)

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        within = self._stream.start_tls(ssl_context, server_hostname, timeout)
        return _PacedStream(within, self._waiting)
