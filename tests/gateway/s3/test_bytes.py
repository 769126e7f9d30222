"""Bytes that are not what they should be, and a store that is away."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError
from django.conf import settings

from atom.core import storage
from atom.datasets.models import Pack
from tests.datasets.pushing import make_pack, put_rows
from tests.gateway.s3.conftest import S3Address, Shelf, fill_shelf

LARGE = bytes(range(256)) * (5 << 12) * 2


@pytest.fixture
def shelf(transactional_db: None) -> Shelf:
    return fill_shelf({"a.bin": b"hello", "large.bin": LARGE})


def pack_key(shelf: Shelf) -> str:
    """Return where the only pack lies."""
    return f"p/{shelf.project.pk}/packs/{Pack.objects.get().digest}.tar"


def spoil(shelf: Shelf, needle: bytes) -> None:
    """Turn one byte of the stored pack behind the last `needle`."""
    key = pack_key(shelf)
    data = bytearray(storage.objects().get(key))
    data[data.rindex(needle)] ^= 1
    storage.objects().put(key, bytes(data))


def read_into(received: bytearray, address: str) -> None:
    """Read an address as far as it goes."""
    with httpx.stream("GET", address, trust_env=False) as answer:
        for piece in answer.iter_bytes():
            received += piece


def test_a_damaged_small_file_is_an_error_and_not_wrong_bytes(s3: S3Address, shelf: Shelf) -> None:
    spoil(shelf, b"hello")
    client = s3.client(shelf.key)
    where = {"Bucket": "digits", "Key": "v1/a.bin"}
    with pytest.raises(ClientError, match="damaged") as caught:
        client.get_object(**where)
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert Pack.objects.get().digest in str(caught.value)


def test_a_large_file_that_is_damaged_at_its_end_never_becomes_complete(
    s3: S3Address, shelf: Shelf
) -> None:
    spoil(shelf, LARGE[-16:])
    params = {"Bucket": "digits", "Key": "v1/large.bin"}
    address = s3.client(shelf.key).generate_presigned_url("get_object", params)
    received = bytearray()
    with pytest.raises(httpx.RemoteProtocolError):
        read_into(received, address)
    assert 0 < len(received) < len(LARGE)


def test_a_missing_pack_is_an_error_that_says_what_to_do(s3: S3Address, shelf: Shelf) -> None:
    storage.objects().delete(pack_key(shelf))
    with pytest.raises(ClientError, match="Push the folder"):
        s3.client(shelf.key).get_object(Bucket="digits", Key="v1/a.bin")


def test_a_warm_pack_needs_no_store(s3: S3Address, shelf: Shelf) -> None:
    key = pack_key(shelf)
    warm = settings.ATOM_HOME / "cache" / key.removeprefix("p/")
    warm.parent.mkdir(parents=True)
    warm.write_bytes(storage.objects().get(key))
    storage.objects().delete(key)
    found: Any = s3.client(shelf.key).get_object(Bucket="digits", Key="v1/a.bin")
    assert found["Body"].read() == b"hello"


NO_TYPES = [
    "text/html\r\nSet-Cookie: a=b",
    "text/html\nx: y",
    "text/空",
    "text",
    "a b/c",
    "text/plain; charset",
    "image/png\x00",
    f"text/{'x' * 4000}",
]
TYPES = ["image/svg+xml", "text/plain; charset=utf-8", 'multipart/mixed; boundary="a b"']


def test_only_what_is_a_media_type_is_answered_as_one(
    s3: S3Address, transactional_db: None
) -> None:
    shelf = fill_shelf({"a.bin": b"hello"})
    given = {f"{number:02d}.bin": kind for number, kind in enumerate(NO_TYPES + TYPES)}
    pack = make_pack(dict.fromkeys(given, b"x"))
    shelf.pusher.stage(pack.data)
    rows = [{**row, "media_type": given[row["path"]]} for row in put_rows(pack)]
    assert shelf.pusher.commit(rows)["state"] == "published"
    client = s3.client(shelf.key)

    def answered(name: str) -> dict[str, str]:
        found = client.get_object(Bucket="digits", Key=f"v2/{name}")
        assert found["Body"].read() == b"x"
        headers: dict[str, str] = found["ResponseMetadata"]["HTTPHeaders"]
        return headers

    headers = {kind: answered(name) for name, kind in given.items()}
    opaque = "application/octet-stream"
    assert [headers[kind]["content-type"] for kind in NO_TYPES] == [opaque] * len(NO_TYPES)
    assert [headers[kind]["content-type"] for kind in TYPES] == TYPES
    assert not any({"set-cookie", "x"} & set(one) for one in headers.values())
