"""Reading a version with boto3, as any S3 program would."""

from __future__ import annotations

import io
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
from blake3 import blake3

from tests.gateway.s3.conftest import S3Address, Shelf
from tests.gateway.s3.reading import listed, refusal

# Pushes are committed and not rolled back; the mark only makes sure that there is a database.
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def client(s3: S3Address, library: Shelf) -> Any:
    """boto3 with the researcher's key."""
    return s3.client(library.key)


def test_every_file_reads_back_as_it_was_pushed(client: Any, library: Shelf) -> None:
    keys, _ = listed(client, Prefix="v1/", PaginationConfig={"PageSize": 5})
    assert keys == sorted(f"v1/{path}" for path in library.files)
    for path, data in library.files.items():
        found = client.get_object(Bucket="digits", Key=f"v1/{path}")
        assert found["Body"].read() == data
        assert found["ETag"] == f'"{blake3(data).hexdigest()}"'
        assert found["Metadata"]["atom-digest"] == blake3(data).hexdigest()


def test_folders_are_common_prefixes(client: Any) -> None:
    assert listed(client, Delimiter="/") == ([], ["main/", "v1/"])
    assert listed(client, Delimiter="/", Prefix="v1/") == (
        ["v1/empty.bin", "v1/large.bin"],
        ["v1/0/", "v1/1/", "v1/2/", "v1/odd/"],
    )
    assert listed(client, Delimiter="/", Prefix="v1/1/")[0] == [
        f"v1/1/{n:03}.png" for n in range(4)
    ]
    assert listed(client, Delimiter="/", Prefix="nothing/") == ([], [])


@pytest.mark.parametrize("page_size", [1, 3, 1000])
def test_version_1_of_listing_goes_on_after_its_marker(client: Any, page_size: int) -> None:
    keys: list[str] = []
    folders: list[str] = []
    pages = client.get_paginator("list_objects").paginate(
        Bucket="digits", Prefix="v1/", Delimiter="/", PaginationConfig={"PageSize": page_size}
    )
    for page in pages:
        keys += [row["Key"] for row in page.get("Contents", [])]
        folders += [row["Prefix"] for row in page.get("CommonPrefixes", [])]
    assert (keys, folders) == (
        ["v1/empty.bin", "v1/large.bin"],
        ["v1/0/", "v1/1/", "v1/2/", "v1/odd/"],
    )


def test_a_listing_starts_after_a_key(client: Any) -> None:
    keys, _ = listed(client, Prefix="v1/", StartAfter="v1/2/001.png")
    assert keys[:2] == ["v1/2/002.png", "v1/2/003.png"]
    _, folders = listed(client, Prefix="v1/", Delimiter="/", StartAfter="v1/1/002.png")
    assert folders == ["v1/2/", "v1/odd/"]


def test_ranges_are_answered_exactly(client: Any, library: Shelf) -> None:
    data = library.files["large.bin"]
    wanted = {
        "bytes=0-0": data[:1],
        "bytes=5000000-5000099": data[5_000_000:5_000_100],
        "bytes=-7": data[-7:],
        f"bytes={len(data) - 3}-": data[-3:],
        f"bytes=10-{len(data) + 5}": data[10:],
    }
    for header, expected in wanted.items():
        found = client.get_object(Bucket="digits", Key="v1/large.bin", Range=header)
        assert found["Body"].read() == expected
        assert found["ContentRange"].endswith(f"/{len(data)}")
    beyond = f"bytes={len(data)}-"
    where = {"Bucket": "digits", "Key": "v1/large.bin"}
    assert refusal(client.get_object, **where, Range=beyond) == (416, "InvalidRange")


def test_a_download_in_parallel_ranges_is_whole(client: Any, library: Shelf) -> None:
    out = io.BytesIO()
    client.download_fileobj("digits", "v1/large.bin", out)
    assert out.getvalue() == library.files["large.bin"]


def test_conditions_hold(client: Any) -> None:
    where = {"Bucket": "digits", "Key": "v1/0/000.png"}
    head = client.head_object(**where)
    etag, modified = head["ETag"], head["LastModified"]
    earlier, later = modified - timedelta(hours=1), modified + timedelta(hours=1)
    get = client.get_object

    assert get(**where, IfMatch=etag)["ETag"] == etag
    assert refusal(get, **where, IfMatch='"other"') == (412, "PreconditionFailed")
    assert refusal(get, **where, IfNoneMatch=etag)[0] == 304
    assert get(**where, IfNoneMatch='"other"')["ETag"] == etag
    assert refusal(get, **where, IfModifiedSince=later)[0] == 304
    assert get(**where, IfModifiedSince=earlier)["ETag"] == etag
    assert refusal(get, **where, IfUnmodifiedSince=earlier) == (412, "PreconditionFailed")
    assert get(**where, PartNumber=1)["PartsCount"] == 1
    assert refusal(get, **where, PartNumber=2) == (416, "InvalidPartNumber")


@pytest.mark.parametrize("year", ["9999", "9" * 20])
def test_a_condition_on_a_time_that_is_none_is_ignored(client: Any, year: str) -> None:
    date = f"Fri, 31 Dec {year} 23:59:59 +99999999999999"
    params = {"Bucket": "digits", "Key": "v1/0/000.png"}
    address = client.generate_presigned_url("get_object", params)
    answer = httpx.get(address, headers={"If-Modified-Since": date}, trust_env=False)
    assert answer.status_code == 200


def test_nothing_can_be_written(client: Any, library: Shelf) -> None:
    where = {"Bucket": "digits", "Key": "v1/0/000.png"}
    refused = (405, "MethodNotAllowed")
    assert refusal(client.put_object, **where, Body=b"x") == refused
    assert refusal(client.delete_object, **where) == refused
    assert refusal(client.create_bucket, Bucket="mine") == refused
    assert refusal(client.create_multipart_upload, **where) == refused
    assert refusal(client.get_bucket_acl, Bucket="digits") == (501, "NotImplemented")
    assert client.get_object(**where)["Body"].read() == library.files["0/000.png"]


@pytest.mark.parametrize(
    "key",
    ["v1/../v1/0/000.png", "v1//0/000.png", "v9/0/000.png", "v1/", "v1", "v1/0", "v1/\0", "..%2f"],
)
def test_a_key_that_is_no_file_is_not_found(client: Any, key: str) -> None:
    assert refusal(client.get_object, Bucket="digits", Key=key) == (404, "NoSuchKey")


def test_a_presigned_address_needs_no_key(client: Any, library: Shelf) -> None:
    for path in ("0/000.png", "odd/空 白/图片 #1?.txt", "odd/a b+c~(1)!'*.txt"):
        params = {"Bucket": "digits", "Key": f"v1/{path}"}
        answer = httpx.get(client.generate_presigned_url("get_object", params), trust_env=False)
        assert (answer.status_code, answer.content) == (200, library.files[path])


def test_a_presigned_address_replaces_headers(client: Any, library: Shelf) -> None:
    replaced = {
        "ResponseCacheControl": "max-age=60",
        "ResponseContentDisposition": 'attachment; filename="x.bin"',
        "ResponseContentEncoding": "identity",
        "ResponseContentLanguage": "zh-CN",
        "ResponseContentType": "text/html",
        "ResponseExpires": "Wed, 21 Oct 2026 07:28:00 GMT",
    }

    def get_presigned(**parameters: str) -> httpx.Response:
        params = {"Bucket": "digits", "Key": "v1/0/000.png", **parameters}
        address = client.generate_presigned_url("get_object", params)
        return httpx.get(address, headers={"accept-encoding": "identity"}, trust_env=False)

    answer = get_presigned(**replaced)
    assert answer.content == library.files["0/000.png"]
    names = [name.removeprefix("Response") for name in replaced]
    headers = [re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower() for name in names]
    assert [answer.headers[name] for name in headers] == list(replaced.values())
    # It is still no page of this installation.
    assert "sandbox" in answer.headers["content-security-policy"]
    assert (
        client.get_object(Bucket="digits", Key="v1/0/000.png", ResponseContentType="text/x-a")[
            "ContentType"
        ]
        == "text/x-a"
    )
    for name, value in (
        ("ResponseContentDisposition", "attachment\r\nset-cookie: a=b"),
        ("ResponseContentType", "no type"),
        ("ResponseContentLanguage", "é"),
        ("ResponseCacheControl", "x" * 2000),
    ):
        refused = get_presigned(**{name: value})
        assert (refused.status_code, "InvalidArgument" in refused.text) == (400, True), name
        assert "set-cookie" not in refused.headers
    params = {"Bucket": "digits", "Key": "v1/0/000.png"}
    address = client.generate_presigned_url("get_object", params)
    added = httpx.get(f"{address}&response-content-type=text/html", trust_env=False)
    assert added.status_code == 403, "what is not signed replaces nothing"


def test_a_presigned_address_expires_and_cannot_be_changed(client: Any) -> None:
    params = {"Bucket": "digits", "Key": "v1/0/000.png"}
    address = client.generate_presigned_url("get_object", params, ExpiresIn=60)
    other = httpx.get(address.replace("000.png", "001.png"), trust_env=False)
    longer = httpx.get(address.replace("Expires=60", "Expires=600"), trust_env=False)
    assert [(a.status_code, "SignatureDoesNotMatch" in a.text) for a in (other, longer)] == [
        (403, True),
        (403, True),
    ]


def test_a_listing_names_what_is_wrong_with_it(client: Any) -> None:
    bad = {"Bucket": "digits", "ContinuationToken": "made.up"}
    assert refusal(client.list_objects_v2, **bad) == (400, "InvalidArgument")
    assert refusal(client.list_objects_v2, Bucket="digits", MaxKeys=-1) == (400, "InvalidArgument")
    page = client.list_objects_v2(Bucket="digits", MaxKeys=0)
    assert (page["KeyCount"], page["IsTruncated"]) == (0, False)
