"""Stands between a browser and the stack, and can be taken away: a server that stops."""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import dataclass, field

_CHUNK_BYTES = 65_536


@dataclass
class Relay:
    """Passes every connection on to `port` while it is open."""

    port: int
    listening_on: int = 0
    _door: socket.socket | None = None
    _sockets: list[socket.socket] = field(default_factory=list)

    def open(self) -> None:
        """Begin to answer, at the same port each time."""
        self._door = socket.create_server(("127.0.0.1", self.listening_on))
        self.listening_on = self._door.getsockname()[1]
        threading.Thread(target=self._serve, args=(self._door,), daemon=True).start()

    def close(self) -> None:
        """Refuse new connections and break the others."""
        door, self._door = self._door, None
        for each in [door, *self._sockets]:
            if each is not None:
                # Wakes whoever waits in it; closing alone does not.
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
        self._sockets.clear()

    def _serve(self, door: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = door.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.port))
                self._sockets += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=_pass_on, args=(source, target), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK_BYTES):
            target.sendall(data)
    for each in (source, target):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
