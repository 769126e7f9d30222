"""Sends an HTTP request to the application that owns its path prefix."""

from collections.abc import Awaitable, Callable, Mapping

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope

HttpApplication = Callable[[HTTPScope, ASGIReceiveCallable, ASGISendCallable], Awaitable[None]]


class PrefixRouter:
    """First matching prefix wins; the rest goes to the default application."""

    def __init__(
        self, routes: Mapping[tuple[str, ...], HttpApplication], default: HttpApplication
    ) -> None:
        self._routes = tuple(routes.items())
        self._default = default

    async def __call__(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Handle one request."""
        path = scope["path"]
        for prefixes, application in self._routes:
            if path.startswith(prefixes):
                await application(scope, receive, send)
                return
        await self._default(scope, receive, send)
