"""An object store that throttles, fails, cuts and stalls: HTTP ranges over a folder of packs."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

Fault = Callable[["StoreServer", BaseHTTPRequestHandler, int], bool]
"""Handles a request (number given) in a bad way; False leaves it to be answered well."""


@dataclass
class StoreServer:
    """Serves `<folder>/<name>`; `url` of a pack has a key that may expire."""

    folder: Path
    fault: Fault | None = None
    good_key: int = 0
    requests: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def url(self, pack: bytes) -> str:
        return f"http://127.0.0.1:{self.port}/{pack.hex()}.tar?key={self.good_key}"

    @property
    def ranges(self) -> Counter[tuple[str, str]]:
        return Counter(self.requests)

    def fetched_bytes(self) -> int:
        spans = (text.removeprefix("bytes=").split("-") for _, text in self.requests)
        return sum(int(last) + 1 - int(first) for first, last in spans)


@dataclass
class Addresses:
    """Addresses of a StoreServer, renewed on demand; can be pickled."""

    port: int
    key: int = 0
    renewals: int = 0

    def url(self, pack: bytes) -> str:
        return f"http://127.0.0.1:{self.port}/{pack.hex()}.tar?key={self.key}"

    def renew(self, pack: bytes, refused: str, trouble: str = "") -> str:
        self.key += 1
        self.renewals += 1
        return self.url(pack)

    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def serving(folder: Path, fault: Fault | None = None) -> Iterator[StoreServer]:
    server = StoreServer(folder, fault)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Quiet."""

        def do_GET(self) -> None:
            with server.lock:
                number = len(server.requests)
                server.requests.append((self.path.split("?")[0][1:9], self.headers["Range"]))
            try:
                if server.fault is None or not server.fault(server, self, number):
                    answer(server, self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    # A request that hangs must not keep the test from ending.
    class Server(ThreadingHTTPServer):
        daemon_threads = True
        # The kernel would make some of many connections wait for a second.
        request_queue_size = 128

    http = Server(("127.0.0.1", 0), Handler)
    server.port = http.server_address[1]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def answer(
    server: StoreServer,
    request: BaseHTTPRequestHandler,
    cut: int | None = None,
    spoil: bool = False,
) -> None:
    """Answer well, or with only the first `cut` bytes, or with zeros."""
    data = (server.folder / request.path.split("?")[0][1:]).read_bytes()
    first, last = request.headers["Range"].removeprefix("bytes=").split("-")
    start, end = int(first), min(int(last) + 1, len(data))
    request.send_response(206)
    request.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
    request.send_header("Content-Length", str(end - start))
    request.end_headers()
    body = bytes(end - start) if spoil else data[start:end]
    request.wfile.write(body if cut is None else body[:cut])
    if cut is not None:
        request.close_connection = True


def status(request: BaseHTTPRequestHandler, code: int) -> bool:
    request.send_response(code)
    request.send_header("Content-Length", "0")
    request.end_headers()
    return True


def stall(seconds: float) -> bool:
    """Wait, then let it be answered well."""
    time.sleep(seconds)
    return False
