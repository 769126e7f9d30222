"""A program that is told of events: it accepts what it can verify and remembers every delivery."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from atom_sdk.webhooks import WebhookSignatureError, verify

# This share of a hundred requests is refused, as a receiver of its own kind would now and then.
_REFUSED_PERCENT = 10


class Receiver:
    """Listens on a port of this machine; `events` are those accepted, by the id of the event."""

    def __init__(self, seed: int, port: int = 0) -> None:
        self.secret = ""
        self.events: dict[str, dict[str, Any]] = {}
        # Ids of the deliveries in which an event came: one, however often it was sent.
        self.deliveries: dict[str, set[str]] = defaultdict(set)
        self.unverified = 0
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"receiver": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where events are sent to."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def take(self, body: bytes, delivery: str, signature: str) -> int:
        """Return the status of the answer."""
        with self._lock:
            try:
                event = verify(self.secret, body, signature)
            except WebhookSignatureError:
                self.unverified += 1
                return 401
            if self._random.randrange(100) < _REFUSED_PERCENT:
                return 503
            self.events[event["id"]] = event
            self.deliveries[event["id"]].add(delivery)
            return 204

    def told_of(self, kind: str) -> list[dict[str, Any]]:
        """Return the data of all events of a kind."""
        with self._lock:
            return [event["data"] for event in self.events.values() if event["event"] == kind]

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = self.headers
        status = self.receiver.take(
            body, str(headers["Atom-Delivery"]), str(headers["Atom-Signature"])
        )
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the report does."""
