"""The server of a contract test: the stand-in, or a real one."""

from __future__ import annotations

import base64
import json
import os
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.fakes.kubernetes.cluster import ADMIN_TOKEN, Cluster

from .binaries import running_binaries

Json = dict[str, Any]

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PATIENCE_S = 60.0


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

    def watch(
        self, path: str, query: dict[str, str], meanwhile: Callable[[], None], *, whole: bool
    ) -> list[Json]:
        """Return the events of a watch: until it ends, or until it is quiet for a while."""
        events: list[Json] = []
        quiet = None if whole else 3.0 if self.is_real else 0.4
        timeout = httpx.Timeout(20, read=quiet) if quiet else httpx.Timeout(20)
        request = self.client.build_request(
            "GET", path, params=query, headers=self.admin, timeout=timeout
        )
        answer = self.client.send(request, stream=True)
        try:
            meanwhile()
            for line in answer.iter_lines():
                # The events before the quiet count, so each is kept at once.
                event: Json = json.loads(line)
                events.append(event)
        except httpx.ReadTimeout:
            return events
        finally:
            answer.close()
        return events


@contextmanager
def stand_in(**options: Any) -> Iterator[World]:
    """Start the stand-in."""
    with Cluster(**options) as cluster:
        admin = {"Authorization": f"Bearer {ADMIN_TOKEN}", "User-Agent": "python-requests/2"}
        with httpx.Client(base_url=cluster.url, timeout=20) as client:
            yield World(client, cluster, admin=admin)


@contextmanager
def server(**options: Any) -> Iterator[World]:
    """Give the real server that the environment names, or else start the stand-in."""
    if kubeconfig := os.environ.get("ATOM_TEST_KUBECONFIG"):
        with real_server(Path(kubeconfig).read_text(), controllers=True) as world:
            yield world
    elif assets := os.environ.get("KUBEBUILDER_ASSETS"):
        with (
            running_binaries(Path(assets)) as text,
            real_server(text, controllers=False) as world,
        ):
            yield world
    else:
        with stand_in(**options) as world:
            yield world


@contextmanager
def real_server(kubeconfig: str, *, controllers: bool) -> Iterator[World]:
    """Speak to a real server; the namespaces that a test makes are gone after it.

    Without controllers nothing ends a namespace: such a server serves one test.
    """
    config = yaml.safe_load(kubeconfig)
    cluster, user = chosen(config)
    with tempfile.TemporaryDirectory() as folder:
        context = ssl.create_default_context()
        if "insecure-skip-tls-verify" in cluster:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        else:
            context.load_verify_locations(_file(folder, cluster, "certificate-authority"))
        if "client-certificate-data" in user or "client-certificate" in user:
            parts = (_file(folder, user, f"client-{part}") for part in ("certificate", "key"))
            context.load_cert_chain(*parts)
        admin = {"User-Agent": "python-requests/2"}
        if token := user.get("token"):
            admin["Authorization"] = f"Bearer {token}"
        with httpx.Client(base_url=cluster["server"], verify=context, timeout=30) as client:
            world = World(client, controllers=controllers, admin=admin)
            known = _namespaces(world)
            try:
                yield world
            finally:
                for name in _namespaces(world) - known:
                    world.ask("DELETE", f"/api/v1/namespaces/{name}")
                if controllers:
                    # The next test makes namespaces of the same names.
                    _wait(lambda: _namespaces(world) <= known, "namespaces are not deleted")


@contextmanager
def definitions(world: World, folder: Path) -> Iterator[None]:
    """Let a server have the custom kinds of a folder; those that were not there go again."""
    if world.cluster is not None:
        world.cluster.machinery.load_definitions(folder)
        yield
        return
    made = []
    try:
        for file in sorted(folder.glob("*.json")):
            body = json.loads(file.read_text())
            status = world.ask("POST", _DEFINITIONS, body).status
            assert status in (201, 409), f"{file.name}: {status}"
            if status == 201:
                made.append(body["metadata"]["name"])
            _wait(partial(_is_served, world, body["spec"]), f"{file.name} is not served")
        yield
    finally:
        for name in made:
            world.ask("DELETE", f"{_DEFINITIONS}/{name}")


def _is_served(world: World, spec: Json) -> bool:
    """Return whether discovery lists a definition's kind in each version that it serves."""
    for version in spec["versions"]:
        if version["served"]:
            reply = world.ask("GET", f"/apis/{spec['group']}/{version['name']}")
            rows = reply.body["resources"] if reply.status == 200 else ()
            if all(row["name"] != spec["names"]["plural"] for row in rows):
                return False
    return True


def _wait(look: Callable[[], bool], words: str) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not look():
        assert time.monotonic() < end, words
        time.sleep(0.1)


def chosen(config: Json) -> tuple[Json, Json]:
    """Return the cluster and the user of the current context, or the only ones."""
    context: Json = next(
        (
            one["context"]
            for one in config.get("contexts") or ()
            if one["name"] == config.get("current-context")
        ),
        {},
    )
    parts = []
    for kind in ("cluster", "user"):
        rows = config[f"{kind}s"]
        named = [row for row in rows if row.get("name") == context.get(kind)] if context else rows
        parts.append(named[0][kind])
    return parts[0], parts[1]


def _namespaces(world: World) -> set[str]:
    items = world.ask("GET", "/api/v1/namespaces").body["items"]
    return {item["metadata"]["name"] for item in items}


def _file(folder: str, part: Json, key: str) -> str:
    if f"{key}-data" not in part:
        return str(part[key])
    path = Path(folder) / key
    path.write_bytes(base64.b64decode(part[f"{key}-data"]))
    return str(path)
