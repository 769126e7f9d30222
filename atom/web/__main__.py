"""One web process: portal, API and WebSockets, on a port that it may share with others.

If there are several, the kernel spreads connections over them (`SO_REUSEPORT`). They share no state
in memory: sessions, limits and events are in PostgreSQL and Valkey.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Final

import uvicorn

from atom.settings.environment import load_environment
from atom.web.shared_counters import share_counters

# Longer than browsers and clients keep an idle connection. The server should not close first, since
# a request may be on its way.
_KEEP_ALIVE_S: Final = 75
_BACKLOG: Final = 2048
_STARTUP_FAILED: Final = 3


class WebServer(uvicorn.Server):
    """Leaves a file once it listens: the port alone may be answered by another process."""

    def __init__(self, config: uvicorn.Config, ready_file: Path) -> None:
        super().__init__(config)
        self._ready_file = ready_file

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        if self.started:
            self._ready_file.touch()


def listen(host: str, port: int, *, is_shared: bool) -> socket.socket:
    """Return a listening socket of either family."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=_BACKLOG, reuse_port=is_shared)


def main(number: int, graceful_shutdown_s: int, ready_file: Path) -> None:
    """Serve until a signal comes; `number` counts the web processes from 1."""
    env = load_environment()
    is_shared = env.atom_web_processes > 1
    if is_shared:
        share_counters(env.atom_home / "run" / "counters", number, env.atom_web_processes)
    config = uvicorn.Config(
        "atom.asgi:program",
        factory=True,
        access_log=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=graceful_shutdown_s,
        # To compress each message for each socket takes longer than all else that sends it.
        ws_per_message_deflate=False,
    )
    server = WebServer(config, ready_file)
    server.run([listen(env.atom_web_host, env.atom_web_port, is_shared=is_shared)])
    if not server.started:
        sys.exit(_STARTUP_FAILED)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
