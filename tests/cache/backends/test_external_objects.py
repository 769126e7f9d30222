"""Objects that stay at their source, on a node: packed there, read with every check."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atom.cache.backends import local_backend
from atom.cache.backends.local.paths import pack_store
from atom.cache.delivery.actions.views import view_for
from atom.cache.models import CacheRecord
from atom.cache.warming.actions.eviction import evict
from atom.cache.warming.actions.warming import request_warm
from atom.clusters.models import Node
from atom.datasets.models import Source, Version
from atom.datasets.sources.actions import scans
from atom_sdk.readers import LocalDataset
from tests.datasets.buckets import Bucket
from tests.datasets.pushing import Pusher, class_files, png

ReadAll = Callable[[Version], dict[str, bytes]]
FILES = {f"more/{path}": data for path, data in class_files(2, 3).items()}


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]


@pytest.fixture
def bucket(pusher: Pusher) -> Bucket:
    """A bucket beside the pushed files of `digits`, scanned into its version 2."""
    bucket = Bucket()
    bucket.put(FILES)
    address = f"/api/v1/projects/{pusher.project.slug}/sources/"
    pusher.post(address, bucket.body(labels_from="folder"))
    scan()
    return bucket


def scan() -> Version:
    source = Source.objects.get()
    scan = scans.request_scan(source, source.created_by)
    scan.refresh_from_db()
    assert scan.state == "done", scan.error_detail
    return newest()


def newest() -> Version:
    return Version.objects.select_related("dataset__project").order_by("-number")[0]


def warmed(version: Version, node: Node) -> CacheRecord:
    record = request_warm(version, node)
    record.refresh_from_db()
    return record


@pytest.fixture
def opened(node: Node) -> ReadAll:
    """Reads every file of a version's view on the node, each checked against its digest."""

    def read_all(version: Version) -> dict[str, bytes]:
        view = view_for(version, node)
        return {
            sample.path: bytes(sample.data)
            for sample in LocalDataset(view.index_path, view.pack_dir, verify="always")
        }

    return read_all


def test_registered_and_pushed_files_are_read_alike(
    pusher: Pusher, bucket: Bucket, node: Node, opened: ReadAll
) -> None:
    version = newest()
    record = warmed(version, node)
    assert (record.state, record.error) == ("warm", "")
    assert record.packs_present == record.packs_total == 2
    assert opened(version) == class_files() | FILES


def test_a_new_version_fetches_only_what_is_new(
    bucket: Bucket, node: Node, opened: ReadAll
) -> None:
    warmed(newest(), node)
    bucket.put({"more/0/new.png": png(99)})
    version = scan()
    before = {path.name for path in pack_store(version.dataset.project).packs.iterdir()}
    warmed(version, node)
    after = {path.name for path in pack_store(version.dataset.project).packs.iterdir()}
    assert len(after - before) == 1
    assert opened(version)["more/0/new.png"] == png(99)


def test_changed_objects_are_named_and_never_given(
    pusher: Pusher, bucket: Bucket, node: Node
) -> None:
    bucket.put({"more/0/001.png": png(77)})
    bucket.delete("more/1/002.png")
    record = warmed(newest(), node)
    assert record.state == "failed"
    assert "more/0/001.png" in record.error
    assert "more/1/002.png" in record.error
    assert "Scan the source again" in record.error
    assert Source.objects.get().state == "drifted"
    again = warmed(scan(), node)
    assert (again.state, Source.objects.get().state) == ("warm", "ready")


def test_what_a_job_reads_is_pinned_while_the_source_changes_under_it(
    bucket: Bucket, node: Node, opened: ReadAll
) -> None:
    version = newest()
    warmed(version, node)
    view = view_for(version, node)
    running = iter(LocalDataset(view.index_path, view.pack_dir, verify="always"))
    first = next(running)
    bucket.put({"more/0/001.png": png(77)})
    bucket.delete("more/1/002.png")
    read = {one.path: bytes(one.data) for one in [first, *running]}
    assert read == class_files() | FILES == opened(version)
    # On a node that must fetch it now there is an error instead, and no view.
    evict(version, node)
    record = warmed(version, node)
    assert (record.state, "more/0/001.png" in record.error) == ("failed", True)


def test_what_was_evicted_can_be_brought_again(bucket: Bucket, node: Node, opened: ReadAll) -> None:
    version = newest()
    warmed(version, node)
    evict(version, node)
    assert local_backend().measure(version).packs_present == 0
    assert not list(Path(pack_store(version.dataset.project).packs).iterdir())
    assert warmed(version, node).state == "warm"
    assert opened(version) == class_files() | FILES


def test_a_removed_source_says_so(pusher: Pusher, bucket: Bucket, node: Node) -> None:
    address = f"/api/v1/projects/{pusher.project.slug}/sources/photos/"
    assert pusher.client.delete(address).status_code == 204
    assert Source.objects.get().credentials == ""
    record = warmed(newest(), node)
    assert (record.state, "was removed" in record.error) == ("failed", True), json.dumps(
        record.error
    )
