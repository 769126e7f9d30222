"""A store is believed to honour conditional writes only after it was tried."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings
from django.test import override_settings

from atom.core import storage
from atom.core.conditional_writes import PROBES, StoreConditions, honours_conditional_writes
from atom.core.store_clients import signing_client
from tests.jobs.live import wait_for

# Behaviours of stores: the last ones have been met.
HONOURS, IGNORES_PUT, CHECKS_EARLY, IGNORES_COMPLETION, KNOWS_NO_CONDITION = range(5)


class SmallStore(BaseHTTPRequestHandler):
    """A small S3 server that treats conditions as its `behaviour` says."""

    behaviour: int
    objects: dict[str, bytes]

    def do_PUT(self) -> None:
        key, is_part = self._key, "partNumber" in self.path
        conditional = "If-None-Match" in self.headers and self.behaviour != IGNORES_PUT
        was_there = key in self.objects
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if conditional and self.behaviour == KNOWS_NO_CONDITION:
            return self._answer(501)
        refused = was_there if self.behaviour == CHECKS_EARLY else key in self.objects
        if conditional and refused:
            return self._answer(412)
        if not is_part:
            self.objects[key] = body
        return self._answer(200, etag='"e"')

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "uploads" in parse_qs(urlsplit(self.path).query, keep_blank_values=True):
            found = "<InitiateMultipartUploadResult><UploadId>u</UploadId>"
            return self._answer(200, found + "</InitiateMultipartUploadResult>")
        conditional = "If-None-Match" in self.headers and self.behaviour != IGNORES_COMPLETION
        if conditional and self._key in self.objects:
            return self._answer(412)
        self.objects[self._key] = b"joined"
        return self._answer(200, "<CompleteMultipartUploadResult/>")

    def do_GET(self) -> None:
        self._answer(200, self.objects[self._key].decode())

    def do_DELETE(self) -> None:
        if "uploadId" not in self.path:
            self.objects.pop(self._key, None)
        self._answer(204)

    @property
    def _key(self) -> str:
        return urlsplit(self.path).path

    def _answer(self, status: int, body: str = "", etag: str = "") -> None:
        self.send_response(status)
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def store(behaviour: int) -> Iterator[str]:
    """Yield the address of a store of its own."""
    handler = type("Handler", (SmallStore,), {"behaviour": behaviour, "objects": {}})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def client_of(address: str) -> Any:
    with override_settings(S3_ACCESS_KEY_ID="a", S3_SECRET_ACCESS_KEY="b"):
        return signing_client(address)


@pytest.mark.parametrize(
    ("behaviour", "honoured"),
    [
        (HONOURS, True),
        (IGNORES_PUT, False),
        (CHECKS_EARLY, False),
        (IGNORES_COMPLETION, False),
        (KNOWS_NO_CONDITION, False),
    ],
)
def test_a_store_is_tried_with_both_calls(behaviour: int, honoured: bool) -> None:
    with store(behaviour) as address:
        assert honours_conditional_writes(client_of(address), "bucket") is honoured


def test_the_store_of_the_launcher_honours_them_and_keeps_nothing_of_the_try() -> None:
    objects = storage.objects()

    def left() -> set[str]:
        unfinished = {found.key for found in objects.multipart_list(PROBES)}
        return unfinished | {item.key for item in objects.list_prefix(PROBES)}

    before = left()
    assert honours_conditional_writes(signing_client(settings.S3_ENDPOINT_URL), objects.bucket)
    # A busy store lists an upload for a moment after it was aborted.
    wait_for(lambda: left() <= before)


def test_a_store_that_is_away_is_tried_again_later() -> None:
    patient, hasty = StoreConditions(), StoreConditions(again_s=0)
    with store(HONOURS) as address:
        away = client_of(address)
    assert [tried.are_honoured(away, "bucket") for tried in (patient, hasty)] == [False, False]

    with store(HONOURS) as address:
        back = client_of(address)
        assert [tried.are_honoured(back, "bucket") for tried in (patient, hasty)] == [False, True]
