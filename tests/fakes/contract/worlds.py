"""The server of a contract test: the stand-in, or a real one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.fakes.kubernetes.cluster import ADMIN_TOKEN, Cluster

Json = dict[str, Any]


@dataclass
class Reply:
    """An answer as it came."""

    status: int
    headers: httpx.Headers
    content: bytes

    @property
    def body(self) -> Any:
        """Return the answer's JSON."""
        return json.loads(self.content)


@dataclass
class World:
    """A server and how to speak to it."""

    client: httpx.Client
    cluster: Cluster | None = None
    controllers: bool = True
    admin: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def is_real(self) -> bool:
        """Return whether this is a real server."""
        return self.cluster is None

    def credentials(self, user: str) -> dict[str, str]:
        """Return the headers that speak for a user."""
        if not user:
            return self.admin
        if user in self.tokens:
            return {"Authorization": f"Bearer {self.tokens[user]}"}
        if self.cluster is not None:
            return {"Authorization": f"Bearer unknown-{user}"}
        return self.admin | {"Impersonate-User": user}

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, str] | None = None,
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> Reply:
        """Send one request, as the administrator unless `headers` say otherwise."""
        sent = self._headers(headers) | {"Content-Type": content_type}
        content = body if isinstance(body, str) else None if body is None else json.dumps(body)
        answer = self.client.request(method, path, params=query, content=content, headers=sent)
        return Reply(answer.status_code, answer.headers, answer.content)

    def _headers(self, headers: dict[str, str] | None) -> dict[str, str]:
        return self.admin if headers is None else headers

    def watch(self, path: str, query: dict[str, str], meanwhile: Callable[[], None]) -> list[Json]:
        """Return the events of a watch that ends by itself."""
        events: list[Json] = []
        with self.client.stream("GET", path, params=query, headers=self.admin) as answer:
            meanwhile()
            events += [json.loads(line) for line in answer.iter_lines() if line]
        return events


@contextmanager
def stand_in(**options: Any) -> Iterator[World]:
    """Start the stand-in."""
    with Cluster(**options) as cluster:
        admin = {"Authorization": f"Bearer {ADMIN_TOKEN}", "User-Agent": "python-requests/2"}
        with httpx.Client(base_url=cluster.url, timeout=20) as client:
            yield World(client, cluster, admin=admin)
