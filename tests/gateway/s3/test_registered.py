"""Files that stay at their source, through the S3 endpoint."""

from __future__ import annotations

from typing import Any

from atom.datasets.models import Source
from atom.datasets.sources.actions import scans
from tests.datasets.buckets import Bucket
from tests.datasets.pushing import png
from tests.gateway.s3.conftest import S3Address, Shelf
from tests.gateway.s3.reading import listed, refusal


def test_a_file_at_its_source_is_read_while_it_is_what_was_pinned(
    s3: S3Address, shelf: Shelf, settings: Any
) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]
    bucket = Bucket()
    bucket.put({"far/x.png": png(9), "far/y.png": png(8)})
    shelf.pusher.post(f"/api/v1/projects/{shelf.project.slug}/sources/", bucket.body())
    scans.request_scan(Source.objects.get(), shelf.user)
    client = s3.client(shelf.key)
    assert listed(client, Prefix="v2/")[0] == [
        f"v2/{path}" for path in sorted([*shelf.files, "far/x.png", "far/y.png"])
    ]
    found = client.get_object(Bucket="digits", Key="v2/far/x.png")
    assert found["Body"].read() == png(9)
    assert "atom-digest" not in found["Metadata"]
    part = client.get_object(Bucket="digits", Key="v2/far/x.png", Range="bytes=2-5")
    assert part["Body"].read() == png(9)[2:6]
    assert client.get_object(Bucket="digits", Key="v2/a/1.png")["Body"].read() == png(1)

    bucket.put({"far/x.png": png(7)})
    status, code = refusal(client.get_object, Bucket="digits", Key="v2/far/x.png")[:2]
    assert (status, code) == (409, "OperationAborted")
    assert client.get_object(Bucket="digits", Key="v2/far/y.png")["Body"].read() == png(8)
    bucket.delete("far/x.png", "far/y.png")
    assert refusal(client.get_object, Bucket="digits", Key="v2/far/y.png")[0] == 409
