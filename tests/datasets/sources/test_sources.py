"""A bucket that stays where it is becomes a dataset."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.db import connection
from django.utils import timezone

from atom.core import storage
from atom.datasets.commits.actions import commit_root
from atom.datasets.models import Dataset, Source, SourceScan
from atom.datasets.sources.actions import scans
from atom.datasets.sources.pipelines import s3
from atom.datasets.sources.pipelines.opening import open_source
from atom.datasets.sources.pipelines.patience import Patience
from atom.datasets.states import ACTIVE_SCANS
from atom.datasets.tasks import sync_sources
from atom.datasets.versions.engines.changes import decode_changes
from atom.datasets.writers.actions.writers import NewWriter, open_writer
from atom_sdk.manifests.entries import table_entries
from tests.datasets.buckets import Answer, Bucket, Moody, refusal
from tests.datasets.pushing import Pusher, class_files, make_pack, put_rows

pytestmark = pytest.mark.usefixtures("committing_db")


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
    """Refuse once the other three shards are listed, or else be waited for too long."""
    folder = scans._folder(SourceScan.objects.get())
    connection.close()
    for _ in range(600):
        keys = [one.key for one in storage.objects().list_prefix(folder.prefix)]
        if sum(key.endswith("/000000.json") for key in keys) == 3:
            break
        time.sleep(0.05)
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
@pytest.mark.django_db(transaction=True)
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
    assert first.version is not None
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


def test_credentials_never_leave_and_are_stored_encrypted(
    pusher: Pusher, bucket: Bucket, moody: Moody, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    body = bucket.body(endpoint=moody.url)
    answer = register(pusher, body)
    moody.mood = lambda path: refusal(403, "AccessDenied")
    told = [answer, scan().error_detail, pusher.get("")]
    told += [pusher.client.get(f"/api/v1/projects/{pusher.project.slug}/sources/").json()]
    # botocore's loggers, which show what is signed, begin at WARNING in every installation.
    told += [one.getMessage() for one in caplog.records if not one.name.startswith("botocore")]
    assert body["secret_access_key"] not in str(told)
    assert body["secret_access_key"] not in str(answer)
    assert answer["has_credentials"] is True
    assert body["secret_access_key"] not in Source.objects.get().credentials
    assert body["secret_access_key"] not in repr(Source.objects.get().spec)


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_scan_makes_no_version(pusher: Pusher, bucket: Bucket, moody: Moody) -> None:
    bucket.put(class_files())
    register(pusher, bucket.body(endpoint=moody.url))

    def cancel(path: str) -> None:
        SourceScan.objects.filter(state="listing").update(state="cancelled")
        connection.close()

    moody.mood = cancel  # type: ignore[assignment]  # it answers None: go on
    assert scan().state == "cancelled"
    assert Dataset.objects.get().versions.count() == 0


def test_a_killed_worker_is_followed_by_one_that_goes_on(
    pusher: Pusher, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put(class_files())
    register(pusher, bucket.body())

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    places = (
        (scans, "_note"), (scans, "_commit_once"), (commit_root, "move_branch"), (scans, "_finish"),
    )  # fmt: skip
    for module, place in places:
        with monkeypatch.context() as patch:
            patch.setattr(module, place, killed)
            with pytest.raises(KeyboardInterrupt):
                scan_or_go_on()
    done = scan_or_go_on()
    assert (done.state, done.objects_count) == ("done", 12)
    assert Dataset.objects.get().versions.count() == 1


def scan_or_go_on() -> SourceScan:
    active = SourceScan.objects.filter(state__in=ACTIVE_SCANS).first()
    return scans.run_scan(active.pk) if active else scan()


def test_sources_are_scanned_when_they_are_due(pusher: Pusher, bucket: Bucket) -> None:
    bucket.put({"a.txt": b"1"})
    register(pusher, bucket.body(every_s=3600))
    sync_sources()
    first = SourceScan.objects.get()
    source = Source.objects.get()
    assert (first.state, source.state) == ("done", "ready")
    assert source.next_scan_at is not None
    assert source.next_scan_at > first.created_at + timedelta(seconds=3500)
    sync_sources()
    assert SourceScan.objects.count() == 1
    Source.objects.update(next_scan_at=timezone.now())
    sync_sources()
    assert [one.unchanged for one in SourceScan.objects.order_by("created_at")] == [False, True]


def test_a_scan_whose_message_was_lost_is_taken_up(pusher: Pusher, bucket: Bucket) -> None:
    bucket.put({"a.txt": b"1"})
    register(pusher, bucket.body())
    lost = SourceScan.objects.create(source=Source.objects.get())
    Source.objects.update(state="scanning")
    SourceScan.objects.update(updated_at=timezone.now() - timedelta(minutes=1))
    sync_sources()
    lost.refresh_from_db()
    assert lost.state == "done"


def test_a_second_scan_is_refused_while_one_runs(pusher: Pusher, bucket: Bucket) -> None:
    register(pusher, bucket.body())
    SourceScan.objects.create(source=Source.objects.get())
    Source.objects.update(state="scanning")
    address = f"/api/v1/projects/{pusher.project.slug}/sources/photos/scans/"
    answer = pusher.client.post(address)
    assert (answer.status_code, answer.json()["code"]) == (409, "scan_active")


def test_the_connection_is_tried_before_anything_is_stored(pusher: Pusher, bucket: Bucket) -> None:
    bucket.put({"a.txt": b"1"})
    address = f"/api/v1/projects/{pusher.project.slug}/source-tests/"
    body = {name: bucket.body()[name] for name in ("url", "endpoint")}
    keys = {name: bucket.body()[name] for name in ("access_key_id", "secret_access_key")}
    assert pusher.post(address, body | keys) == {"keys": ["a.txt"], "has_more": False}
    wrong = pusher.client.post(address, body | keys | {"secret_access_key": "no"}, format="json")
    assert (wrong.status_code, wrong.json()["code"]) == (502, "source_denied")
    assert not Source.objects.exists()


def test_a_folder_with_a_name_that_is_no_text_can_be_tried(
    pusher: Pusher, tmp_path: Path, settings: Any
) -> None:
    settings.ATOM_SOURCE_FOLDERS = [str(tmp_path)]
    Path(os.fsdecode(bytes(tmp_path) + b"/\xff.txt")).write_bytes(b"1")
    address = f"/api/v1/projects/{pusher.project.slug}/source-tests/"
    assert pusher.post(address, {"url": f"file://{tmp_path}"})["keys"] == ["\ufffd.txt"]


def test_no_source_writes_to_the_staging_branch_of_a_writer(pusher: Pusher, bucket: Bucket) -> None:
    pusher.push({"a.txt": b"a"})
    dataset = Dataset.objects.get(name=pusher.name)
    writer = open_writer(dataset, NewWriter("main"), pusher.user)
    branch = writer.branch.name if writer.branch else ""
    body = bucket.body() | {"dataset": pusher.name, "branch": branch}
    answer = pusher.client.post(
        f"/api/v1/projects/{pusher.project.slug}/sources/", body, format="json"
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "staging_branch_reserved")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"url": "gopher://x/y"}, "url"),
        ({"url": "s3://Bad_Bucket!/x"}, "url"),
        ({"region": "evil.example/"}, "region"),
        ({"secret_access_key": ""}, "secret_access_key"),
        ({"every_s": 1}, "every_s"),
        ({"include": "*.jpg"}, "include"),
        ({"name": "Bad Name"}, "name"),
        ({"bucket": "x"}, "bucket"),
    ],
)
def test_a_wrong_field_is_named(
    pusher: Pusher, bucket: Bucket, wrong: dict[str, Any], field: str
) -> None:
    address = f"/api/v1/projects/{pusher.project.slug}/sources/"
    answer = pusher.client.post(address, bucket.body() | wrong, format="json")
    assert answer.status_code == 400
    assert any(name.startswith(field) for name in answer.json()["errors"])


def test_schedule_and_keys_change_and_the_place_does_not(pusher: Pusher, bucket: Bucket) -> None:
    register(pusher, bucket.body())
    address = f"/api/v1/projects/{pusher.project.slug}/sources/photos/"
    changed = pusher.client.patch(address, {"every_s": 600}, format="json")
    assert (changed.status_code, changed.json()["every_s"]) == (200, 600)
    assert pusher.client.patch(address, {"endpoint": "http://x"}, format="json").status_code == 400
    assert pusher.client.patch(address, {"access_key_id": "a"}, format="json").status_code == 400


def test_a_client_cannot_register_objects_by_itself(pusher: Pusher, bucket: Bucket) -> None:
    pack = make_pack({"a.txt": b"a"})
    pusher.upload(pack.data)
    row = put_rows(pack)[0] | {"source": str(uuid4()), "key": "../secret"}
    table = pa.Table.from_pylist([row])
    out = io.BytesIO()
    pq.write_table(table, out)
    (entry,) = table_entries(decode_changes(out.getvalue()).puts)
    assert (entry.path, entry.source, entry.key) == ("a.txt", None, None)
