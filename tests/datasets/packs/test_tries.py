"""Failing work ends after several retries over some time, and never by its age alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from atom.core import clock, storage
from atom.core.storage import StoreError
from atom.datasets import tasks
from atom.datasets.commit_runner import run_commit
from atom.datasets.models import CommitRequest, Dataset, Pack, Upload, Version
from atom.datasets.operations.engines.operations import (
    EditArguments,
    EditStepArguments,
    Source,
    stored_arguments,
)
from atom.datasets.packs.actions.verification import verify_upload
from atom.datasets.tasks import recover
from tests.datasets.buckets import Answer, Moody, refusal
from tests.datasets.commits.test_recovery import held_by_another_worker
from tests.datasets.pushing import Pusher, class_files, make_pack, png, prepared_commit, put_rows
from tests.factories.datasets import make_dataset

TOO_LARGE, AWAY = refusal(400, "InvalidRequest"), refusal(503, "SlowDown")
NIGHT = timedelta(hours=9)
OFTEN = {"tries": 5}


def age(rows: Any) -> None:
    """Make rows as old as if the machine had been down for a night."""
    rows.update(created_at=F("created_at") - NIGHT, updated_at=F("updated_at") - NIGHT)


@pytest.mark.parametrize("state", ["pending", "building"])
def test_what_was_accepted_before_an_outage_is_built_after_it(pusher: Pusher, state: str) -> None:
    request = prepared_commit(pusher, class_files())
    # As many tries as one likes, at one bad moment.
    CommitRequest.objects.update(state=state, tried_since=clock.now(), tries=9)
    age(CommitRequest.objects)

    recover()

    request.refresh_from_db()
    assert request.state == "published"


@pytest.mark.django_db
def test_a_commit_waits_however_old_it_is_for_what_a_worker_verifies(
    django_capture_on_commit_callbacks: Any,
) -> None:
    dataset = make_dataset()
    upload = Upload.objects.create(
        dataset=dataset, kind="changes", digest="0" * 64, size_bytes=1, part_size_bytes=1,
        state="verifying",
    )  # fmt: skip
    request = CommitRequest.objects.create(dataset=dataset, branch="main", changes_upload=upload)
    age(CommitRequest.objects)

    with held_by_another_worker(upload.pk), django_capture_on_commit_callbacks() as sent:
        tasks.build_commit(str(request.pk))

    request.refresh_from_db()
    assert (request.state, request.tries, len(sent)) == ("building", 0, 1)


def test_a_request_that_fails_at_each_try_is_given_up(pusher: Pusher) -> None:
    pusher.push(class_files())
    dataset = Dataset.objects.get()
    request = CommitRequest.objects.create(dataset=dataset, branch="main", operation="edit")
    with pytest.raises(KeyError):
        run_commit(request.pk)
    request.refresh_from_db()
    assert (request.state, request.tries) == ("building", 1)

    CommitRequest.objects.filter(pk=request.pk).update(tried_since=clock.now() - NIGHT, **OFTEN)

    assert run_commit(request.pk).error_code == "commit_abandoned"
    answer = pusher.get(f"commits/{request.pk}/")
    assert (answer["state"], answer["error"]["code"]) == ("failed", "commit_abandoned")


def test_a_request_whose_source_is_deleted_fails_at_once_and_says_so(pusher: Pusher) -> None:
    version = pusher.push(class_files())
    pets = Pusher(pusher.project, pusher.user, "pets").create()
    pets.push({"cat.png": png(1)})
    dataset = Dataset.objects.get(name=pets.name)
    source = Source("digits@v1", version["commit"], str(Dataset.objects.get(name="digits").pk))
    copied = EditStepArguments("copy", ("0",), to="from-digits/", source=source)
    request = CommitRequest.objects.create(
        dataset=dataset, branch="main", operation="edit",
        arguments=stored_arguments(EditArguments((copied,))),
    )  # fmt: skip
    Dataset.objects.filter(name="digits").update(deleted_at=clock.now())

    assert run_commit(request.pk).state == "failed"
    request.refresh_from_db()
    assert request.error_code == "dataset_deleted"


def test_a_request_without_its_branch_or_whose_manifest_is_lost_fails_at_once(
    pusher: Pusher,
) -> None:
    pusher.push({"old.png": png(1)})
    lost = prepared_commit(pusher, class_files())
    gone = prepared_commit(pusher, class_files())
    CommitRequest.objects.filter(pk=gone.pk).update(branch="gone", expected_head="f" * 64)
    Version.objects.update(root="f" * 64)

    ended = [run_commit(request.pk) for request in (lost, gone)]

    assert [row.error_code for row in ended] == ["version_unreadable", "ref_not_found"]
    assert "f" * 64 in ended[0].error_detail


def test_an_upload_that_no_worker_can_verify_is_given_up_and_its_commit_says_so(
    pusher: Pusher,
) -> None:
    pack = make_pack(class_files())
    upload = Upload.objects.get(pk=pusher.upload(pack.data)["id"])
    storage.objects().put(upload.key, pack.data)
    Pack.objects.update(state="verifying")
    Upload.objects.update(state="verifying", tried_since=clock.now() - NIGHT, **OFTEN)

    assert verify_upload(upload.pk).state == "quarantined"

    error = pusher.get(f"uploads/{upload.pk}/")["error"]
    assert error["code"] == "verification_abandoned"
    assert pusher.commit(put_rows(pack))["error"]["code"] == "pack_not_verified"
    assert pusher.upload(pack.data)["state"] == "verified"


@pytest.fixture
def front(settings: Any) -> Iterator[Moody]:
    """A server in front of our bucket."""
    found = Moody(settings.S3_ENDPOINT_URL)
    settings.S3_ENDPOINT_URL = found.url
    settings.ATOM_STORE_PATIENCE_S = 0.1
    storage.objects.cache_clear()
    yield found
    storage.objects.cache_clear()
    found.close()


def test_a_try_counts_where_the_store_refuses_and_not_where_it_is_away(
    pusher: Pusher, front: Moody
) -> None:
    pack = make_pack(class_files())
    upload = Upload.objects.get(pk=pusher.upload(pack.data)["id"])
    storage.objects().put(upload.key, pack.data)
    Pack.objects.update(state="verifying")
    Upload.objects.update(state="verifying", tries=0)

    for mood, tries in ((_refused, 1), (_away, 1), (_refused, 2)):
        front.mood = mood
        with pytest.raises(StoreError):
            verify_upload(upload.pk)
        upload.refresh_from_db()
        assert (upload.state, upload.tries) == ("verifying", tries)


def _refused(path: str) -> Answer:
    return TOO_LARGE if "/packs/" in path else None


def _away(path: str) -> Answer:
    return AWAY
