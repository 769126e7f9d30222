"""Answers as ASGI messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from atom.core.errors import PROBLEM_JSON, AtomError


class Send(Protocol):
    """ASGI's `send`."""

    async def __call__(self, message: dict[str, Any], /) -> None:
        """Send one message."""


class Receive(Protocol):
    """ASGI's `receive`."""

    async def __call__(self) -> dict[str, Any]:
        """Return the next message."""


class ClientLeft(Exception):
    """The client went away before it had the whole answer."""


@dataclass(frozen=True)
class Answer:
    """A status, headers and a body: whole, or in pieces with Content-Length given."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    pieces: AsyncIterator[bytes] | None = field(default=None, compare=False)

    async def send(self, send: Send, receive: Receive, *, with_body: bool) -> None:
        """Send it; `with_body` is False for HEAD.

        Raises ClientLeft when the client is gone.
        """
        headers = dict(self.headers)
        if self.pieces is None and self.status not in {204, 304}:
            headers.setdefault("content-length", str(len(self.body)))
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": raw})
        if with_body and self.pieces is not None:
            await _send_pieces(self.pieces, send, receive)
        await send({"type": "http.response.body", "body": self.body if with_body else b""})


async def _send_pieces(pieces: AsyncIterator[bytes], send: Send, receive: Receive) -> None:
    # A server need not report through `send` that the client has left, so this stops the reading.
    leaving = asyncio.ensure_future(_left(receive))
    try:
        async for piece in pieces:
            if leaving.done():
                raise ClientLeft
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    finally:
        leaving.cancel()


async def _left(receive: Receive) -> None:
    """Return when the client has gone; what it still sends is of no interest."""
    while (await receive())["type"] != "http.disconnect":
        pass


def problem(error: AtomError, request_id: str | None = None) -> Answer:
    """Return an error as problem+json; never cached."""
    body = json.dumps(error.as_problem(request_id)).encode()
    headers = {"content-type": PROBLEM_JSON, "cache-control": "no-store", **error.headers}
    return Answer(error.status, headers, body)


def json_answer(status: int, payload: dict[str, Any]) -> Answer:
    """Return a small JSON document."""
    return Answer(status, {"content-type": "application/json"}, json.dumps(payload).encode())
