"""HTTP to the server: keep-alive per thread, retries with backoff, three outcomes."""

from __future__ import annotations

import http.client
import json
import random
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

REQUEST_TIMEOUT_S = 30.0
CHUNK_BYTES = 1 << 20
FIRST_DELAY_S = 0.1
LONGEST_DELAY_S = 5.0
RETRIED = frozenset({408, 425, 429})
REVOKED = frozenset({401, 403})
API_PATH = "/api/v1/runner/"

if TYPE_CHECKING:
    # Reads the body of a successful answer and returns what is JSON in it. Python 3.8 cannot
    # evaluate it.
    Reader = Callable[[http.client.HTTPResponse], bytes]


class ApiError(Exception):
    """The server refused a request for good; `body` is its problem document."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        """Keep the status and the document."""
        super().__init__(f"HTTP {status}: {body.get('detail') or body.get('code') or body}")
        self.status = status
        self.body = body


class RevokedError(ApiError):
    """The token is not valid any more: the attempt belongs to nobody or to another runner."""


class UnreachableError(Exception):
    """The deadline passed, or the runner is ending, before the server answered.

    `wait_s`: seconds that its last answer asked to wait, 0 without one.
    """

    def __init__(self, sentence: str, wait_s: float = 0.0) -> None:
        """Keep what the server asked for."""
        super().__init__(sentence)
        self.wait_s = wait_s


class Api:
    """The runner protocol's transport. Safe to use from several threads."""

    def __init__(self, api_url: str, token: str) -> None:
        """Take the server's origin, such as `http://127.0.0.1:8000`."""
        parts = urlsplit(api_url)
        self.host = parts.hostname or ""
        self.abandoned = threading.Event()
        self._scheme, self._netloc = parts.scheme, parts.netloc
        self._prefix = parts.path.rstrip("/") + API_PATH
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": "atom-runner/1"}
        self._local = threading.local()

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine, so that compression only costs."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    def get(self, name: str, deadline_s: float | None = None) -> dict[str, Any]:
        """GET a resource. Raises ApiError, UnreachableError."""
        return self._call("GET", name, b"", {}, deadline_s)

    def post(self, name: str, data: object, deadline_s: float | None = None) -> dict[str, Any]:
        """POST JSON. Raises ApiError, UnreachableError."""
        return self.post_json(name, json.dumps(data).encode("utf-8"), deadline_s)

    def post_json(self, name: str, body: bytes, deadline_s: float | None = None) -> dict[str, Any]:
        """POST what is JSON already. Raises ApiError, UnreachableError."""
        return self._call("POST", name, body, {"Content-Type": "application/json"}, deadline_s)

    def post_bytes(self, name: str, body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
        """POST raw bytes. Raises ApiError, UnreachableError."""
        raw = {"Content-Type": "application/octet-stream", **headers}
        return self._call("POST", name, body, raw, None)

    def download(self, name: str, target: Path) -> None:
        """GET a resource into a file, whole or not at all. Raises ApiError, UnreachableError."""
        partial = target.with_name(f"{target.name}.part")

        def save(response: http.client.HTTPResponse) -> bytes:
            with partial.open("wb") as file:
                shutil.copyfileobj(response, file, CHUNK_BYTES)
            if response.length:  # it was cut off: read() in parts does not say so
                raise http.client.IncompleteRead(b"", response.length)
            return b""

        self._call("GET", name, b"", {}, None, save)
        partial.replace(target)

    def abandon(self) -> None:
        """Make every waiting and later call raise UnreachableError."""
        self.abandoned.set()

    def _call(
        self,
        method: str,
        name: str,
        body: bytes,
        headers: Mapping[str, str],
        deadline_s: float | None,
        read: Reader = http.client.HTTPResponse.read,
    ) -> dict[str, Any]:
        ends_at = None if deadline_s is None else time.monotonic() + deadline_s
        tries, wait_s = 0, None
        while not self.abandoned.is_set():
            try:
                status, answer, wait_s = self._once(method, name, body, headers, read)
                if status < 400:
                    return answer
                if status < 500 and status not in RETRIED:
                    raise (RevokedError if status in REVOKED else ApiError)(status, answer)
            except (OSError, http.client.HTTPException):
                self.disconnect()
                wait_s = None
            delay_s = wait_s if wait_s is not None else backoff_s(tries)
            tries += 1
            if ends_at is not None and time.monotonic() + delay_s > ends_at:
                break
            self.abandoned.wait(delay_s)
        sentence = f"The server did not answer {name} ({tries} tries)."
        raise UnreachableError(sentence, wait_s or 0.0)

    def _once(
        self, method: str, name: str, body: bytes, headers: Mapping[str, str], read: Reader
    ) -> tuple[int, dict[str, Any], float | None]:
        connection = self._connection()
        path = self._prefix + name
        connection.request(method, path, body or None, {**self._headers, **headers})
        response = connection.getresponse()
        content = (read if response.status < 400 else http.client.HTTPResponse.read)(response)
        if response.will_close:
            self.disconnect()
        return response.status, _parse(content), _retry_after(response.getheader("Retry-After"))

    def _connection(self) -> http.client.HTTPConnection:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self._scheme, self._netloc)
            self._local.connection = connection
        return connection

    def disconnect(self) -> None:
        """Close the connection of this thread; a later call makes another."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
        self._local.connection = None


def connect(scheme: str, netloc: str) -> http.client.HTTPConnection:
    """Return a connection that is opened by its first request."""
    kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
    return kind(netloc, timeout=REQUEST_TIMEOUT_S)


def backoff_s(tries: int) -> float:
    """Return a random delay below a bound that doubles: many runners must not return at once."""
    bound_s = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0 ** min(tries, 10))
    return random.uniform(bound_s / 2, bound_s)


def _parse(content: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(content) if content else {}
    except ValueError:
        return {"detail": content[:200].decode("utf-8", "replace")}
    return answer if isinstance(answer, dict) else {"results": answer}


def _retry_after(header: str | None) -> float | None:
    if not header or not header.isascii() or not header.isdigit():
        return None
    return min(float(header), 60.0)
