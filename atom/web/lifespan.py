"""ASGI lifespan for an application of routers that know only http and websocket."""

from collections.abc import Awaitable, Callable, Sequence

from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGISendCallable,
    Scope,
)

ShutdownHook = Callable[[], Awaitable[None]]


class LifespanApplication:
    """Answers lifespan events itself (Channels' router rejects them) and passes on the rest."""

    def __init__(
        self, application: ASGI3Application, on_shutdown: Sequence[ShutdownHook] = ()
    ) -> None:
        self._application = application
        self._on_shutdown = tuple(on_shutdown)

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Handle one connection."""
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
        else:
            await self._application(scope, receive, send)

    async def _run_lifespan(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                for hook in self._on_shutdown:
                    await hook()
                await send({"type": "lifespan.shutdown.complete"})
                return
