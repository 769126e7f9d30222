"""Faults during a push: wrong digests, cuts and races."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from blake3 import blake3
from django.db import connection

from atom.core import storage
from atom.datasets.commit_runner import run_commit
from atom.datasets.commits.actions.branches import BranchMove
from atom.datasets.models import CommitRequest, Dataset, Pack, Version
from atom.datasets.packs.actions.uploads import UploadRequest, start_upload
from tests.datasets.pushing import (
    Pusher,
    changes_file,
    class_files,
    corrupted,
    make_pack,
    png,
    prepared_commit,
    put_rows,
)


def test_a_digest_that_lies_is_quarantined_with_its_reason(pusher: Pusher) -> None:
    pack = make_pack({"a.png": png(1)})
    lie = blake3(b"something else").hexdigest()

    upload = pusher.upload(pack.data, digest=lie)

    assert upload["state"] == "quarantined"
    assert upload["error"]["code"] == "pack_digest_mismatch"
    assert upload["error"]["action"].startswith("Push again")
    assert lie in upload["error"]["detail"]
    assert Pack.objects.get(digest=lie).state == "quarantined"
    assert not storage.objects().exists(f"staging/{upload['id']}")
    prefix = storage.project_prefix(pusher.project)
    assert not storage.objects().exists(f"{prefix}packs/{lie}.tar")


def test_a_corrupted_pack_is_quarantined_and_cannot_be_committed(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    bad = corrupted(pack, pack.members[3].offset + 5)

    upload = pusher.upload(bad, digest=pack.digest)
    request = pusher.commit(put_rows(pack))

    assert upload["state"] == "quarantined"
    assert request["state"] == "failed"
    assert request["error"]["code"] == "pack_not_verified"
    assert pack.digest in request["error"]["detail"]


def test_a_pack_whose_header_lies_names_the_member(pusher: Pusher) -> None:
    pack = make_pack({"a.png": png(1), "b.png": png(2)})
    bad = corrupted(pack, pack.members[1].offset - 1)

    upload = pusher.upload(bad)

    assert upload["error"]["code"] == "pack_header"
    assert "a.png" in upload["error"]["detail"] or "b.png" in upload["error"]["detail"]


def test_the_right_pack_may_be_pushed_after_a_lie(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.upload(corrupted(pack, 4096), digest=pack.digest)

    assert pusher.upload(pack.data)["state"] == "verified"
    assert Pack.objects.get(digest=pack.digest).state == "verified"


def test_a_cut_off_push_goes_on_where_it_stopped(
    pusher: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S3 allows parts from 5 MiB on.
    monkeypatch.setattr("atom.datasets.packs.actions.uploads.PART_BYTES", 5 << 20)
    pack = make_pack({"big.bin": bytes(range(256)) * (48 << 10)})
    upload = pusher.begin(pack.data)
    pusher.send_part(upload, 1, pack.data)
    pusher.send_part(upload, 3, pack.data)

    resumed = pusher.begin(pack.data)

    assert resumed["id"] == upload["id"]
    done = {part["n"]: part["etag"] for part in resumed["parts_done"]}
    assert sorted(done) == [1, 3]
    early = pusher.client.post(
        f"{pusher.base}uploads/{upload['id']}/complete/",
        {"parts": [{"n": n, "etag": etag} for n, etag in done.items()]},
    )
    assert (early.status_code, early.json()["code"]) == (409, "upload_incomplete")
    assert early.json()["parts"] == [2]
    done[2] = pusher.send_part(resumed, 2, pack.data)["etag"]
    parts = [{"n": n, "etag": etag} for n, etag in sorted(done.items())]
    pusher.post(f"uploads/{upload['id']}/complete/", {"parts": parts})
    assert pusher.get(f"uploads/{upload['id']}/")["state"] == "verified"


def test_a_part_that_was_sent_wrongly_before_or_after_does_no_harm(pusher: Pusher) -> None:
    """The store lists all parts of one number, in no order."""
    for number in range(6):
        data = make_pack({"a.png": png(100 + number)}).data
        upload = pusher.begin(data)
        for wrong in (data[:-1] + b"x", data[:1000], data + b"more"):
            pusher.send_part(upload, 1, wrong)
        right = pusher.send_part(upload, 1, data)
        pusher.send_part(upload, 1, b"y" + data[1:])
        pusher.post(f"uploads/{upload['id']}/complete/", {"parts": [right]})
        assert pusher.get(f"uploads/{upload['id']}/")["state"] == "verified"


def test_a_part_of_another_length_is_not_joined(pusher: Pusher) -> None:
    data = make_pack({"a.png": png(2)}).data
    upload = pusher.begin(data)
    short = pusher.send_part(upload, 1, data[:1000])
    address = f"{pusher.base}uploads/{upload['id']}/complete/"
    refused = pusher.client.post(address, {"parts": [short]})
    assert (refused.status_code, refused.json()["parts"]) == (409, [1])
    assert pusher.get(f"uploads/{upload['id']}/")["state"] == "open"


def test_completing_twice_is_the_same_as_once(pusher: Pusher) -> None:
    data = make_pack({"a.png": png(1)}).data
    upload = pusher.begin(data)
    parts = {"parts": [pusher.send_part(upload, 1, data)]}
    pusher.post(f"uploads/{upload['id']}/complete/", parts)

    again = pusher.post(f"uploads/{upload['id']}/complete/", parts)

    assert again["state"] == "verified"


@pytest.mark.django_db(transaction=True)
def test_of_two_commits_on_one_head_exactly_one_wins(pusher: Pusher) -> None:
    pusher.push(class_files())
    requests = [prepared_commit(pusher, {f"new{n}.png": png(n)}) for n in range(2)]
    barrier = threading.Barrier(2)

    def build(request: CommitRequest) -> None:
        try:
            barrier.wait()
            run_commit(request.pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=build, args=(request,)) for request in requests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for request in requests:
        request.refresh_from_db()
    assert sorted(request.state for request in requests) == ["conflict", "published"]
    loser = next(request for request in requests if request.state == "conflict")
    winner = next(request for request in requests if request.state == "published")
    assert winner.version is not None
    assert loser.error_code == "head_moved"
    assert loser.head_seen == winner.version.commit
    assert Version.objects.count() == 2


def test_a_commit_on_an_old_head_conflicts_and_names_the_new_one(pusher: Pusher) -> None:
    old = pusher.push(class_files())["commit"]
    new = pusher.push({"x.png": png(9)})["commit"]
    pack = make_pack({"y.png": png(10)})
    pusher.upload(pack.data)

    request = pusher.commit(put_rows(pack), expected_head=old)

    assert request["state"] == "conflict"
    assert (request["error"]["code"], request["error"]["head"]) == ("head_moved", new)
    assert "new head" in request["error"]["action"]
    assert pusher.commit(put_rows(pack), expected_head=new)["state"] == "published"


def test_the_same_idempotency_key_commits_once(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.upload(pack.data)
    changes = pusher.upload(changes_file(put_rows(pack)), "changes")
    body = {"changes_upload": changes["id"], "message": "once"}
    headers = {"Idempotency-Key": "k1"}

    answers = [
        pusher.client.post(f"{pusher.base}commits/", body, headers=headers) for _ in range(2)
    ]

    assert answers[0].json()["id"] == answers[1].json()["id"]
    assert CommitRequest.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_clients_that_begin_the_same_upload_share_it(pusher: Pusher) -> None:
    data = make_pack({"a.png": png(1)}).data
    digest = blake3(data).hexdigest()
    dataset = Dataset.objects.get(project=pusher.project)
    found: list[Any] = []
    barrier = threading.Barrier(2)

    def begin() -> None:
        try:
            barrier.wait()
            wanted = UploadRequest("pack", digest, len(data))
            found.append(start_upload(dataset, wanted, pusher.user).pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=begin) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 2
    assert len(set(found)) == 1


def test_a_moved_branch_is_refused_by_the_lock_itself(pusher: Pusher) -> None:
    from atom.datasets.commits.actions.branches import move_branch
    from atom.datasets.errors import HeadMoved

    first = pusher.push(class_files())
    second = pusher.push({"x.png": png(9)})
    dataset = Dataset.objects.select_related("project").get(project=pusher.project)
    move = BranchMove(dataset, "main", first["commit"], "cd" * 32)

    with pytest.raises(HeadMoved) as caught:
        move_branch(move)

    assert caught.value.extra["head"] == second["commit"]
