"""WebSocket entry: same-origin check, then the session's user, then the routes of the apps."""

from collections.abc import Iterable
from typing import Any, cast
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGISendCallable,
    WebSocketScope,
)
from django.contrib.auth.models import AnonymousUser

from atom.accounts.permissions import lacks_second_factor

# Application codes of RFC 6455 are 4000–4999; these repeat HTTP's meaning.
CLOSE_FORBIDDEN = 4403
CLOSE_NOT_FOUND = 4404


class SameOrigin:
    """Refuses browsers of other sites; their cookies would otherwise open our sockets.

    A client that sends no Origin is no browser and has to bring its own credentials.
    """

    def __init__(self, application: ASGI3Application, trusted_origins: Iterable[str]) -> None:
        self._application = application
        self._trusted = frozenset(origin.rstrip("/").lower() for origin in trusted_origins)

    async def __call__(
        self, scope: WebSocketScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Pass the connection on or close it."""
        if self._is_allowed(scope):
            await self._application(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": CLOSE_FORBIDDEN, "reason": "origin"})

    def _is_allowed(self, scope: WebSocketScope) -> bool:
        headers = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        host = headers.get(b"host", b"").decode("latin-1").lower()
        return not origin or origin in self._trusted or urlsplit(origin).netloc == host


class SecondFactorFirst:
    """Treats a person who must first set up a second factor as not signed in."""

    def __init__(self, application: ASGI3Application) -> None:
        self._application = application

    async def __call__(
        self, scope: WebSocketScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Pass the connection on."""
        known = cast(dict[str, Any], scope)
        user = known["user"]
        # The first read of a session asks the database.
        if user.is_authenticated and await sync_to_async(lacks_second_factor)(
            user, known["session"]
        ):
            known["user"] = AnonymousUser()
        await self._application(scope, receive, send)


async def close_unknown(
    scope: WebSocketScope, receive: ASGIReceiveCallable, send: ASGISendCallable
) -> None:
    """Close a socket whose path no application knows."""
    await send({"type": "websocket.close", "code": CLOSE_NOT_FOUND, "reason": "unknown path"})
