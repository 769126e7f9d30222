"""boto3's connections with a limit for the whole answer.

boto3 limits each silence of a server only, so one byte a minute kept a thread for ever.
"""

from __future__ import annotations

import io
import socket
from typing import Any, ClassVar

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)

from atom_sdk.pace import Pace, Waiting


class PacedConnection:
    """Mixed into urllib3's connections."""

    pace: ClassVar[Pace] = Pace()
    sock: Any

    def connect(self) -> None:
        """Connect, with TLS if that is wanted."""
        super().connect()  # type: ignore[misc]  # of what it is mixed into
        self.sock = _PacedSocket(self.sock, self.pace)


def use_connections(client: Any, plain: type, secure: type) -> None:
    """Have a boto3 client that was not used yet make these connections."""

    class PlainPool(AWSHTTPConnectionPool):  # type: ignore[misc]  # botocore has no types
        ConnectionCls = plain

    class SecurePool(AWSHTTPSConnectionPool):  # type: ignore[misc]
        ConnectionCls = secure

    # No public place to say so; a test connects through it, so that we would see it moved.
    manager = client._endpoint.http_session._manager
    manager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}


def pace_connections(client: Any, of_answers: Pace) -> None:
    """Have a boto3 client that was not used yet take no answer that comes more slowly."""

    class Plain(PacedConnection, AWSHTTPConnection):  # type: ignore[misc]  # botocore mixes too
        pace = of_answers

    class Secure(PacedConnection, AWSHTTPSConnection):  # type: ignore[misc]
        pace = of_answers

    use_connections(client, Plain, Secure)


class _PacedSocket:
    """A socket as http.client uses it: it sends a request, then reads a file of the answer."""

    def __init__(self, connected: socket.socket, pace: Pace) -> None:
        self._socket = connected
        self._waiting = Waiting(pace)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def sendall(self, data: Any) -> None:
        self._waiting.begin()
        self._socket.sendall(data)

    def makefile(self, mode: str = "rb", buffering: int = -1) -> io.RawIOBase | io.BufferedReader:
        # The socket's own file, so that it stays open as long as the file is read.
        file = _PacedFile(self._socket.makefile("rb", 0), self._waiting)
        # Without a buffer boto3 reads whether it may go on (100 Continue).
        return file if buffering == 0 else io.BufferedReader(file)


class _PacedFile(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, waiting: Waiting) -> None:
        self._raw, self._waiting = raw, waiting

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._waiting.is_over:
            raise TimeoutError("the answer comes too slowly")
        with self._waiting.measured():
            count = self._raw.readinto(buffer)  # type: ignore[attr-defined]
        self._waiting.came(count or 0)
        return count  # type: ignore[no-any-return]

    def close(self) -> None:
        self._raw.close()
        super().close()
