"""A small server of the runner protocol, in this process, that can be made to fail.

It keeps what it acknowledged, as the real one does, so a test can compare it with what a command
wrote. Storage lives on the same server under `/storage/`.
"""

from __future__ import annotations

import hashlib
import json
import struct
import threading
import zlib
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

HEADER = struct.Struct(">BxxxIQI")
TOKEN = "atomrun_test"


@dataclass
class Faults:
    """Faults to cause; each answer counts one down."""

    status_500: int = 0
    drop_before: int = 0
    drop_after: int = 0
    only: str = ""


@dataclass
class State:
    """Data that the server has acknowledged."""

    log: bytearray = field(default_factory=bytearray)
    frames: list[tuple[int, bytes]] = field(default_factory=list)
    log_requests: int = 0
    eof: int | None = None
    batches: list[list[Any]] = field(default_factory=list)
    points: list[list[Any]] = field(default_factory=list)
    progress: list[dict[str, Any]] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)
    started: list[int] = field(default_factory=list)
    artifacts: dict[str, dict[str, Any]] = field(default_factory=dict)
    completed: list[str] = field(default_factory=list)
    storage: dict[str, bytes] = field(default_factory=dict)
    exits: list[dict[str, Any]] = field(default_factory=list)
    exit_seen: threading.Event = field(default_factory=threading.Event)
    cancel: bool = False
    revoked: bool = False
    # Answers of `join/` in order; the last is given again. (status, body)
    joins: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    # The header Retry-After of failures.
    retry_after: str = ""
    # An upload whose path ends so is read no further than its first block until `released`.
    held_path: str = ""
    held: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    join_requests: list[dict[str, Any]] = field(default_factory=list)
    join_tokens: list[str] = field(default_factory=list)


class RunnerServer:
    """The protocol on a port of its own; `stop` and `start` keep the port and the state."""

    def __init__(self) -> None:
        self.state = State()
        self.faults = Faults()
        self.lock = threading.RLock()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def stop(self) -> None:
        if self._server and self._thread:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
        self._server = None

    def put(self, key: str, content: bytes) -> dict[str, Any]:
        """Store an input file; return what job.json says about it."""
        self.state.storage[key] = content
        return {
            "path": key,
            "url": f"{self.url}/storage/{key}",
            "sha256": hashlib.sha256(content).hexdigest(),
            "size_bytes": len(content),
        }

    def lines(self) -> list[str]:
        """Return the acknowledged lines, without the runner's own."""
        text = bytes(self.state.log).decode()
        return [line for line in text.splitlines() if not line.startswith("[atom]")]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    owner: RunnerServer

    def log_message(self, *_: object) -> None:
        """Be quiet."""

    def do_GET(self) -> None:
        key = unquote(urlsplit(self.path).path).removeprefix("/storage/")
        content = self.owner.state.storage.get(key)
        self._answer_bytes(200 if content is not None else 404, content or b"")

    def do_PUT(self) -> None:
        key = unquote(urlsplit(self.path).path).removeprefix("/storage/")
        state = self.owner.state
        first = b""
        if state.held_path and key.endswith(state.held_path):
            first = self.rfile.read(1 << 16)
            state.held.set()
            state.released.wait(20)
        left = int(self.headers.get("Content-Length", 0)) - len(first)
        content = first + self.rfile.read(left)
        if len(content) < left + len(first):
            self.close_connection = True
            return
        state.storage[key] = content
        self._answer_bytes(200, b"")

    def do_POST(self) -> None:
        if self.owner._server is None:
            self.close_connection = True
            return
        body = self._body()
        name = self.path.removeprefix("/api/v1/runner/").strip("/").replace("/", "_")
        faults = self.owner.faults
        aimed = not faults.only or faults.only == name
        with self.owner.lock:
            if aimed and faults.drop_before:
                faults.drop_before -= 1
                self.close_connection = True
                return
            if aimed and faults.status_500:
                faults.status_500 -= 1
                self._answer(500, {"code": "broken"})
                return
            if name == "join":
                self._answer(*self._join(body))
                return
            if self.owner.state.revoked or self.headers["Authorization"] != f"Bearer {TOKEN}":
                self._answer(401, {"code": "revoked"})
                return
            status, answer = getattr(self, f"_{name}")(body)
            if aimed and faults.drop_after:
                faults.drop_after -= 1
                self.close_connection = True
                return
        self._answer(status, answer)

    def _join(self, body: bytes) -> tuple[int, dict[str, Any]]:
        state = self.owner.state
        state.join_requests.append(json.loads(body))
        state.join_tokens.append(str(self.headers["Authorization"]))
        return state.joins.pop(0) if len(state.joins) > 1 else state.joins[0]

    def _logs(self, body: bytes) -> tuple[int, dict[str, Any]]:
        state = self.owner.state
        state.log_requests += 1
        if self.headers.get("Content-Encoding") == "deflate":
            body = zlib.decompress(body)
        offset = int(self.headers["X-Atom-Offset"])
        if offset > len(state.log):
            return 409, {"code": "log_gap", "next": len(state.log)}
        position = 0
        while position < len(body):
            fd, length, _, lines = HEADER.unpack_from(body, position)
            position += HEADER.size
            payload = body[position : position + length]
            assert len(payload) == length
            assert payload.count(b"\n") == lines
            position += length
            new = payload[max(0, len(state.log) - offset) :]
            if new:
                state.log += new
                state.frames.append((fd, new))
            offset += length
        return 200, {"next": len(state.log)}

    def _logs_eof(self, body: bytes) -> tuple[int, dict[str, Any]]:
        self.owner.state.eof = json.loads(body)["bytes"]
        return 200, {}

    def _metrics(self, body: bytes) -> tuple[int, dict[str, Any]]:
        state, data = self.owner.state, json.loads(body)
        if data["seq"] > len(state.batches):
            return 409, {"code": "metrics_gap", "next_seq": len(state.batches)}
        if data["seq"] == len(state.batches):
            points = [
                [key, row["step"], row["ts_ms"], value]
                for row in data["rows"]
                for key, value in row["values"].items()
            ]
            state.batches.append(points)
            state.points.extend(points)
        return 200, {"next_seq": len(state.batches)}

    def _progress(self, body: bytes) -> tuple[int, dict[str, Any]]:
        self.owner.state.progress.append(json.loads(body))
        return 200, {}

    def _heartbeat(self, body: bytes) -> tuple[int, dict[str, Any]]:
        self.owner.state.phases.append(json.loads(body)["phase"])
        return 200, {"cancel": self.owner.state.cancel}

    def _started(self, body: bytes) -> tuple[int, dict[str, Any]]:
        self.owner.state.started.append(json.loads(body)["pid"])
        return 200, {}

    def _outputs_presign(self, body: bytes) -> tuple[int, dict[str, Any]]:
        uploads = []
        for file in json.loads(body)["files"]:
            self.owner.state.artifacts[file["path"]] = file
            url = f"{self.owner.url}/storage/out/{file['path']}"
            uploads.append({"path": file["path"], "id": file["path"], "url": url})
        return 200, {"uploads": uploads}

    def _outputs_complete(self, body: bytes) -> tuple[int, dict[str, Any]]:
        state = self.owner.state
        for path in json.loads(body)["ids"]:
            stored = state.storage[f"out/{path}"]
            assert hashlib.sha256(stored).hexdigest() == state.artifacts[path]["sha256"]
            state.completed.append(path)
        return 200, {}

    def _exit(self, body: bytes) -> tuple[int, dict[str, Any]]:
        self.owner.state.exits.append(json.loads(body))
        self.owner.state.exit_seen.set()
        return 200, {}

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer(self, status: int, data: dict[str, Any]) -> None:
        self._answer_bytes(status, json.dumps(data).encode())

    def _answer_bytes(self, status: int, content: bytes) -> None:
        self.send_response(status)
        if status >= 400 and self.owner.state.retry_after:
            self.send_header("Retry-After", self.owner.state.retry_after)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
