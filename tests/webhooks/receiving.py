"""A program that receives webhooks, and answers as a test wants it to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    """The requests that came, and the answers to give: the last one is given again and again."""

    url: str = ""
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def then(self, status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> None:
        self.answers.append((status, headers or {}, body))

    @property
    def ids(self) -> list[str]:
        return [headers["Atom-Delivery"] for headers, _ in self.requests]


@contextmanager
def receiver() -> Iterator[Receiver]:
    """Serve on a free port of this machine."""
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.requests.append((dict(self.headers), body))
            answers = found.answers or [(204, {}, b"")]
            status, headers, said = answers.pop(0) if len(answers) > 1 else answers[0]
            self.send_response(status)
            for name, value in {"Content-Length": str(len(said)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
