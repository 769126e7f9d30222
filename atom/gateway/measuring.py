"""Counts what the gateway sends, as it passes."""

from __future__ import annotations

import time
from typing import Any

from atom.core import metrics
from atom.gateway.responses import Send

# Nobody got an answer: the client left before it began, or the process failed.
_NONE = "none"


class Measured:
    """One answer on its way out: its status, its bytes and how long it takes."""

    def __init__(self, kind: str, send: Send) -> None:
        self._kind = kind
        self._send = send
        self._started = time.perf_counter()
        self._status = _NONE
        self._bytes = 0

    async def send(self, message: dict[str, Any], /) -> None:
        """Pass a message on."""
        if message["type"] == "http.response.start":
            self._status = f"{message['status'] // 100}xx"
        await self._send(message)
        self._bytes += len(message.get("body", b""))

    def end(self) -> None:
        """Count it, however far it came."""
        metrics.MEDIA_BYTES.labels(self._kind).inc(self._bytes)
        seconds = time.perf_counter() - self._started
        metrics.MEDIA.labels(self._kind, self._status).observe(seconds)
