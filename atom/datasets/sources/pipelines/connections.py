"""Connections of sources: to an address that was checked a moment before, and to no other.

The SDK checks those of httpx (`atom_sdk.checked_connections`). Those of boto3 are made here in the
same way. The name is resolved once for each connection, every address of it is checked, and the
socket goes to one of these.
"""

from __future__ import annotations

import socket
import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any

import httpx
from botocore.awsrequest import AWSHTTPConnection, AWSHTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from atom.core.paced_connections import PacedConnection, use_connections
from atom.datasets.sources.pipelines.addresses import checked_addresses
from atom_sdk.checked_connections import CheckedTransport
from atom_sdk.pace import Pace
from atom_sdk.public_hosts import connect_to_one

_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
# A source that trickles would otherwise hold a thread of the gateway, or a scan, for ever.
PACE = Pace()


def http_client(allowed: Sequence[str]) -> httpx.Client:
    """Return a client that follows no redirect, uses no proxy and reaches only what it may.

    Sending raises SourceAddressRefused and SourceAway besides httpx's own errors.
    """
    # No compression on the way, so that the bytes are the stored ones.
    headers = {"Accept-Encoding": "identity", "User-Agent": "atom"}
    addresses = partial(checked_addresses, allowed=tuple(allowed))
    transport = CheckedTransport(addresses, pace=PACE)
    client = httpx.Client(
        transport=transport,
        follow_redirects=False,
        timeout=_TIMEOUT,
        trust_env=False,
        headers=headers,
    )
    # A reader has no end of its own: its connections close when nobody has it any more.
    weakref.finalize(client, transport.close)
    return client


def check_connections(client: Any, allowed: Sequence[str]) -> None:
    """Have a new boto3 client connect in the same way; the error comes wrapped in its own."""

    class Plain(_CheckedConnection, AWSHTTPConnection):  # type: ignore[misc]  # botocore mixes too
        pass

    class Secure(_CheckedConnection, AWSHTTPSConnection):  # type: ignore[misc]
        pass

    Plain.allowed = Secure.allowed = tuple(allowed)
    Plain.pace = Secure.pace = PACE
    use_connections(client, Plain, Secure)


class _CheckedConnection(PacedConnection):
    """Mixed into urllib3's connections, whose own way is to resolve the name here."""

    allowed: tuple[str, ...] = ()
    host: str
    port: int
    timeout: Any

    def _new_conn(self) -> socket.socket:
        addresses = checked_addresses(self.host, self.port, self.allowed)
        try:
            return connect_to_one(addresses, self.port, self.timeout)
        except TimeoutError as exc:
            raise ConnectTimeoutError(self, f"no answer from {self.host}") from exc
        except OSError as exc:
            raise NewConnectionError(self, f"no connection to {self.host}") from exc  # type: ignore[arg-type]
