"""Answers that come byte by byte: of a source, of the object store and of git, they hold nobody up.

Each byte is an end to the silence, so that a limit of silence never ends them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import BotoCoreError

from atom.core import storage, store_clients
from atom.core.media import media_url, part_url
from atom.core.storage import StoreError
from atom.datasets.source_spec import SourceSpec
from atom.datasets.sources.errors import SourceAway
from atom.datasets.sources.pipelines import connections
from atom.datasets.sources.pipelines.http_list import HttpListReader
from atom.datasets.sources.pipelines.objects import Shard, SourceReader
from atom.datasets.sources.pipelines.patience import Patience
from atom.datasets.sources.pipelines.s3 import S3Reader
from atom.gateway import parts
from atom.gateway.asgi import application, media_server, part_server
from atom.jobs.code.pipelines.git_fetch import GitFetchError, GitRequest, fetch
from atom.settings.environment import BASE_DIR
from atom_sdk.manifests.pins import Pin
from atom_sdk.pace import Pace
from tests.trickling import trickling

pytestmark = pytest.mark.timeout(120)
LOCAL = ["127.0.0.0/8"]
ONCE = Patience(tries=1)
PIN = Pin("a source", "a.bin", 4096, etag="e")
HEADERS = b"HTTP/1.1 200 OK\r\nX-Slow: "
BODY = b'HTTP/1.1 200 OK\r\nContent-Length: 4096\r\nETag: "e"\r\n\r\n'
UNENDING = b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n"


@pytest.fixture(params=[HEADERS, BODY, UNENDING], ids=["headers", "body", "unending"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with trickling(request.param) as found:
        yield found


@pytest.fixture(params=["http", "s3"])
def reader(
    request: pytest.FixtureRequest, url: str, monkeypatch: pytest.MonkeyPatch
) -> SourceReader:
    monkeypatch.setattr(connections, "PACE", Pace(grace_s=0.3, bytes_s=1000))
    if request.param == "http":
        return HttpListReader(SourceSpec("a source", f"{url}list.txt"), LOCAL, ONCE)
    spec = SourceSpec("a source", "s3://bucket/", endpoint=url.rstrip("/"))
    return S3Reader(spec, LOCAL, ONCE)


def test_a_source_that_trickles_is_away(reader: SourceReader) -> None:
    with pytest.raises(SourceAway):
        list(reader.pages(Shard("")))


@pytest.mark.parametrize("url", [HEADERS, BODY], ids=["headers", "body"], indirect=True)
def test_a_file_of_a_source_that_trickles_is_not_waited_for(reader: SourceReader) -> None:
    with pytest.raises(SourceAway):
        reader.read(PIN, 0, 4096)


@pytest.fixture
def store(url: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The installation's object store trickles."""
    settings.S3_ENDPOINT_URL, settings.ATOM_STORE_PATIENCE_S = url.rstrip("/"), 0.4
    monkeypatch.setattr(store_clients, "_ANSWER_S", 0.5)
    monkeypatch.setattr(parts, "_ANSWER_S", 0.5)
    for cache in (storage.objects, media_server, part_server):
        cache.cache_clear()
    yield
    for cache in (storage.objects, media_server, part_server):
        cache.cache_clear()


ASKED: dict[str, Callable[[], object]] = {
    "get": lambda: storage.objects().get("key"),
    "views": lambda: list(storage.objects().views("key")),
    "multipart_create": lambda: storage.objects().multipart_create("key"),
    "multipart_parts": lambda: storage.objects().multipart_parts("key", "upload"),
}


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("url", [HEADERS, BODY], ids=["headers", "body"], indirect=True)
@pytest.mark.parametrize("asked", ASKED)
def test_an_object_store_that_trickles_is_not_waited_for(asked: str) -> None:
    with pytest.raises((StoreError, BotoCoreError)):
        ASKED[asked]()


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("url", [HEADERS, BODY], ids=["headers", "body"], indirect=True)
async def test_the_gateway_answers_though_its_store_trickles() -> None:
    transport = httpx.ASGITransport(app=application)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        address = media_url("p/x/a.bin", 0, 4096, "image/png", digest="0" * 64, name="a.png")
        read = await client.get(address)
        sent = await client.put(part_url("staging/x", "upload", 1, 4), content=b"part")
    await part_server().aclose()
    assert (read.status_code, read.json()["code"]) == (503, "object_store_away")
    assert (sent.status_code, sent.json()["code"]) == (503, "part_not_stored")


def test_git_that_trickles_ends_with_its_process(tmp_path: Path) -> None:
    with trickling(HEADERS) as url:
        request = GitRequest(f"{url}repo.git", "main", str(tmp_path / "a.tgz"), allowed=LOCAL)
        with pytest.raises(GitFetchError) as caught:
            fetch(request, BASE_DIR, dict(os.environ), timeout_s=4)
    assert caught.value.code == "git_timeout"
