"""A bucket that stays where it is becomes a dataset."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from atom.core import storage
from atom.datasets.actions import scans
from atom.datasets.models import Dataset, Source, SourceScan
from atom.datasets.sources import s3
from atom.datasets.sources.opening import open_source
from atom.datasets.sources.patience import Patience
from tests.datasets.buckets import Answer, Bucket, Moody, refusal
from tests.datasets.pushing import Pusher, class_files

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]


@pytest.fixture
def bucket() -> Bucket:
    return Bucket()


@pytest.fixture
def moody(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Iterator[Moody]:
    """A server in front of the bucket; nobody waits long for it."""
    quick = Patience(tries=4, first_wait_s=0.01)
    monkeypatch.setattr(s3.S3Reader.__init__, "__defaults__", (quick,))
    monkeypatch.setattr(open_source, "__defaults__", (quick,))
    server = Moody(bucket.endpoint)
    yield server
    server.close()


def register(pusher: Pusher, body: dict[str, Any]) -> dict[str, Any]:
    return pusher.post(f"/api/v1/projects/{pusher.project.slug}/sources/", body)


def scan(name: str = "photos") -> SourceScan:
    """Scan to the end: tasks run in place."""
    source = Source.objects.get(name=name)
    return SourceScan.objects.get(pk=scans.request_scan(source, source.created_by).pk)


def paths(pusher: Pusher, ref: str = "main") -> list[str]:
    return [row["path"] for row in pusher.get(f"versions/{ref}/entries/", limit=200)["results"]]


def test_a_scan_makes_a_version_of_what_is_there(pusher: Pusher, bucket: Bucket) -> None:
    bucket.put({f"pets/{path}": data for path, data in class_files().items()})
    bucket.put({"other/x.png": b"x"})
    register(pusher, bucket.body("pets"))
    done = scan()
    assert (done.state, done.objects_count, done.unchanged) == ("done", 12, False), (
        done.error_detail
    )
    assert paths(pusher) == sorted(class_files())
    version = pusher.get("versions/main/")
    assert version["provenance"]["source"]["name"] == "photos"
    assert not list(storage.objects().list_prefix(scans._folder(done).prefix))


def test_scanning_again_commits_only_what_changed(pusher: Pusher, bucket: Bucket) -> None:
    bucket.put(class_files())
    register(pusher, bucket.body(labels_from="folder"))
    first = scan()
    again = scan()
    assert (again.unchanged, again.version) == (True, first.version)
    bucket.put({"0/000.png": b"other", "9/new.png": b"new"})
    bucket.delete("1/001.png")
    third = scan()
    version = pusher.get("versions/main/")
    assert third.version != first.version
    assert (version["added"], version["removed"], version["changed"]) == (1, 1, 1)
    labels = pusher.get("versions/main/stats/")["labels"]
    assert labels == {"0": 4, "1": 3, "2": 4, "9": 1}


def test_pushed_files_stay_beside_registered_ones(pusher: Pusher, bucket: Bucket) -> None:
    pusher.push({"mine/a.txt": b"a"})
    bucket.put({"b.txt": b"b"})
    register(pusher, bucket.body())
    scan()
    assert paths(pusher) == ["b.txt", "mine/a.txt"]
    bucket.delete("b.txt")
    bucket.put({"c.txt": b"c"})
    scan()
    assert paths(pusher) == ["c.txt", "mine/a.txt"]


def test_patterns_choose(pusher: Pusher, bucket: Bucket) -> None:
    bucket.put({"a.jpg": b"1", "b/c.jpg": b"2", "b/c.txt": b"3", "tmp/d.jpg": b"4"})
    register(pusher, bucket.body(include=["*.jpg"], exclude=["tmp/*"]))
    scan()
    assert paths(pusher) == ["a.jpg", "b/c.jpg"]


def _late(status: int, code: str) -> Answer:
    # The other folders are listed by then.
    time.sleep(0.3)
    return refusal(status, code)


def test_throttling_is_waited_out(pusher: Pusher, bucket: Bucket, moody: Moody) -> None:
    bucket.put(class_files())
    answers = iter([refusal(503, "SlowDown"), refusal(429, "TooMany"), refusal(503, "SlowDown")])
    register(pusher, bucket.body(endpoint=moody.url))
    moody.mood = lambda path: next(answers, None)
    assert scan().state == "done"


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        (403, "AccessDenied", "source_denied"),
        (404, "NoSuchBucket", "source_missing"),
        (503, "SlowDown", "source_throttled"),
        (500, "InternalError", "source_away"),
        (418, "Teapot", "source_odd"),
    ],
)
def test_a_scan_that_is_refused_midway_commits_nothing_and_goes_on_later(
    pusher: Pusher, bucket: Bucket, moody: Moody, status: int, code: str, told: str
) -> None:
    bucket.put(class_files())
    register(pusher, bucket.body(endpoint=moody.url))
    moody.mood = lambda path: _late(status, code) if "prefix=2%2F&enc" in path else None
    failed = scan()
    assert (failed.state, failed.error_code) == ("failed", told)
    assert pusher.head() is None
    assert Source.objects.get().state == "failed"
    moody.mood, moody.seen = lambda path: None, []
    done = scan()
    assert (done.pk, done.state, done.objects_count) == (failed.pk, "done", 12)
    assert not [path for path in moody.seen if "prefix=0" in path], "listed already"


def test_a_source_that_became_empty_keeps_the_last_version(pusher: Pusher, bucket: Bucket) -> None:
    bucket.put({"a.txt": b"1"})
    register(pusher, bucket.body())
    first = scan()
    bucket.delete("a.txt")
    failed = scan()
    assert (failed.state, failed.error_code) == ("failed", "source_empty")
    assert pusher.head() == first.version.commit


def test_a_redirect_is_not_followed(pusher: Pusher, bucket: Bucket, moody: Moody) -> None:
    inner = Moody(bucket.endpoint)
    register(pusher, bucket.body(endpoint=moody.url))
    moody.mood = lambda path: (302, "", {"Location": inner.url + path})
    assert scan().error_code == "source_odd"
    assert inner.seen == []
    inner.close()


def test_an_address_of_our_own_network_is_refused(
    pusher: Pusher, bucket: Bucket, settings: Any
) -> None:
    settings.ATOM_SOURCE_ALLOW = []
    base = f"/api/v1/projects/{pusher.project.slug}/sources/"
    answer = pusher.client.post(base, bucket.body(), format="json")
    assert (answer.status_code, answer.json()["code"]) == (400, "source_address_refused")
    assert not Source.objects.exists()


def test_credentials_never_leave_and_are_stored_encrypted(pusher: Pusher, bucket: Bucket) -> None:
    body = bucket.body()
    answer = register(pusher, body)
    assert body["secret_access_key"] not in str(answer)
    assert answer["has_credentials"] is True
    assert body["secret_access_key"] not in Source.objects.get().credentials
    assert body["secret_access_key"] not in repr(Source.objects.get().spec)


def test_a_cancelled_scan_makes_no_version(pusher: Pusher, bucket: Bucket, moody: Moody) -> None:
    bucket.put(class_files())
    register(pusher, bucket.body(endpoint=moody.url))

    def cancel(path: str) -> None:
        SourceScan.objects.filter(state="listing").update(state="cancelled")
        connection.close()

    moody.mood = cancel  # type: ignore[assignment]  # it answers None: go on
    assert scan().state == "cancelled"
    assert Dataset.objects.get().versions.count() == 0
