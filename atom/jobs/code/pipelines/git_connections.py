"""Connections to git servers: HTTP and SSH, to addresses that were checked a moment before."""

from __future__ import annotations

import base64
import hashlib
import io
import socket
from collections.abc import Sequence
from typing import Any

import paramiko
import urllib3
from dulwich.client import SSHVendor
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from atom_sdk.public_hosts import connect_to_one, public_addresses

_CONNECT_S = 20.0
_SSH_PORT = 22
_CHUNK = 32 << 10


class HostKeyChangedError(Exception):
    """The server shows another key than the one that the project knows."""


class BadKeyError(PermissionError):
    """The secret is not a key that can be used."""


def checked_pool(allowed: Sequence[str]) -> urllib3.PoolManager:
    """Return what HTTP goes through: each connection resolves and checks its host's addresses."""

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return connect(self.host, self.port or 80, allowed)

    class Secure(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return connect(self.host, self.port or 443, allowed)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    pool = urllib3.PoolManager(timeout=urllib3.Timeout(connect=_CONNECT_S, read=60.0), retries=2)
    pool.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}
    return pool


def connect(host: str, port: int, allowed: Sequence[str]) -> socket.socket:
    """Connect to an address of the host. Raises AddressRefusedError, HostUnknownError, OSError."""
    return connect_to_one(public_addresses(host, port, allowed), port, _CONNECT_S)


class SshVendor(SSHVendor):
    """Runs git's command over SSH with a private key; trusts a host's first key, and no other."""

    def __init__(self, private_key: str, host_key: str, allowed: Sequence[str]) -> None:
        """`host_key` is what `seen` was at an earlier time, empty at the first."""
        self._private_key, self._known, self._allowed = private_key, host_key, allowed
        self.seen = ""

    def run_command(  # noqa: PLR0913  # as dulwich calls it
        self,
        host: str,
        command: bytes,
        username: str | None = None,
        port: int | None = None,
        password: str | None = None,
        key_filename: str | None = None,
        ssh_command: str | None = None,
        protocol_version: int | None = None,
    ) -> Any:
        """Connect and start the command.

        Raises BadKeyError, PermissionError, HostKeyChangedError, OSError.
        """
        transport = paramiko.Transport(connect(host, port or _SSH_PORT, self._allowed))
        try:
            transport.start_client(timeout=_CONNECT_S)
            self._check(transport.get_remote_server_key(), host)
            transport.auth_publickey(username or "git", _key_of(self._private_key))
            channel = transport.open_session(timeout=_CONNECT_S)
            channel.exec_command(command)
        except paramiko.AuthenticationException as error:
            transport.close()
            raise PermissionError(str(error)) from error
        except paramiko.SSHException as error:
            transport.close()
            raise OSError(str(error)) from error
        except BaseException:
            transport.close()
            raise
        return _Channel(transport, channel)

    def _check(self, key: paramiko.PKey, host: str) -> None:
        self.seen = fingerprint(key)
        if self._known and self._known != self.seen:
            raise HostKeyChangedError(
                f"{host} shows the key {self.seen}; the project knows it by {self._known}."
            )


def fingerprint(key: paramiko.PKey) -> str:
    """Return the kind of a key and its SHA-256, as OpenSSH shows it."""
    digest = base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
    return f"{key.get_name()} SHA256:{digest}"


def _key_of(text: str) -> paramiko.PKey:
    kinds: tuple[type[paramiko.PKey], ...] = (
        paramiko.Ed25519Key,
        paramiko.ECDSAKey,
        paramiko.RSAKey,
    )
    for kind in kinds:
        try:
            return kind.from_private_key(io.StringIO(text))
        except (paramiko.SSHException, ValueError):
            continue
    raise BadKeyError("The secret is no private key without a passphrase.")


class _Channel:
    """The connection that dulwich reads from and writes to."""

    def __init__(self, transport: paramiko.Transport, channel: paramiko.Channel) -> None:
        self._transport, self._channel = transport, channel
        channel.settimeout(60.0)

    def can_read(self) -> bool:
        return bool(self._channel.recv_ready())

    def write(self, data: bytes) -> None:
        self._channel.sendall(data)

    def read(self, count: int | None = None) -> bytes:
        found = bytearray()
        while count is None or len(found) < count:
            data = self._channel.recv(_CHUNK if count is None else count - len(found))
            if not data:
                break
            found += data
        return bytes(found)

    def close(self) -> None:
        self._channel.close()
        self._transport.close()
