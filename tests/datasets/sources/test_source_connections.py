"""Where sources connect to, which state of an object they read, and listings that never end."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings

from atom.core.errors import AtomError
from atom.datasets.source_spec import Credentials, SourceSpec
from atom.datasets.sources.errors import (
    SourceAddressRefused,
    SourceAway,
    SourceChanged,
    SourceOdd,
    SourceThrottled,
)
from atom.datasets.sources.pipelines.connections import http_client
from atom.datasets.sources.pipelines.endless import MOST_EMPTY_PAGES, EndlessGuard
from atom.datasets.sources.pipelines.http_list import HttpListReader
from atom.datasets.sources.pipelines.objects import Shard, SourceObject, SourceReader
from atom.datasets.sources.pipelines.patience import INTERACTIVE, Patience, retry_after_s
from atom.datasets.sources.pipelines.s3 import S3Reader
from atom_sdk.manifests.pins import Pin
from tests.datasets.buckets import Bucket, Moody, refusal

QUICK = Patience(tries=2, first_wait_s=0.01, longest_asked_s=0.01)
LOCAL = ["127.0.0.0/8"]
PUBLIC = "93.184.216.34"


@pytest.fixture
def server() -> Iterator[Moody]:
    found = Moody("http://unused")
    found.mood = lambda path: (200, "a.txt\n", {})
    yield found
    found.close()


def of_bucket(bucket: Bucket, endpoint: str = "") -> S3Reader:
    keys = Credentials(settings.S3_ACCESS_KEY_ID, settings.S3_SECRET_ACCESS_KEY)
    url = f"s3://{bucket.name}"
    return S3Reader(SourceSpec("s", url, endpoint or bucket.endpoint, "", keys), LOCAL, QUICK)


def listed(reader: SourceReader, shard: Shard = Shard(""), after: str = "") -> list[SourceObject]:  # noqa: B008  # immutable
    return [found for page in reader.pages(shard, after) for found in page]


def pin_of(found: SourceObject) -> Pin:
    return Pin("s", found.key, found.size_bytes, found.version_id, found.etag, found.mtime)


@pytest.mark.parametrize("kind", ["list", "bucket"])
def test_a_name_that_changes_after_the_check_leads_nowhere(
    server: Moody, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    answers = iter([PUBLIC])

    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers, "127.0.0.1"), port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    place = server.url.replace("127.0.0.1", "two-faced.example")
    reader: SourceReader
    if kind == "list":
        reader = HttpListReader(SourceSpec("s", f"{place}/list.txt"), [], QUICK)
    else:
        reader = S3Reader(SourceSpec("s", "s3://bucket", place), [], QUICK)
    with pytest.raises(SourceAddressRefused, match=r"two-faced\.example"):
        listed(reader)
    assert server.seen == []


@pytest.mark.parametrize("kind", ["list", "bucket"])
def test_a_connection_goes_to_the_address_that_was_checked_and_keeps_the_name(
    server: Moody, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    asked: list[str] = []

    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        # A second address, because the first gives no answer.
        ends = [("127.0.0.99", port), ("127.0.0.1", port)]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", end) for end in ends]

    real = socket.create_connection

    def connect(address: tuple[str, int], *arguments: Any, **more: Any) -> socket.socket:
        assert address[0] in {"127.0.0.99", "127.0.0.1"}, "a name would be resolved once more"
        monkeypatch.setattr(socket, "getaddrinfo", lookup)
        try:
            return real(address, *arguments, **more)
        finally:
            monkeypatch.setattr(socket, "getaddrinfo", resolve)

    lookup = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    place = server.url.replace("127.0.0.1", "bucket.example")
    if kind == "list":
        assert http_client(LOCAL).get(place).status_code == 200
    else:
        server.mood = lambda path: refusal(404, "NoSuchBucket")
        with pytest.raises(AtomError, match=r"bucket\.example:\d+ has no bucket"):
            listed(S3Reader(SourceSpec("s", "s3://bucket", place), LOCAL, QUICK))
    assert server.seen
    assert set(asked) == {"bucket.example"}


def test_a_bucket_without_an_answer_is_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    spec = SourceSpec("s", "s3://bucket", f"http://127.0.0.1:{port}")
    with pytest.raises(SourceAway):
        listed(S3Reader(spec, LOCAL, QUICK))


def test_a_version_is_read_although_the_object_was_overwritten_and_deleted() -> None:
    bucket = Bucket()
    bucket.put({"old.txt": b"before"})
    versioning = {"Status": "Enabled"}
    bucket.client.put_bucket_versioning(Bucket=bucket.name, VersioningConfiguration=versioning)
    bucket.put({"a.txt": b"one", "b/c.txt": b"two", "b/gone.txt": b"x"})
    bucket.delete("b/gone.txt")
    reader = of_bucket(bucket)
    found = listed(reader)
    assert [one.key for one in found] == ["a.txt", "b/c.txt", "old.txt"]
    assert [one.key for one in listed(reader, after="a.txt")] == ["b/c.txt", "old.txt"]
    assert [one.key for one in listed(reader, Shard("", is_deep=False))] == ["a.txt", "old.txt"]
    pins = {one.key: pin_of(one) for one in found}
    assert pins["old.txt"].version_id is None, "written before there were versions"
    bucket.put({"a.txt": b"ONE", "old.txt": b"after!"})
    bucket.delete("b/c.txt")
    assert reader.read(pins["a.txt"], 0, 3) == b"one"
    assert reader.read(pins["b/c.txt"], 1, 3) == b"wo"
    with pytest.raises(SourceChanged, match=r"old\.txt"):
        reader.read(pins["old.txt"], 0, 6)
    again = {one.key: pin_of(one) for one in listed(reader)}
    assert again["a.txt"].digest != pins["a.txt"].digest
    bucket.client.delete_object(Bucket=bucket.name, Key="a.txt", VersionId=pins["a.txt"].version_id)
    with pytest.raises(SourceChanged, match=r"a\.txt"):
        reader.read(pins["a.txt"], 0, 3)


def test_who_may_not_ask_for_versions_gets_pins_by_etag() -> None:
    bucket = Bucket()
    bucket.put({"a.txt": b"one"})
    front = Moody(bucket.endpoint)
    front.mood = lambda path: refusal(403, "AccessDenied") if "versioning" in path else None
    (found,) = listed(of_bucket(bucket, front.url))
    assert (found.version_id, bool(found.etag)) == (None, True)
    front.close()


def _page(key: str, token: str) -> tuple[int, str, dict[str, str]]:
    row = f"<Contents><Key>{key}</Key><Size>1</Size></Contents>"
    more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>"
    body = f"<ListBucketResult>{row}{more}</ListBucketResult>"
    return 200, body, {"Content-Type": "application/xml"}


@pytest.mark.parametrize("period", [1, 3])
def test_a_listing_that_goes_round_in_a_circle_ends_with_an_error(
    server: Moody, period: int
) -> None:
    def mood(path: str) -> Any:
        if "versioning" in path:
            return refusal(501, "NotImplemented")
        number = len(server.seen)
        return _page(f"key-{number % period}", f"token-{number}")

    server.mood = mood
    reader = S3Reader(SourceSpec("s", "s3://bucket", server.url), LOCAL, QUICK)
    with pytest.raises(SourceOdd, match="never ends"):
        listed(reader)


def test_empty_pages_without_end_are_an_error_and_some_are_not() -> None:
    guard = EndlessGuard()
    for name in ("a", "b"):
        for _ in range(MOST_EMPTY_PAGES):
            guard.see([])
        guard.see([name])
    for _ in range(MOST_EMPTY_PAGES):
        guard.see([])
    with pytest.raises(SourceOdd):
        guard.see([])


def test_a_source_says_how_long_to_wait_and_nobody_waits_for_ever(server: Moody) -> None:
    status, body, headers = refusal(503, "SlowDown") or (0, "", {})
    server.mood = lambda path: (status, body, headers | {"Retry-After": "7"})
    with pytest.raises(SourceThrottled) as failed:
        listed(S3Reader(SourceSpec("s", "s3://bucket", server.url), LOCAL, QUICK))
    assert failed.value.retry_after_s == 7
    assert [retry_after_s(text) for text in (None, "", "soon", "30")] == [0, 0, 0, 30]
    patience = Patience(first_wait_s=1, longest_wait_s=2)
    assert 7.5 <= patience._wait_s(0, 7) <= 8
    assert patience._wait_s(9, 1e9) <= 62
    assert INTERACTIVE._wait_s(0, 1e9) < 2
