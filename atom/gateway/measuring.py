"""Count the bytes that the gateway sends, and record a span where it is traced."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from atom.core import metrics, tracing
from atom.gateway.responses import Send

# No answer was sent: the client left before it began, or the process failed.
_NONE = "none"
# Requests of probes and Prometheus.
OTHER = "other"


class Measured:
    """One answer on its way out: its status, its bytes and how long it takes."""

    def __init__(self, kind: str, send: Send) -> None:
        self._kind = kind
        self._send = send
        self._started = time.perf_counter()
        self.status = 0
        self.sent_bytes = 0

    async def send(self, message: dict[str, Any], /) -> None:
        """Pass a message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)
        self.sent_bytes += len(message.get("body", b""))

    def end(self) -> None:
        """Count it, however far it came."""
        metrics.MEDIA_BYTES.labels(self._kind).inc(self.sent_bytes)
        seconds = time.perf_counter() - self._started
        status = f"{self.status // 100}xx" if self.status else _NONE
        metrics.MEDIA.labels(self._kind, status).observe(seconds)


@contextmanager
def measured(kind: str, scope: dict[str, Any], send: Send) -> Iterator[Measured]:
    """Count what is sent inside, and make it a span below the one that `traceparent` names.

    An address of ours opens what it names, so that no span has one.
    """
    passing = Measured(kind, send)
    with _span(kind, scope) as under_way:
        try:
            yield passing
        finally:
            passing.end()
            if under_way is not None:
                under_way.set_attribute("http.response.body.size", passing.sent_bytes)
                if passing.status:
                    tracing.describe_answer(under_way, passing.status)


def _span(kind: str, scope: dict[str, Any]) -> Any:
    if kind == OTHER or not tracing.is_on():
        return nullcontext()
    parent = dict(scope["headers"]).get(tracing.PARENT.encode(), b"").decode("latin-1")
    said = {"http.request.method": scope["method"]}
    return tracing.span(f"{scope['method']} {kind}", "SERVER", parent, said)
