"""A server whose answers never come to an end, and are never silent for long either."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_EVERY_S = 0.02


@contextmanager
def trickling(beginning: bytes) -> Iterator[str]:
    """Answer each connection with `beginning`, then one byte after the other, without an end."""
    over = threading.Event()
    threads: list[threading.Thread] = []

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                connection.sendall(beginning)
                while not over.wait(_EVERY_S):
                    connection.sendall(b"x")
            except OSError:
                return

    def serve(server: socket.socket) -> None:
        while not over.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=answer, args=(connection,)))
            threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threads.append(threading.Thread(target=serve, args=(server,)))
        threads[0].start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            over.set()
            # Wakes up who accepts.
            server.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()
