"""One address for the REST API and the gateway, as an installation has it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from atom.gateway.asgi import application
from atom.web.media_proxy import MediaProxy


class Gateway:
    """The gateway for `/media/` and the REST API for all else behind one address, as installed."""

    def __init__(self, api_url: str) -> None:
        self._api = MediaProxy(api_url)
        self.reads = 0
        # Known while it is served.
        self.url = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if not scope["path"].startswith("/media/"):
            await self._api(scope, receive, send)
            return
        self.reads += 1
        await application(scope, receive, send)

    @contextmanager
    def served(self) -> Iterator[str]:
        """Listen on a free port; yields the address."""
        with served(self, self._api.aclose) as self.url:
            yield self.url


async def _nothing() -> None:
    pass


@contextmanager
def served(app: Any, close: Callable[[], Awaitable[None]] = _nothing) -> Iterator[str]:
    """Serve an ASGI application on a free port; yields the address. `close` ends it."""
    config = uvicorn.Config(app, port=0, log_config=None, lifespan="off", ws="none")
    server = uvicorn.Server(config)

    async def run() -> None:
        await server.serve()
        await close()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
