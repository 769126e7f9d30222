"""Parts of uploads from browsers, passed on to a real object store."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import httpx
import pytest

from atom.core import crypto, storage
from atom.core.ids import uuid7
from atom.core.media import PART_PURPOSE, part_url
from atom.datasets.keys import staging_key
from atom.gateway.asgi import application, part_server

PART = bytes(range(256)) * 500


@pytest.fixture
async def gateway() -> AsyncIterator[httpx.AsyncClient]:
    """A client of the gateway, whose connections belong to this test's loop."""
    part_server.cache_clear()
    transport = httpx.ASGITransport(app=application)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        yield client
    await part_server().aclose()
    part_server.cache_clear()


def begun() -> tuple[str, str]:
    """Return key and id of a new multipart upload."""
    key = staging_key(uuid7())
    return key, storage.objects().multipart_create(key)


async def test_a_part_lies_in_the_store_under_the_etag_of_the_answer(
    gateway: httpx.AsyncClient,
) -> None:
    key, upload_id = begun()

    answer = await gateway.put(part_url(key, upload_id, 1, len(PART)), content=PART)

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    etag = answer.headers["etag"].strip('"')
    (part,) = storage.objects().multipart_parts(key, upload_id)
    assert (part.number, part.etag, part.size_bytes) == (1, etag, len(PART))
    storage.objects().multipart_complete(key, upload_id, [(1, etag)])
    assert storage.objects().get(key) == PART


async def test_a_part_of_another_size_is_refused(gateway: httpx.AsyncClient) -> None:
    key, upload_id = begun()

    answer = await gateway.put(part_url(key, upload_id, 1, len(PART)), content=PART[:-1])

    assert (answer.status_code, answer.json()["code"]) == (400, "part_size_differs")
    assert storage.objects().multipart_parts(key, upload_id) == []


async def test_a_part_that_is_cut_on_its_way_is_not_stored(gateway: httpx.AsyncClient) -> None:
    key, upload_id = begun()

    async def half() -> AsyncIterator[bytes]:
        yield PART[: len(PART) // 2]

    headers = {"content-length": str(len(PART))}
    address = part_url(key, upload_id, 1, len(PART))
    answer = await gateway.put(address, content=half(), headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (400, "part_size_differs")
    assert storage.objects().multipart_parts(key, upload_id) == []


async def test_an_upload_that_is_over_takes_no_part(gateway: httpx.AsyncClient) -> None:
    key, upload_id = begun()
    storage.objects().multipart_abort(key, upload_id)

    answer = await gateway.put(part_url(key, upload_id, 1, len(PART)), content=PART)

    assert (answer.status_code, answer.json()["code"]) == (503, "part_not_stored")


async def test_a_path_that_was_changed_or_is_old_is_refused(gateway: httpx.AsyncClient) -> None:
    key, upload_id = begun()
    address = part_url(key, upload_id, 1, len(PART))
    payload = {"k": key, "u": upload_id, "p": 1, "n": len(PART), "e": int(time.time())}
    old = f"/media/parts/{crypto.sign(payload, PART_PURPOSE)}"

    changed = await gateway.put(address[:-1] + ("A" if address[-1] != "A" else "B"), content=PART)
    expired = await gateway.put(old, content=PART)
    read = await gateway.get(address)

    assert (changed.status_code, changed.json()["code"]) == (404, "media_link_invalid")
    assert (expired.status_code, expired.json()["code"]) == (410, "media_link_expired")
    assert read.status_code == 404
    assert storage.objects().multipart_parts(key, upload_id) == []
