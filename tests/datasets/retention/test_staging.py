"""Staging is cleared of uploads that were given up, never of a live one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from atom.core import clock, storage
from atom.core.ids import uuid7
from atom.datasets.keys import STAGING, staging_key
from atom.datasets.models import CommitRequest, GarbageRun, Upload
from atom.datasets.retention.actions.garbage import add_garbage_run, clear_ownerless
from atom.datasets.retention.actions.staging import Cutoffs, clear_ownerless_staging, clear_staging
from tests.datasets.pushing import Pusher, changes_file, make_pack, png, prepared_commit, put_rows


@pytest.fixture(autouse=True)
def _staging_is_empty() -> None:
    """Remove what tests before left, whose rows are gone."""
    objects = storage.objects()
    for item in objects.list_prefix(STAGING):
        objects.delete(item.key)
    for found in objects.multipart_list(""):
        objects.multipart_abort(found.key, found.upload_id)


@pytest.fixture(params=["direct", "staged"], autouse=True)
def _way(request: pytest.FixtureRequest, settings: Any) -> None:
    """Have packs go to their own keys, and by way of staging."""
    settings.ATOM_DIRECT_UPLOADS = request.param == "direct"


def clear(pusher: Pusher, *, apply: bool, age: timedelta = timedelta(0)) -> GarbageRun:
    """Clear staging as if everything in it were `age` older than it is, rows left alone."""
    run = add_garbage_run(pusher.project, None, is_dry_run=not apply)
    clear_staging(run, Cutoffs(clock.now() + age, clock.now() - timedelta(days=7)))
    GarbageRun.objects.filter(pk=run.pk).update(state="done")
    return run


def keys() -> set[str]:
    return {item.key for item in storage.objects().list_prefix(STAGING)}


def unfinished() -> set[str]:
    return {found.key for found in storage.objects().multipart_list("")}


def key_of(upload: dict[str, Any]) -> str:
    return Upload.objects.get(pk=upload["id"]).key


def test_what_was_given_up_is_counted_and_then_removed(pusher: Pusher) -> None:
    pack = make_pack({"a.png": png(1)})
    begun = pusher.begin(pack.data)
    pusher.send_part(begun, 1, pack.data)
    sent = pusher.upload(changes_file(put_rows(pack)), "changes")
    open_key, sent_key = key_of(begun), key_of(sent)
    storage.objects().put(f"{STAGING}outputs/x", b"of a run")
    later = timedelta(hours=1)

    # Everything is old by the store's clock, and the rows say that somebody is at it.
    assert clear(pusher, apply=True).staged_count == 1
    assert open_key in unfinished()
    assert sent_key not in keys()

    Upload.objects.update(updated_at=F("updated_at") - timedelta(days=8))
    # A part that came lately counts as well, whatever the row says.
    assert clear(pusher, apply=True, age=-later).staged_count == 0
    dry = clear(pusher, apply=False, age=later)
    assert (dry.staged_count, dry.staged_bytes) == (1, len(pack.data))
    assert open_key in unfinished()
    assert clear(pusher, apply=True, age=later).staged_count == 1
    assert open_key not in unfinished()
    assert Upload.objects.get(pk=begun["id"]).state == "aborted"
    assert f"{STAGING}outputs/x" in keys()
    assert clear(pusher, apply=True, age=later).staged_count == 0

    # Sending it again begins anew, and ends well.
    assert pusher.begin(pack.data)["id"] != begun["id"]
    assert pusher.upload(pack.data)["state"] == "verified"
    # A commit of changes that are gone fails with a reason, and is not tried for ever.
    request = pusher.post("commits/", {"changes_upload": sent["id"], "expected_head": None})
    assert pusher.get(f"commits/{request['id']}/")["error"]["code"] == "changes_unreadable"


def test_what_a_deleted_project_left_is_nobodys_to_count_and_is_removed(pusher: Pusher) -> None:
    key = staging_key(uuid7())
    storage.objects().put(key, b"of a project that is gone")
    sent = pusher.upload(changes_file(put_rows(make_pack({"d.png": png(4)}))), "changes")
    later, now = timedelta(hours=1), clock.now()
    assert clear(pusher, apply=True, age=-later).staged_count == 0
    dry = clear(pusher, apply=False, age=later)
    assert dry.staged_count == 1
    assert key in keys()
    assert clear_ownerless_staging(Cutoffs(now - later, now)) == 0
    assert clear_ownerless_staging(Cutoffs(now + later, now)) == 1
    assert keys() & {key, staging_key(sent["id"])} == {staging_key(sent["id"])}
    # The nightly task asks the store what time it is, and waits out the grace.
    assert clear_ownerless() == 0


def test_an_upload_that_goes_on_or_is_being_committed_is_live(pusher: Pusher) -> None:
    request = prepared_commit(pusher, {"b.png": png(2)})
    pack = make_pack({"c.png": png(3)})
    begun = pusher.begin(pack.data)
    Upload.objects.update(updated_at=F("updated_at") - timedelta(days=8))
    assert pusher.begin(pack.data)["id"] == begun["id"]

    run = clear(pusher, apply=True, age=timedelta(hours=1))

    assert run.staged_count == 0
    assert key_of(begun) in unfinished()
    assert request.changes_upload is not None
    assert request.changes_upload.key in keys()
    CommitRequest.objects.filter(pk=request.pk).update(state="failed")
    assert clear(pusher, apply=True, age=timedelta(hours=1)).staged_count == 1
