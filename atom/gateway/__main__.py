"""The gateway process: media links and the S3 endpoint, each on a port of its own.

S3 tools need the root of a host, since they sign the whole path; a second process would cost its
memory for nothing. The S3 endpoint, with PostgreSQL and the manifests, is loaded when the first
request comes.
"""

from __future__ import annotations

import asyncio
import importlib
import socket
import sys
from typing import Any

import uvicorn

from atom.core import tracing
from atom.gateway import asgi
from atom.gateway.measuring import measured
from atom.gateway.responses import Receive, Send
from atom.settings.environment import load_environment
from atom_sdk.block_pandas import leave_pandas_out

_S3_APPLICATION = "atom.gateway.s3.application"


class ByPort:
    """An ASGI application: the port that a request came to decides who answers."""

    def __init__(self, s3_port: int) -> None:
        self._s3_port = s3_port
        self._loading = asyncio.Lock()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer one connection."""
        if scope["type"] == "http" and scope["server"][1] == self._s3_port:
            with measured("s3", scope, send) as passing:
                await (await self._s3()).application(scope, receive, passing.send)
            return
        await asgi.application(scope, receive, send)
        if scope["type"] == "lifespan" and (loaded := sys.modules.get(_S3_APPLICATION)):
            loaded.s3_server().close()

    async def _s3(self) -> Any:
        async with self._loading:
            # In a thread: media links are served meanwhile.
            return await asyncio.to_thread(importlib.import_module, _S3_APPLICATION)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket of either family."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def main(graceful_shutdown_s: int) -> None:
    """Serve until a signal comes."""
    leave_pandas_out()
    tracing.begin("gateway")
    env = load_environment()
    sockets = [
        listen(env.atom_web_host, env.atom_s3_gateway_port),
        # Only the web process asks for media. Last: the launcher waits for this port.
        listen("127.0.0.1", env.atom_gateway_port),
    ]
    config = uvicorn.Config(
        ByPort(env.atom_s3_gateway_port),  # type: ignore[arg-type]  # our narrower Send
        access_log=False,
        timeout_graceful_shutdown=graceful_shutdown_s,
    )
    uvicorn.Server(config).run(sockets)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
