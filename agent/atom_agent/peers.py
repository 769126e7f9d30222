"""Serves packs of this node to the agents of other nodes, each against a token for that pack.

Nothing is listed and nothing else is served, but `GET /healthz`: whether the agent's loops turn.
"""

from __future__ import annotations

import re
import socket
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, BinaryIO

from atom_agent import peer_tokens
from atom_agent.messages import PackName
from atom_agent.packs import NodePacks
from atom_agent.turns import Turns

_PATH = re.compile(r"/packs/([0-9a-f-]{36})/([0-9a-f]{64})")
_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{0,18})")
# A peer that holds a connection and reads nothing for so long loses it.
_TIMEOUT_S = 10
_CONNECTIONS_BESIDE_READERS = 48
_OVERLOADED = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class PeerServer(ThreadingHTTPServer):
    """Listens for peers. Before the first join it knows no key and accepts no token."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, packs: NodePacks, host: str, port: int, most_readers: int) -> None:
        """Listen at once. Raises OSError if the address is taken; port 0 chooses one."""
        self.packs = packs
        self.key: bytes | None = None
        self.turns = Turns()
        self.readers = threading.BoundedSemaphore(most_readers)
        self._connections = threading.BoundedSemaphore(most_readers + _CONNECTIONS_BESIDE_READERS)
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection, unless too many are open."""
        if not self._connections.acquire(blocking=False):
            with suppress(OSError):
                request.sendall(_OVERLOADED)
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection and count it off."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A peer that goes away is no error of this node."""


class _Handler(BaseHTTPRequestHandler):
    server: PeerServer
    timeout = _TIMEOUT_S
    # A connection for each range: an idle one would hold a thread.
    protocol_version = "HTTP/1.0"
    server_version = "atom-agent"
    sys_version = ""

    def do_GET(self) -> None:
        if self.path == "/healthz":
            late = self.server.turns.late()
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE if late else HTTPStatus.OK)
            return
        match = _PATH.fullmatch(self.path)
        try:
            pack = PackName(match[1], match[2]) if match else None
        except ValueError:
            pack = None
        if pack is None:
            self._answer(HTTPStatus.NOT_FOUND)
        elif not self._is_accepted(pack):
            self._answer(HTTPStatus.UNAUTHORIZED)
        elif not self.server.readers.acquire(blocking=False):
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            try:
                self._send_pack(pack)
            finally:
                self.server.readers.release()

    def _is_accepted(self, pack: PackName) -> bool:
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        key = self.server.key
        return key is not None and scheme == "Bearer" and peer_tokens.is_accepted(token, key, pack)

    def _send_pack(self, pack: PackName) -> None:
        try:
            file = self.server.packs.path(pack).open("rb")
        except OSError:
            self._answer(HTTPStatus.NOT_FOUND)
            return
        with file:
            size = file.seek(0, 2)
            start, end = _range_of(self.headers.get("Range"), size)
            if start >= end:
                self._answer(
                    HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, {"Content-Range": f"bytes */{size}"}
                )
            else:
                self._send_bytes(file, start, end, size)

    def _send_bytes(self, file: BinaryIO, start: int, end: int, size: int) -> None:
        is_part = "Range" in self.headers
        self.send_response(HTTPStatus.PARTIAL_CONTENT if is_part else HTTPStatus.OK)
        self.send_header("Content-Length", str(end - start))
        self.send_header("Content-Type", "application/octet-stream")
        if is_part:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.end_headers()
        self.wfile.flush()
        with suppress(OSError):
            self.connection.sendfile(file, start, end - start)

    def _answer(self, status: HTTPStatus, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Write no line for each request."""


def _range_of(header: str | None, size: int) -> tuple[int, int]:
    """Return the first byte and the one after the last; an empty range if it cannot be served."""
    if header is None:
        return 0, size
    match = _RANGE.fullmatch(header)
    if not match:
        return 0, 0
    end = int(match[2]) + 1 if match[2] else size
    return int(match[1]), min(end, size)
