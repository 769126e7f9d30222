"""Parts of a file are read while they are sent, and are whole when they are sent again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from atom_sdk.client.config import Config
from atom_sdk.client.progress import Silent
from atom_sdk.client.transport.http import Http
from atom_sdk.client.transport.upload import UploadTarget, upload_file
from tests.sdk.answering import serving

PART = 700_000
CONTENT = os.urandom(2 * PART + 12_345)


class Store:
    """An API with one open upload and a store that is busy at the first try of each part."""

    def __init__(self) -> None:
        self.bodies: dict[str, list[bytes]] = {}
        self.sized: set[bool] = set()

    def put(self, path: str, body: bytes) -> int:
        """Take a body; tell the status."""
        tries = self.bodies.setdefault(path, [])
        tries.append(body)
        return 503 if len(tries) == 1 else 200


@contextmanager
def served(store: Store) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            length = self.headers.get("Content-Length")
            store.sized.add(length is not None and "Transfer-Encoding" not in self.headers)
            body = self.rfile.read(int(length or 0))
            self.answer(store.put(self.path, body), "{}")

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            here = f"http://127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]
            urls = ", ".join(f'"{number}": "{here}/part/{number}"' for number in (1, 2, 3))
            upload = f'"id": "u", "state": "open", "part_size_bytes": {PART}, "parts_done": []'
            self.answer(200, f'{{{upload}, "urls": {{{urls}}}, "headers": {{}}}}')

        def answer(self, status: int, body: str) -> None:
            self.send_response(status)
            self.send_header("ETag", "e")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with serving(Handler) as url:
        yield url


def test_a_part_that_is_sent_again_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    store = Store()
    with served(store) as url:
        target = UploadTarget(Http(Config(url)), "datasets/d/", Silent())
        assert upload_file(target, path, "pack", "00" * 32) == "u"

    parts = [CONTENT[start : start + PART] for start in range(0, len(CONTENT), PART)]
    assert store.bodies == {f"/part/{n}": [part, part] for n, part in enumerate(parts, start=1)}
    # A store signs and stores a length; it takes no body of an unknown one.
    assert store.sized == {True}
