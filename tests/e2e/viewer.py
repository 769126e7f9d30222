"""A page that shows a run's log through its socket."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.stack import Stack

_PATIENCE_S = 5.0


class LogViewer(threading.Thread):
    """Reads to the end of the log; a socket that breaks is opened again where the page was."""

    def __init__(self, stack: Stack, session: dict[str, str], run: str) -> None:
        super().__init__(daemon=True)
        self.text = ""
        self.opened = 0
        # Frames that did not begin where the one before had ended.
        self.out_of_order: list[dict[str, Any]] = []
        self._ended = False
        self._offset = 0
        self._address = f"{stack.base_url.replace('http', 'ws', 1)}/ws/runs/{run}/"
        self._origin = stack.base_url
        self._cookies = "; ".join(f"{name}={value}" for name, value in session.items())

    def run(self) -> None:
        """Read until the server says that the log has ended."""
        while not self._ended:
            with contextlib.suppress(OSError, EOFError, WebSocketException):
                self._watch()
            time.sleep(0.1)

    def _watch(self) -> None:
        with connect(
            f"{self._address}?log_from={self._offset}",
            additional_headers={"Cookie": self._cookies, "Origin": self._origin},
            open_timeout=_PATIENCE_S,
            proxy=None,
        ) as socket:
            self.opened += 1
            while not self._ended:
                self._take(json.loads(socket.recv()))

    def _take(self, message: dict[str, Any]) -> None:
        self._ended = message["type"] == "eof"
        if message["type"] not in {"log", "gap"}:
            return
        if message.get("byte_off") != self._offset:
            self.out_of_order.append(message)
        self.text += message.get("text", "")
        self._offset = message.get("next", self._offset)
