"""Refuses a request body that is too large, before it is kept anywhere.

Django reads a body to its end before its first middleware runs, so this stands in front of it.
"""

from __future__ import annotations

from asgiref.typing import ASGIReceiveCallable, ASGIReceiveEvent, ASGISendCallable, HTTPScope

from atom.core.errors import TooLarge
from atom.web.answers import send_problem
from atom.web.router import HttpApplication


class BodyLimit:
    """Passes requests on, and counts their bytes whatever `Content-Length` says."""

    def __init__(self, application: HttpApplication, max_bytes: int) -> None:
        self._application = application
        self._max_bytes = max_bytes

    async def __call__(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Handle one request; answer 413 to one whose body is too large."""
        received = 0

        async def counted() -> ASGIReceiveEvent:
            nonlocal received
            event = await receive()
            if event["type"] == "http.request":
                received += len(event["body"])
            # After this message Django drops the body and answers nothing.
            return {"type": "http.disconnect"} if received > self._max_bytes else event

        announced = _announced_bytes(scope)
        if announced <= self._max_bytes:
            await self._application(scope, counted, send)
        if max(announced, received) > self._max_bytes:
            await self._refuse(send)

    async def _refuse(self, send: ASGISendCallable) -> None:
        await send_problem(
            send,
            status=TooLarge.status,
            code=TooLarge.code,
            title=TooLarge.title,
            detail=f"At most {self._max_bytes} bytes are read.",
            action=TooLarge.action,
        )


def _announced_bytes(scope: HTTPScope) -> int:
    announced = dict(scope["headers"]).get(b"content-length", b"")
    return int(announced) if announced.isdigit() else 0
