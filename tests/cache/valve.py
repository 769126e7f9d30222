"""A TCP proxy in front of the object store that holds its answers back, or fails at some."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from django.conf import settings

from atom.core import storage

# A test that fails must end.
HELD_S = 10.0
_FAILURE = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Valve:
    """Passes bytes on unchanged; `open` cleared, an answer waits for up to HELD_S.

    As a store does whose disk has lost an object: whoever wants to read or copy something whose
    address contains `lost` is answered 500. `fails` answers everybody so.
    """

    def __init__(self, target: tuple[str, int]) -> None:
        self.open = threading.Event()
        self.open.set()
        self.asked = threading.Event()
        self.requests: list[str] = []
        self.lost = b""
        self.fails = False
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections, and let those that are held back go."""
        self._listener.close()
        self.open.set()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(self._target)
            threading.Thread(target=self._ask, args=(near, far), daemon=True).start()
            threading.Thread(target=self._answer, args=(far, near), daemon=True).start()

    def _ask(self, near: socket.socket, far: socket.socket) -> None:
        for data in _received(near):
            if data.startswith(b"GET "):
                self.requests.append(data.split(b" ")[1].decode())
                self.asked.set()
            if self._is_failing(data):
                near.sendall(_FAILURE)
                near.close()
                break
            far.sendall(data)
        far.close()

    def _is_failing(self, data: bytes) -> bool:
        is_asked_for = bool(self.lost) and self.lost in data and not data.startswith(b"HEAD ")
        return self.fails or is_asked_for

    def _answer(self, far: socket.socket, near: socket.socket) -> None:
        for data in _received(far):
            self.open.wait(HELD_S)
            near.sendall(data)
        near.close()


def _received(connection: socket.socket) -> Iterator[bytes]:
    try:
        while data := connection.recv(1 << 16):
            yield data
    except OSError:
        return


@contextmanager
def valve_before_the_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Valve]:
    """Have every request to the object store pass through a valve meanwhile."""
    address = urlsplit(settings.S3_ENDPOINT_URL)
    valve = Valve((str(address.hostname), int(address.port or 80)))
    try:
        with monkeypatch.context() as patch:
            patch.setattr(settings, "S3_ENDPOINT_URL", valve.url)
            patch.setattr(settings, "S3_PUBLIC_ENDPOINT_URL", valve.url)
            storage.objects.cache_clear()
            yield valve
    finally:
        # The next test asks the store itself, also when this one failed.
        storage.objects.cache_clear()
        valve.close()
