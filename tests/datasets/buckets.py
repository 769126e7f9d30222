"""A bucket that is not ours, and a server in front of it that misbehaves on demand."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from django.conf import settings

from atom.core.store_clients import signing_client


@dataclass
class Bucket:
    """A bucket of the test store that Atom knows nothing of."""

    name: str = field(default_factory=lambda: f"foreign-{uuid.uuid4().hex[:12]}")
    endpoint: str = field(default_factory=lambda: settings.S3_ENDPOINT_URL)

    def __post_init__(self) -> None:
        self.client: Any = signing_client(self.endpoint)
        self.client.create_bucket(Bucket=self.name)
        _made.append(self)

    def remove(self) -> None:
        """Delete the bucket with all that is in it, past a server that a test put before it."""
        signing_client(os.environ["S3_ENDPOINT_URL"]).delete_bucket(Bucket=self.name)

    def put(self, files: Mapping[str, bytes]) -> None:
        """Write objects."""
        for key, data in files.items():
            self.client.put_object(Bucket=self.name, Key=key, Body=data)

    def delete(self, *keys: str) -> None:
        """Delete objects."""
        for key in keys:
            self.client.delete_object(Bucket=self.name, Key=key)

    def body(self, prefix: str = "", endpoint: str = "", **more: Any) -> dict[str, Any]:
        """Return the body that registers the bucket."""
        return {
            "name": "photos",
            "url": f"s3://{self.name}/{prefix}",
            "endpoint": endpoint or self.endpoint,
            "access_key_id": settings.S3_ACCESS_KEY_ID,
            "secret_access_key": settings.S3_SECRET_ACCESS_KEY,
            "dataset": "digits",
            **more,
        }


_made: list[Bucket] = []


def remove_made() -> None:
    """Delete the buckets that were made: each takes volumes, of which the test store has few."""
    while _made:
        _made.pop().remove()


Answer = tuple[int, str, dict[str, str]] | None


class Moody:
    """An HTTP server in front of a bucket: `mood(path)` answers, or None to pass it on.

    An answer is status, body and headers. `seen` holds every path with its query. If `cuts(path)`
    is true, the answer ends in the middle of its body. If `loses(method and path)` is true, the
    request is carried out, and the connection ends without an answer.
    """

    def __init__(self, target: str) -> None:
        self.seen: list[str] = []
        self.mood: Callable[[str], Answer] = lambda path: None
        self.cuts: Callable[[str], bool] = lambda path: False
        self.loses: Callable[[str], bool] = lambda path: False
        moody = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                moody.seen.append(self.path)
                sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, body, headers = moody.mood(self.path) or moody.passed_on(
                    self.command, self.path, dict(self.headers), sent
                )
                if moody.loses(f"{self.command} {self.path}"):
                    self.close_connection = True
                    return
                data = body if isinstance(body, bytes) else body.encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if "content-length" not in map(str.lower, headers):
                    self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    is_cut = status < 300 and moody.cuts(self.path)
                    with suppress(OSError):
                        self.wfile.write(data[: len(data) // 2] if is_cut else data)

            do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815  # the base class's names

            def log_message(self, *args: object) -> None:
                pass

        self.target = target
        # Plain HTTP: loading the certificates takes longer than all the rest.
        self._client = httpx.Client(trust_env=False, verify=False)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def passed_on(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        """Return the bucket's own answer. The signature covers the host, which is kept."""
        answer = self._client.request(method, self.target + path, headers=headers, content=body)
        kept = ["content-type", "etag", "last-modified", "content-range"]
        kept += ["content-length"] * (method == "HEAD")
        return (
            answer.status_code,
            answer.content,
            {name: value for name, value in answer.headers.items() if name.lower() in kept},
        )

    def close(self) -> None:
        """Stop listening."""
        self.server.shutdown()
        self.server.server_close()
        self._client.close()


def refusal(status: int, code: str) -> Answer:
    """Return an S3 error."""
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>no</Message></Error>"
    return status, body, {"Content-Type": "application/xml"}
