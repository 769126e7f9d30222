"""Work that a dead worker left is repeated once, and ends as it would have."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from uuid import UUID

import pytest
from django.db import connection

from atom.core import storage
from atom.core.locks import only_worker
from atom.datasets.catalog import ref_log
from atom.datasets.commit_runner import run_commit
from atom.datasets.commits.actions.branches import settle_branch
from atom.datasets.models import Branch, CommitRequest, Pack, Upload, Version
from atom.datasets.packs.actions.verification import verify_upload
from atom.datasets.packs.pack_checks import PacksOnTheWay
from atom.datasets.tasks import recover
from tests.datasets.pushing import (
    Pusher,
    class_files,
    make_pack,
    png,
    prepared_commit,
    put_rows,
)


@pytest.mark.parametrize("state", ["uploaded", "verifying"])
def test_verification_that_died_is_done_again(pusher: Pusher, state: str) -> None:
    pack = make_pack(class_files())
    upload = pusher.upload(pack.data)
    row = Upload.objects.get(pk=upload["id"])
    # As a worker leaves it that dies after the copy and before the row: everything is there.
    storage.objects().put(row.key, pack.data)
    Upload.objects.update(state=state)
    Pack.objects.update(state="verifying")

    verify_upload(row.pk)
    verify_upload(row.pk)

    row.refresh_from_db()
    assert row.state == "verified"
    assert Pack.objects.get().state == "verified"


@pytest.mark.parametrize("state", ["pending", "building"])
def test_a_commit_that_died_is_built_again(pusher: Pusher, state: str) -> None:
    request = prepared_commit(pusher, class_files())
    CommitRequest.objects.update(state=state)

    first = run_commit(request.pk)
    again = run_commit(request.pk)

    assert first.state == again.state == "published"
    assert first.version_id == again.version_id
    assert Version.objects.count() == 1


def test_a_worker_that_died_after_the_branch_moved_finds_its_own_version(pusher: Pusher) -> None:
    request = prepared_commit(pusher, class_files())
    run_commit(request.pk)
    pusher.push({"later.png": png(3)})
    CommitRequest.objects.filter(pk=request.pk).update(state="building", version=None)

    run_commit(request.pk)

    request.refresh_from_db()
    assert request.state == "published"
    assert request.version is not None
    assert request.version.number == 1
    assert Version.objects.count() == 2


def rewind(branch: Branch) -> str:
    """Undo the row of the last move, as a crash between the ref log and the row leaves it."""
    assert branch.head is not None
    last = branch.head
    before = Version.objects.filter(commit__in=last.parents).first()
    CommitRequest.objects.filter(version=last).update(version=None)
    branch.head, branch.seq = before, branch.seq - 1
    branch.save()
    # Past the ORM: the row was never there as far as other apps know.
    Version.objects.filter(pk=last.pk)._raw_delete("default")
    return last.commit


def test_a_dangling_ref_log_entry_that_continues_the_head_is_adopted(pusher: Pusher) -> None:
    pusher.push(class_files())
    pusher.push({"x.png": png(9)}, message="second")
    branch = Branch.objects.select_related("head", "dataset__project").get()
    lost = rewind(branch)

    settle_branch(branch.dataset, "main")

    branch.refresh_from_db()
    assert branch.head is not None
    assert (branch.head.commit, branch.head.number) == (lost, 2)
    assert branch.head.message == "second"
    assert (branch.head.added, branch.seq) == (1, 2)


def test_a_dangling_entry_whose_commit_is_missing_is_void(pusher: Pusher) -> None:
    pusher.push(class_files())
    branch = Branch.objects.select_related("head", "dataset__project").get()
    head = branch.head
    assert head is not None
    move = ref_log.RefMove(2, head.commit, "ab" * 32, 2, "", "2024-01-01T00:00:00Z")
    ref_log.write_move(branch, move)

    settle_branch(branch.dataset, "main")
    version = pusher.push({"x.png": png(9)})

    branch.refresh_from_db()
    assert version["number"] == 2
    entry = ref_log.read_move(branch, 2)
    assert entry is not None
    assert entry.new == version["commit"]


def test_every_move_is_in_the_ref_log_before_it_counts(pusher: Pusher) -> None:
    first = pusher.push(class_files())
    second = pusher.push({"x.png": png(9)})
    branch = Branch.objects.select_related("dataset__project").get()

    moves = [ref_log.read_move(branch, seq) for seq in (1, 2)]

    assert [move and (move.old, move.new, move.number) for move in moves] == [
        ("", first["commit"], 1),
        (first["commit"], second["commit"], 2),
    ]
    assert ref_log.read_move(branch, 3) is None


def test_the_beat_sends_stuck_work_again(pusher: Pusher) -> None:
    request = prepared_commit(pusher, class_files())
    CommitRequest.objects.filter(pk=request.pk).update(updated_at="2024-01-01T00:00:00Z")

    recover()

    request.refresh_from_db()
    assert request.state == "published"


def test_fresh_work_is_left_to_its_worker(pusher: Pusher) -> None:
    request = prepared_commit(pusher, class_files())

    recover()

    request.refresh_from_db()
    assert request.state == "pending"


@pytest.mark.django_db(transaction=True)
def test_work_that_another_worker_is_at_is_left_to_it(pusher: Pusher) -> None:
    request = prepared_commit(pusher, class_files())
    CommitRequest.objects.update(updated_at="2024-01-01T00:00:00Z")
    with held_by_another_worker(request.pk):
        recover()
        assert CommitRequest.objects.get().state == "pending"
    assert run_commit(request.pk).state == "published"


@pytest.mark.parametrize("state", ["uploaded", "verifying"])
def test_a_commit_verifies_what_no_worker_is_at(pusher: Pusher, state: str) -> None:
    pack = make_pack(class_files())
    upload = Upload.objects.get(pk=pusher.upload(pack.data)["id"])
    # As when the message of its task was lost, or its worker died.
    storage.objects().put(upload.key, pack.data)
    Upload.objects.update(state=state)
    Pack.objects.update(state="verifying")

    request = pusher.commit(put_rows(pack))

    assert request["state"] == "published"
    assert Pack.objects.get().state == "verified"


@pytest.mark.django_db(transaction=True)
def test_a_commit_waits_for_changes_that_another_worker_verifies(pusher: Pusher) -> None:
    request = prepared_commit(pusher, class_files())
    upload_id = request.changes_upload_id
    assert upload_id is not None
    Upload.objects.filter(pk=upload_id).update(state="verifying")
    with held_by_another_worker(upload_id), pytest.raises(PacksOnTheWay):
        run_commit(request.pk)
    Upload.objects.filter(pk=upload_id).update(state="verified")
    assert run_commit(request.pk).state == "published"


@contextmanager
def held_by_another_worker(work: UUID) -> Iterator[None]:
    """Hold the lock on a piece of work through a connection of another thread."""
    with held_by_another_thread(lambda: only_worker(work)):
        yield


@contextmanager
def held_by_another_thread(lock: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
    """Hold a lock through a connection of another thread."""
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with lock() as mine:
                assert mine is not False
                held.set()
                over.wait()
        finally:
            connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(10)
    try:
        yield
    finally:
        over.set()
        thread.join()
