"""SIGKILL at every step that changes the bucket or the catalogue: nothing reachable is lost.

Afterwards the work is sent again, as the periodic task does, and ends where it would have ended.
"""

from __future__ import annotations

import multiprocessing
import re
import signal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from atom.core import storage
from atom.datasets.catalog.reads import open_root, packs_of
from atom.datasets.commit_runner import run_commit
from atom.datasets.commits.actions.branches import settle_branch
from atom.datasets.commits.actions.compaction import compact_version
from atom.datasets.integrity.actions.rebuild import compare_catalogue
from atom.datasets.models import CommitRequest, Dataset, GarbageRun, Pack, Upload, Version
from atom.datasets.packs.actions.uploads import complete_upload
from atom.datasets.packs.actions.verification import verify_upload
from atom.datasets.retention.actions.garbage import add_garbage_run, collect_garbage
from atom_sdk.client import Client
from atom_sdk.manifests import Changes, apply_changes, iter_ranges
from atom_sdk.manifests.entries import ENTRY_SCHEMA
from atom_sdk.manifests.objects import range_key
from tests.datasets import crashing_child
from tests.datasets.commits.test_compaction import ALWAYS, committed
from tests.datasets.crashing_child import PACK_MANY
from tests.datasets.prepared import made_once
from tests.datasets.pushing import (
    Pusher,
    class_files,
    corrupted,
    make_pack,
    new_pusher,
    png,
    prepared_commit,
    put_rows,
)
from tests.datasets.replicas.crash_points import REPLICA_POINTS
from tests.datasets.retention.test_garbage import AT_ONCE, forget_uploads, orphan, stored
from tests.jobs.live import wait_for

VERIFY_POINTS = ["pack.verified", "pack.published", "pack.accepted"]
COMMIT_POINTS = [
    "commit.objects_written",
    "commit.stored",
    "branch.recorded",
    "branch.logged",
    "commit.moved",
]
GARBAGE_POINTS = [
    "garbage.marked",
    "garbage.batch_condemned",
    "garbage.condemned",
    "garbage.forgotten",
    "garbage.object_deleted",
]
COMPACTION_POINTS = ["compaction.written", "compaction.noted"]
REPACKING_POINTS = ["repacking.published", "repacking.written", "repacking.noted"]
LOAD_POINTS = ["load.checked", "load.objects_written", "load.logged"]
ALL_POINTS = [
    "upload.joined",
    "pack.removed",
    *VERIFY_POINTS,
    *COMMIT_POINTS,
    *COMPACTION_POINTS,
    *GARBAGE_POINTS,
    *REPACKING_POINTS,
    *LOAD_POINTS,
    *REPLICA_POINTS,
]

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload([crashing_child.__name__])


@pytest.fixture
def pusher(transactional_db: None) -> Pusher:
    """Version 1: three classes."""
    return made_once(push_classes)


def push_classes() -> Pusher:
    pusher = new_pusher()
    pusher.push(class_files())
    return pusher


def die(action: str, subject: UUID | str, crash_point: str) -> None:
    """Carry out an action in a child that is killed at the crash point."""
    name = str(connection.settings_dict["NAME"])
    given = (action, str(subject), name, crash_point)
    child = _processes.Process(target=crashing_child.carry_out, args=given)
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    wait_for(lambda: not locks_of_others())


def locks_of_others() -> int:
    """Return what PostgreSQL still holds for the dead: on a busy machine it notices them late."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON database = pg_database.oid"
            " WHERE locktype = 'advisory' AND datname = current_database()"
            " AND pid <> pg_backend_pid()"
        )
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def check_catalogue(pusher: Pusher) -> None:
    """The catalogue is what the bucket says, and all that a version needs is there."""
    for dataset in Dataset.objects.filter(project=pusher.project).select_related("project"):
        settle_branch(dataset, "main")
    found = compare_catalogue(pusher.project)
    assert found.is_equal, found
    keys = stored(pusher)
    for version in Version.objects.select_related("dataset__project"):
        parts = open_root(version).ranges
        assert {range_key(part.object) for part in parts} <= keys
        assert {f"packs/{digest}.tar" for digest in packs_of(version)} <= keys
        assert set(packs_of(version)) <= set(
            Pack.objects.filter(state="verified").values_list("digest", flat=True)
        )


@pytest.fixture(params=["direct", "staged"])
def way(request: pytest.FixtureRequest, settings: Any) -> None:
    """Have packs go to their own keys, and by way of staging."""
    settings.ATOM_DIRECT_UPLOADS = request.param == "direct"


def begun_upload(pusher: Pusher) -> Upload:
    """An upload whose parts have all arrived."""
    pack = make_pack({"x.png": png(9)})
    begun = pusher.begin(pack.data)
    pusher.send_part(begun, 1, pack.data)
    return Upload.objects.select_related("dataset__project").get(pk=begun["id"])


@pytest.mark.usefixtures("way")
def test_a_death_while_an_upload_is_completed(pusher: Pusher) -> None:
    upload = begun_upload(pusher)
    parts = storage.objects().multipart_parts(upload.key, upload.multipart_id)

    die("complete", upload.pk, "upload.joined")
    check_catalogue(pusher)
    complete_upload(upload, [(part.number, part.etag) for part in parts])

    assert verify_upload(upload.pk).state == "verified"
    check_catalogue(pusher)


@pytest.mark.usefixtures("way")
def test_a_push_begun_anew_finds_what_was_joined_before_the_death(pusher: Pusher) -> None:
    upload = begun_upload(pusher)

    die("complete", upload.pk, "upload.joined")
    again = pusher.begin(make_pack({"x.png": png(9)}).data)

    # There is nothing left that parts could be sent to.
    assert again["id"] == str(upload.pk)
    assert again["state"] != "open"
    assert verify_upload(upload.pk).state == "verified"
    check_catalogue(pusher)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("point", VERIFY_POINTS)
def test_a_death_while_a_pack_is_verified(pusher: Pusher, point: str) -> None:
    upload = begun_upload(pusher)
    pack = make_pack({"x.png": png(9)})
    storage.objects().put(upload.key, pack.data)
    Upload.objects.filter(pk=upload.pk).update(state="uploaded")

    die("verify", upload.pk, point)
    check_catalogue(pusher)

    assert verify_upload(upload.pk).state == "verified"
    assert pusher.commit(put_rows(pack))["state"] == "published"
    check_catalogue(pusher)


def test_a_death_after_bytes_that_lied_were_removed(pusher: Pusher) -> None:
    upload = begun_upload(pusher)
    pack = make_pack({"x.png": png(9)})
    storage.objects().put(upload.key, corrupted(pack, 4096))
    Upload.objects.filter(pk=upload.pk).update(state="uploaded")

    die("verify", upload.pk, "pack.removed")
    check_catalogue(pusher)

    assert verify_upload(upload.pk).state == "quarantined"
    assert pusher.upload(pack.data)["state"] == "verified"
    check_catalogue(pusher)


@pytest.mark.parametrize("point", COMMIT_POINTS)
def test_a_death_while_a_version_is_committed(pusher: Pusher, point: str) -> None:
    request = prepared_commit(pusher, {"x.png": png(9)})

    die("commit", request.pk, point)
    check_catalogue(pusher)

    assert run_commit(request.pk).state == "published"
    assert CommitRequest.objects.get(pk=request.pk).version == Version.objects.get(number=2)
    check_catalogue(pusher)


def with_a_delta(pusher: Pusher) -> Version:
    """The version that has one file less, as a delta over the first."""
    store = storage.project_store(pusher.project)
    root = open_root(Version.objects.get())
    path = next(iter_ranges(root, store))["path"][0].as_py()
    nothing = Changes(ENTRY_SCHEMA.empty_table(), frozenset([path]))
    version = committed(pusher, apply_changes(root, nothing, store, delta_rule=ALWAYS))
    assert open_root(version).deltas
    return version


@pytest.mark.parametrize("point", COMPACTION_POINTS)
def test_a_death_while_a_version_is_compacted(pusher: Pusher, point: str) -> None:
    version = with_a_delta(pusher)

    die("compact", version.pk, point)
    check_catalogue(pusher)

    compact_version(version.pk)
    version.refresh_from_db()
    assert not open_root(version).deltas
    assert open_root(version).content.hex() == version.content_digest
    collect_garbage(add_garbage_run(pusher.project, None, is_dry_run=False).pk, AT_ONCE)
    check_catalogue(pusher)


@pytest.mark.parametrize("point", GARBAGE_POINTS)
def test_a_death_while_garbage_is_collected(pusher: Pusher, point: str) -> None:
    lost = orphan(pusher)
    forget_uploads()
    run = add_garbage_run(pusher.project, None, is_dry_run=False)

    die("collect", run.pk, point)
    check_catalogue(pusher)

    collect_garbage(run.pk, AT_ONCE)
    collect_garbage(add_garbage_run(pusher.project, None, is_dry_run=False).pk, AT_ONCE)
    assert f"packs/{lost}.tar" not in stored(pusher)
    assert not Pack.objects.filter(digest=lost).exists()
    assert set(GarbageRun.objects.values_list("state", flat=True)) == {"done"}
    check_catalogue(pusher)
    pusher.push({"orphan.png": png(77)})
    check_catalogue(pusher)


@pytest.mark.parametrize("point", REPACKING_POINTS)
def test_a_death_while_packs_are_packed_anew(pusher: Pusher, point: str) -> None:
    for number in range(PACK_MANY.packing.many + 1):
        pusher.push({"x.png": png(number)})
    contents = [*Version.objects.order_by("number").values_list("content_digest", flat=True)]
    forget_uploads()
    run = add_garbage_run(pusher.project, None, is_dry_run=False)

    die("repack", run.pk, point)
    check_catalogue(pusher)

    collect_garbage(run.pk, PACK_MANY)
    # The objects of the dead worker are collected; packs are as many as if it had lived.
    collect_garbage(add_garbage_run(pusher.project, None, is_dry_run=False).pk, PACK_MANY)
    # Two of the head, which are few, and one of all earlier ones.
    assert sum(key.endswith(".tar") for key in stored(pusher)) == 3
    read = [open_root(version) for version in Version.objects.order_by("number")]
    assert [root.content.hex() for root in read] == contents
    check_catalogue(pusher)


def test_a_death_while_an_archive_is_loaded(pusher: Pusher, client: Client, tmp_path: Path) -> None:
    client.archives.save(pusher.name, tmp_path / "archive")
    client.archives.load(tmp_path / "archive", name="whole")
    whole = CommitRequest.objects.get(operation="load")
    for number, point in enumerate(LOAD_POINTS):
        copy = Dataset.objects.create(project=pusher.project, name=f"copy-{number}")
        request = CommitRequest.objects.create(
            dataset=copy, branch="main", operation="load", arguments=whole.arguments
        )

        die("commit", request.pk, point)
        assert not copy.versions.exists()

        assert run_commit(request.pk).state == "published"
        commits = copy.versions.values_list("number", "commit")
        assert list(commits) == list(whole.dataset.versions.values_list("number", "commit"))
        check_catalogue(pusher)


def test_every_crash_point_of_the_data_plane_is_tested() -> None:
    package = Path(__file__).parents[3] / "atom" / "datasets"
    source = "\n".join(path.read_text() for path in package.rglob("*.py"))
    assert set(re.findall(r'\breach\("([a-z_.]+)"\)', source)) == set(ALL_POINTS)
