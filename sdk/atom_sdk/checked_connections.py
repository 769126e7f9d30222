"""HTTP connections to an address that was checked a moment before, and to no other.

A client that resolves a name by itself, after a check did, can be sent elsewhere in between (DNS
rebinding). Here the name is resolved once for each connection, every address of it is checked, and
the socket goes to one of these; the name stays what TLS and the Host header mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import httpcore
import httpx

_LIMITS = httpx.Limits(max_connections=32, max_keepalive_connections=16)
# Host and port to addresses, all of which may be connected to. What it raises, sending raises.
AddressesOf = Callable[[str, int], list[str]]


class CheckedTransport(httpx.HTTPTransport):
    """Connects to what `addresses_of` returns and uses no proxy."""

    def __init__(self, addresses_of: AddressesOf) -> None:
        """Each new connection asks `addresses_of` once."""
        super().__init__(trust_env=False)
        self._pool.close()
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=_LIMITS.max_connections,
            max_keepalive_connections=_LIMITS.max_keepalive_connections,
            network_backend=_CheckedBackend(addresses_of),
        )


class _CheckedBackend(httpcore.SyncBackend):
    def __init__(self, addresses_of: AddressesOf) -> None:
        self._addresses_of = addresses_of

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        *others, last = self._addresses_of(host, port)
        for address in others:
            try:
                return super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return super().connect_tcp(last, port, timeout, local_address, socket_options)
