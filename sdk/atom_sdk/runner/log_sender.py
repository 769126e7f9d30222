"""Sends the spool to the server, in order, until everything is acknowledged."""

from __future__ import annotations

import threading
import time
import zlib

from .api import Api, ApiError, UnreachableError
from .spool import Spool

BATCH_BYTES = 256 * 1024
BATCH_EVERY_S = 0.2
STREAM = "main"
_COMPRESS_FROM_BYTES = 1024


class LogSender:
    """A thread between the spool and `POST logs/`."""

    def __init__(self, api: Api, spool: Spool) -> None:
        """Go on from what the spool knows to be acknowledged."""
        self._api = api
        self._spool = spool
        self._offset = spool.acked
        self._thread = threading.Thread(target=self._run, name="log-sender", daemon=True)
        self.error = ""

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether the thread has ended."""
        return not self._thread.is_alive()

    def finish(self, wait_s: float) -> bool:
        """Close the spool, wait until all is sent and say so; return whether all was sent."""
        self._spool.close()
        self._thread.join(wait_s)
        return not self._thread.is_alive() and not self.error

    def _run(self) -> None:
        try:
            while self._send_next():
                pass
            if not self.error:
                self._api.post("logs/eof/", {"bytes": self._spool.end})
        except (ApiError, UnreachableError) as error:
            self.error = str(error)
        finally:
            if self.error:
                # The rest cannot be sent, and the command must not wait for it.
                self._spool.release()

    def _send_next(self) -> bool:
        if not self._spool.wait_for_more(self._offset, 1.0):
            return not self._spool.closed
        if not self._spool.closed and self._spool.end - self._offset < BATCH_BYTES:
            time.sleep(BATCH_EVERY_S / 2)
        body, payload_bytes = self._spool.read(self._offset, BATCH_BYTES)
        self._offset = self._post(body, payload_bytes)
        if self._offset < self._spool.first:
            self.error = f"The server lost the log before byte {self._spool.first}."
            return False
        self._spool.ack(self._offset)
        return True

    def _post(self, body: bytes, payload_bytes: int) -> int:
        """Send one batch and return the offset that the server wants next."""
        headers = {"X-Atom-Stream": STREAM, "X-Atom-Offset": str(self._offset)}
        if not self._api.is_local and len(body) > _COMPRESS_FROM_BYTES:
            body = zlib.compress(body, 1)
            headers["Content-Encoding"] = "deflate"
        try:
            answer = self._api.post_bytes("logs/", body, headers)
        except ApiError as error:
            if error.status != 409 or "next" not in error.body:
                raise
            answer = error.body
        return int(answer.get("next", self._offset + payload_bytes))
