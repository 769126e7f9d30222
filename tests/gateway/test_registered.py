"""Objects that stay at their source, shown through the gateway: the pinned state or nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from atom.datasets.models import Source
from atom.datasets.sources.actions import scans
from atom.gateway.asgi import application, media_server
from tests.datasets.buckets import Bucket
from tests.datasets.pushing import Pusher, png
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bucket(settings: Any) -> Bucket:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]
    media_server.cache_clear()
    return Bucket()


@pytest.fixture
def pusher(committing_db: None) -> Pusher:
    project = make_project()
    return Pusher(project, make_member(project, "researcher")).create()


def entries_of(pusher: Pusher, bucket: Bucket) -> list[dict[str, Any]]:
    pusher.post(f"/api/v1/projects/{pusher.project.slug}/sources/", bucket.body())
    scans.request_scan(Source.objects.get(), pusher.user)
    return list(pusher.get("versions/main/entries/")["results"])


def get(address: str, **headers: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=application)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
            return await client.get(address, headers=headers)

    return asyncio.run(ask())


def test_a_file_its_range_and_its_thumbnail(pusher: Pusher, bucket: Bucket) -> None:
    bucket.put({"cats/a b+ü?.png": png(1, 64)})
    (entry,) = entries_of(pusher, bucket)
    assert get(entry["media_url"]).content == png(1, 64)
    part = get(entry["media_url"], Range="bytes=3-9")
    assert (part.status_code, part.content) == (206, png(1, 64)[3:10])
    thumb = get(entry["thumb_url"])
    assert (thumb.status_code, thumb.headers["content-type"]) == (200, "image/png")


def test_other_bytes_are_never_shown(pusher: Pusher, bucket: Bucket) -> None:
    bucket.put({"a.png": png(1), "b.png": png(2)})
    first, second = entries_of(pusher, bucket)
    bucket.put({"a.png": png(3)})
    bucket.delete("b.png")
    for entry, headers in ((first, {}), (first, {"Range": "bytes=0-3"}), (second, {})):
        answer = get(entry["media_url"], **headers)
        assert (answer.status_code, answer.json()["code"]) == (409, "source_changed")
        assert entry["path"] in answer.json()["detail"]


def test_a_removed_source_is_read_no_more(pusher: Pusher, bucket: Bucket) -> None:
    bucket.put({"a.png": png(1)})
    (entry,) = entries_of(pusher, bucket)
    address = f"/api/v1/projects/{pusher.project.slug}/sources/photos/"
    assert pusher.client.delete(address).status_code == 204
    assert get(entry["media_url"]).json()["code"] == "source_removed"
