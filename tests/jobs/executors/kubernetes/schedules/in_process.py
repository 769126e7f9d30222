"""Connections to stand-ins without sockets: requests run in the caller's thread.

Only the pool of sockets below `ClusterConnection` is another one. A request can be dropped, or its
answer lost, as on a network; time does not pass meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from urllib3.exceptions import NewConnectionError, ProtocolError

from atom.clusters.kubernetes.kubeconfig import ClusterAccess
from tests.fakes.kubernetes.cluster import Cluster as StandIn

# Called before each request and after it; both may raise.
Interruption = Callable[[str], None]


class InProcess:
    """Stand-ins by their addresses, and which of them are away."""

    def __init__(self) -> None:
        self.stand_ins: dict[str, StandIn] = {}
        self.away: set[str] = set()
        # Called with the address of a stand-in that is away, for each request to it.
        self.missed: Interruption = lambda _: None
        self.interrupt: Interruption = lambda _: None

    def add(self, stand_in: StandIn) -> None:
        """Serve a stand-in at its address."""
        self.stand_ins[stand_in.url] = stand_in

    def pool(self, access: ClusterAccess, *_: Any) -> _Pool:
        """Return what stands in place of a pool of sockets."""
        return _Pool(self, access.server)


class _Pool:
    def __init__(self, network: InProcess, server: str) -> None:
        self._network, self._server = network, server

    def request(
        self, method: str, url: str, *, headers: Any = None, body: bytes | None = None, **_: Any
    ) -> _Response:
        network = self._network
        if self._server in network.away:
            network.missed(self._server)
            raise NewConnectionError(None, "the cluster is away")  # type: ignore[arg-type]
        network.interrupt("before")
        answer = _ask(network.stand_ins[self._server], method, url, dict(headers or {}), body)
        network.interrupt("after")
        return answer

    def clear(self) -> None:
        """Close nothing."""


class _Response:
    def __init__(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self.status, self.headers, self.data = status, headers, data


def _ask(
    stand_in: StandIn, method: str, url: str, headers: dict[str, str], body: bytes | None
) -> _Response:
    parts = urlsplit(url)
    scope = {
        "type": "http",
        "method": method,
        "path": parts.path,
        "query_string": parts.query.encode(),
        "headers": [(name.lower().encode(), text.encode()) for name, text in headers.items()],
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body or b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    call = stand_in.application(scope, receive, send)
    try:
        # Nothing in it waits, so that one step is the whole.
        call.send(None)  # type: ignore[attr-defined]
    except StopIteration:
        pass
    else:
        raise AssertionError("The stand-in waits, and nobody lets time pass.")
    if not sent:
        raise ProtocolError("the connection closed without an answer")
    start, *rest = sent
    answered = {name.decode().title(): text.decode() for name, text in start["headers"]}
    return _Response(start["status"], answered, b"".join(part.get("body", b"") for part in rest))
