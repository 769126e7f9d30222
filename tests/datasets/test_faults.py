"""What goes wrong: lies, cut-off pushes, races, dead workers, quarantined packs."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from blake3 import blake3
from django.db import connection

from atom.core import storage
from atom.datasets import actions, ref_log
from atom.datasets.actions.branches import BranchMove, settle_branch
from atom.datasets.actions.commits import run_commit
from atom.datasets.actions.uploads import UploadRequest, start_upload
from atom.datasets.actions.verification import verify_upload
from atom.datasets.models import Branch, CommitRequest, Dataset, Pack, Upload, Version
from atom.datasets.tasks import recover
from tests.datasets.pushing import (
    MadePack,
    Pusher,
    changes_file,
    class_files,
    make_pack,
    png,
    put_rows,
)


def corrupted(pack: MadePack, offset: int) -> bytes:
    """Return the pack's bytes with one bit turned."""
    data = bytearray(pack.data)
    data[offset] ^= 1
    return bytes(data)


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
    monkeypatch.setattr("atom.datasets.actions.uploads.PART_BYTES", 5 << 20)
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


def test_completing_twice_is_the_same_as_once(pusher: Pusher) -> None:
    data = make_pack({"a.png": png(1)}).data
    upload = pusher.begin(data)
    parts = {"parts": [pusher.send_part(upload, 1, data)]}
    pusher.post(f"uploads/{upload['id']}/complete/", parts)

    again = pusher.post(f"uploads/{upload['id']}/complete/", parts)

    assert again["state"] == "verified"


def prepared_commit(pusher: Pusher, files: dict[str, bytes]) -> CommitRequest:
    """Return a commit request that no worker has touched."""
    pack = make_pack(files)
    pusher.upload(pack.data)
    upload = pusher.upload(changes_file(put_rows(pack)), "changes")
    dataset = Dataset.objects.get(project=pusher.project)
    return CommitRequest.objects.create(
        dataset=dataset,
        branch="main",
        expected_head=pusher.head() or "",
        changes_upload_id=upload["id"],
        created_by=pusher.user,
    )


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


def test_a_quarantined_pack_is_in_no_manifest(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.push(class_files())

    actions.quarantine_pack(pusher.project, pack.digest, "found damaged")

    manifest = pusher.client.get(f"{pusher.base}versions/v1/manifest/")
    urls = pusher.client.post(f"{pusher.base}versions/v1/pack-urls/", {"packs": [pack.digest]})
    for answer in (manifest, urls):
        assert (answer.status_code, answer.json()["code"]) == (409, "pack_quarantined")
        assert answer.json()["pack"] == pack.digest
    prefix = storage.project_prefix(pusher.project)
    assert not storage.objects().exists(f"{prefix}packs/{pack.digest}.tar")


def test_a_push_is_told_which_packs_are_quarantined(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.push(class_files())
    actions.quarantine_pack(pusher.project, pack.digest, "found damaged")

    manifest = pusher.get("versions/v1/manifest/", with_quarantined="true")

    assert manifest["quarantined_packs"] == [pack.digest]


def test_a_damaged_pack_is_listed_with_its_push_and_what_to_do(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.push(class_files())
    assert pusher.get("quarantined-packs/")["results"] == []

    actions.quarantine_pack(pusher.project, pack.digest, "found damaged")

    (listed,) = pusher.get("quarantined-packs/")["results"]
    assert (listed["digest"], listed["reason"]) == (pack.digest, "found damaged")
    assert listed["found_in"] == "store"
    assert listed["push"]["created_by"]["username"] == pusher.user.username
    assert listed["files_count"] == len(class_files())
    assert listed["paths"] == sorted(class_files())[:3]
    assert "Push" in listed["action"]
    assert pusher.upload(pack.data)["state"] == "verified"
    assert pusher.get("quarantined-packs/")["results"] == []


def test_a_pack_refused_on_its_way_in_is_listed_as_such(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.upload(corrupted(pack, 4096), digest=pack.digest)

    (listed,) = pusher.get("quarantined-packs/")["results"]

    assert (listed["digest"], listed["found_in"]) == (pack.digest, "upload")
    assert (listed["files_count"], listed["paths"]) == (0, [])
    assert listed["reason"]


def test_quarantined_packs_of_another_dataset_are_not_listed(pusher: Pusher) -> None:
    pusher.push(class_files())
    other = Pusher(pusher.project, pusher.user, "other").create()
    pack = make_pack({"a.png": png(77)})
    other.upload(corrupted(pack, 4096), digest=pack.digest)

    assert pusher.get("quarantined-packs/")["results"] == []
    assert len(other.get("quarantined-packs/")["results"]) == 1


def test_the_list_of_quarantined_packs_asks_the_same_questions_for_any_length(
    pusher: Pusher, django_assert_max_num_queries: Any
) -> None:
    for seed in range(6):
        pack = make_pack({"a.png": png(seed)})
        pusher.upload(corrupted(pack, 4096), digest=pack.digest)

    with django_assert_max_num_queries(8):
        assert len(pusher.get("quarantined-packs/")["results"]) == 6


def test_pushing_the_files_again_repairs_a_quarantined_pack(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.push(class_files())
    actions.quarantine_pack(pusher.project, pack.digest, "found damaged")

    assert pusher.upload(pack.data)["state"] == "verified"

    assert pusher.get("versions/v1/manifest/")["commit"]


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
    from atom.datasets.actions.branches import move_branch
    from atom.datasets.errors import HeadMoved

    first = pusher.push(class_files())
    second = pusher.push({"x.png": png(9)})
    dataset = Dataset.objects.select_related("project").get(project=pusher.project)
    move = BranchMove(dataset, "main", first["commit"], "cd" * 32)

    with pytest.raises(HeadMoved) as caught:
        move_branch(move)

    assert caught.value.extra["head"] == second["commit"]
