"""The other sides of an agent's wires: a server that speaks the protocol, an origin, bad peers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from blake3 import blake3

from atom_agent.messages import Fetch, PackName, Source

PROJECT = str(uuid.uuid4())
KEY = bytes(range(32))


def pack_of(data: bytes, project: str = PROJECT) -> PackName:
    return PackName(project, blake3(data).hexdigest())


def peer_token(pack: PackName, key: bytes = KEY, lasts_s: float = 60, plan: str = "plan") -> str:
    claims = {"project": pack.project, "pack": pack.digest, "plan": plan}
    text = _encoded(json.dumps({**claims, "exp": time.time() + lasts_s}).encode())
    return f"{text}.{_encoded(hmac.new(key, text.encode(), hashlib.sha256).digest())}"


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def fetch_of(data: bytes, source: Source, rate: int | None = None) -> Fetch:
    return Fetch(str(uuid.uuid4()), "plan", pack_of(data), len(data), rate, source)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class Origin:
    """An object store: serves ranges and counts the bytes that it sends."""

    def __init__(self, *packs: bytes) -> None:
        self.packs = {f"/{blake3(data).hexdigest()}": data for data in packs}
        self.sent_bytes = 0
        self.breaks_left = 0
        # A pause before each range of a pack.
        self.pause_s = 0.0
        self.url = ""

    def source(self, data: bytes) -> Source:
        return Source("origin", f"{self.url}/{blake3(data).hexdigest()}")


@contextmanager
def origin_of(*packs: bytes) -> Iterator[Origin]:
    origin = Origin(*packs)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = origin.packs.get(self.path)
            if data is None:
                self.send_error(404)
                return
            time.sleep(origin.pause_s)
            start, end = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
            body = data[start : end + 1]
            self.send_response(206)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Range", f"bytes {start}-{end}/{len(data)}")
            self.end_headers()
            if origin.breaks_left:
                origin.breaks_left -= 1
                body = body[: len(body) // 2]
            origin.sent_bytes += len(body)
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            return

    with serving(Handler) as server:
        origin.url = f"http://127.0.0.1:{server.server_port}"
        yield origin


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A peer that answers each request by a function; yields its address."""

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=reply, args=(connection,), daemon=True).start()

    def reply(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                answer(connection)
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


class ControlServer:
    """Hands out the orders of a test and keeps the messages of agents."""

    def __init__(self) -> None:
        self.url = ""
        self.joins: list[dict[str, Any]] = []
        self.reports: list[dict[str, Any]] = []
        self.works: list[dict[str, Any]] = []
        self.fetches: list[dict[str, Any]] = []
        self.remove: list[dict[str, Any]] = []
        self.send_packs = False
        self.is_away = False
        self.limit_bytes: int | None = None
        self.token = ""
        # Volumes: the answer to each, or the sentence that refuses them.
        self.volume: dict[str, Any] = {}
        self.refusal = ""
        self.opened: list[dict[str, Any]] = []
        self.held: list[dict[str, Any]] = []
        self.index = b""
        self._guard = threading.Lock()

    def order(self, fetch: Fetch) -> None:
        source = {"kind": fetch.source.kind, "url": fetch.source.url}
        if fetch.source.token is not None:
            source |= {"node": "peer", "token": fetch.source.token}
        self.fetches.append(
            {
                "fetch": fetch.id,
                "plan": fetch.plan,
                **fetch.pack.as_json,
                "size_bytes": fetch.size_bytes,
                "rate_bytes_s": fetch.rate_bytes_s,
                "source": source,
            }
        )

    def results(self, field: str) -> list[dict[str, Any]]:
        return [entry for work in list(self.works) for entry in work[field]]

    def answer(self, path: str, bearer: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        with self._guard:
            if self.is_away:
                return 503, {}
            if path == "/api/v1/agent/join/":
                return 200, self._join(body)
            if bearer != self.token:
                return 401, {}
            if path == "/api/v1/agent/report/":
                self.reports.append(body)
                asks, self.send_packs = self.send_packs, False
                return 200, {"send_packs": asks, "limit_bytes": self.limit_bytes}
            if path.startswith("/api/v1/agent/volumes/"):
                return self._volumes(path, body)
            return 200, self._work(body)

    def _volumes(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path.endswith("/held/"):
            self.held.append(body)
            return 200, {"ok": True}
        if self.refusal:
            return 403, {"code": "volume_refused", "detail": self.refusal}
        self.opened.append(body)
        return 200, self.volume

    def _join(self, body: dict[str, Any]) -> dict[str, Any]:
        self.joins.append(body)
        self.token = f"token {len(self.joins)}"
        return {
            "token": self.token,
            "expires_at": (datetime.now(UTC) + timedelta(hours=24)).isoformat(),
            "node_id": str(uuid.uuid4()),
            "peer_key": base64.b64encode(KEY).decode(),
            "report_every_s": 0.1,
            "work_every_s": 0.05,
            "limit_bytes": self.limit_bytes,
        }

    def _work(self, body: dict[str, Any]) -> dict[str, Any]:
        self.works.append(body)
        taken, self.fetches = self.fetches[: body["room"]], self.fetches[body["room"] :]
        remove, self.remove = self.remove, []
        return {"fetches": taken, "cancel": [], "remove": remove, "after_s": 0.05}


@contextmanager
def control_server() -> Iterator[ControlServer]:
    control = ControlServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(200, control.index)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            bearer = self.headers["Authorization"].removeprefix("Bearer ")
            status, answer = control.answer(self.path, bearer, body)
            self._reply(status, json.dumps(answer).encode())

        def _reply(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments: object) -> None:
            return

    with serving(Handler) as server:
        control.url = f"http://127.0.0.1:{server.server_port}"
        yield control


def agent_env(folder: Path, control: ControlServer, **others: str) -> dict[str, str]:
    token_file = folder / "token"
    token_file.write_text("pod's token")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return {
        "PATH": os.environ["PATH"],
        "ATOM_API_URL": control.url,
        "ATOM_AGENT_CLUSTER": str(uuid.uuid4()),
        "ATOM_AGENT_NODE": "node-1",
        "ATOM_AGENT_POD": "atom-agent-1",
        "ATOM_AGENT_POD_UID": str(uuid.uuid4()),
        "ATOM_AGENT_POD_IP": "127.0.0.1",
        "ATOM_AGENT_PORT": str(port),
        "ATOM_AGENT_TOKEN_FILE": str(token_file),
        "ATOM_AGENT_CACHE": str(folder / "cache"),
        **others,
    }


def wait_until(condition: Callable[[], object], within_s: float = 30) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)
