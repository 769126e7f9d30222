"""Outputs: announced, put, verified by a worker, only then durable."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest
from blake3 import blake3
from django.db import connection, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from atom.core import storage
from atom.jobs import states
from atom.jobs.artifacts.actions import outputs
from atom.jobs.attempts.actions import attempts, finalize
from atom.jobs.attempts.actions.job_spec import job_of
from atom.jobs.failures.engines import failures
from atom.jobs.models import Artifact, Attempt
from tests.factories.accounts import make_member
from tests.factories.jobs import make_attempt, runner_headers

pytestmark = pytest.mark.django_db


def described(path: str, data: bytes, **fields: Any) -> dict[str, Any]:
    sha256 = hashlib.sha256(data).hexdigest()
    return {"path": path, "size_bytes": len(data), "sha256": sha256, "kind": "output", **fields}


def presign(attempt: Attempt, *files: dict[str, Any]) -> list[dict[str, Any]]:
    answer = APIClient().post(
        "/api/v1/runner/outputs/presign/", {"files": files}, headers=runner_headers(attempt)
    )
    assert answer.status_code == 200, answer.json()
    uploads: list[dict[str, Any]] = answer.json()["uploads"]
    return uploads


def complete(attempt: Attempt, *ids: str) -> Any:
    return APIClient().post(
        "/api/v1/runner/outputs/complete/", {"ids": ids}, headers=runner_headers(attempt)
    )


def store(attempt: Attempt, path: str, data: bytes, **fields: Any) -> Artifact:
    """Send one file as a runner does, the worker's part included."""
    (upload,) = presign(attempt, described(path, data, **fields))
    if upload["url"]:
        httpx.put(upload["url"], content=data).raise_for_status()
        assert complete(attempt, upload["id"]).status_code == 200
        outputs.verify(Artifact.objects.get(pk=upload["id"]).pk)
    return Artifact.objects.get(pk=upload["id"])


def test_a_file_is_durable_once_its_bytes_are_verified() -> None:
    attempt = make_attempt()
    artifact = store(attempt, "result.txt", b"42")
    assert artifact.state == states.PERSISTED
    assert artifact.digest == blake3(b"42").hexdigest()
    assert storage.objects().get(artifact.key) == b"42"
    assert not storage.objects().exists(outputs.staging_key(artifact))
    api = APIClient()
    api.force_authenticate(make_member(attempt.run.project))
    (listed,) = api.get(f"/api/v1/runs/{attempt.run_id}/files/").json()["results"]
    assert httpx.get(listed["download_url"]).content == b"42"


def test_a_file_that_has_not_arrived_is_not_complete() -> None:
    attempt = make_attempt()
    (upload,) = presign(attempt, described("result.txt", b"42"))
    answer = complete(attempt, upload["id"])
    assert (answer.status_code, answer.json()["code"]) == (409, "output_incomplete")


def test_bytes_that_are_not_what_was_announced_are_refused() -> None:
    attempt = make_attempt()
    (upload,) = presign(attempt, described("result.txt", b"42"))
    httpx.put(upload["url"], content=b"43").raise_for_status()
    complete(attempt, upload["id"])
    artifact = Artifact.objects.get(pk=upload["id"])
    outputs.verify(artifact.pk)
    artifact.refresh_from_db()
    assert artifact.state == states.FAILED
    assert attempt.run.events.filter(kind="output_refused").exists()
    httpx.put(presign(attempt, described("result.txt", b"42"))[0]["url"], content=b"42")
    complete(attempt, upload["id"])
    outputs.verify(artifact.pk)
    artifact.refresh_from_db()
    assert artifact.state == states.PERSISTED


def test_bytes_that_the_run_has_stored_are_not_sent_again() -> None:
    first = make_attempt()
    stored = store(first, "model/a.bin", b"weights", kind="model")
    second = make_attempt(first.run)
    again = store(second, "model/b.bin", b"weights", kind="model")
    assert again.state == states.PERSISTED
    assert again.key == stored.key


def test_a_runner_cannot_write_over_a_durable_file() -> None:
    attempt = make_attempt()
    (upload,) = presign(attempt, described("result.txt", b"42"))
    httpx.put(upload["url"], content=b"42").raise_for_status()
    complete(attempt, upload["id"])
    artifact = Artifact.objects.get(pk=upload["id"])
    outputs.verify(artifact.pk)
    httpx.put(upload["url"], content=b"43").raise_for_status()
    artifact.refresh_from_db()
    assert storage.objects().get(artifact.key) == b"42"


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../b", "nul\0"])
def test_a_path_that_leaves_the_folder_is_refused(path: str) -> None:
    answer = APIClient().post(
        "/api/v1/runner/outputs/presign/",
        {"files": [described(path, b"1")]},
        headers=runner_headers(make_attempt()),
    )
    assert answer.status_code == 400


def checkpoint(step: int, name: str) -> dict[str, Any]:
    return {"path": f"checkpoints/step-{step}/{name}", "kind": "checkpoint", "step": step}


def test_the_latest_checkpoint_is_the_newest_that_is_whole() -> None:
    attempt = make_attempt()
    assert outputs.latest_checkpoint(attempt.run) is None
    for step in (10, 20):
        for name in ("weights", "optimizer"):
            fields = checkpoint(step, name)
            store(attempt, fields.pop("path"), f"{name}{step}".encode(), **fields)
    fields = checkpoint(30, "weights")
    store(attempt, fields.pop("path"), b"weights30", **fields)
    presign(attempt, {**described("", b"late"), **checkpoint(30, "optimizer")})
    found = outputs.latest_checkpoint(attempt.run)
    assert found is not None
    assert found.step == 20
    resume = job_of(attempt)["resume"]
    assert resume["step"] == 20
    contents = {file["path"]: httpx.get(file["url"]).content for file in resume["files"]}
    assert contents == {
        "checkpoints/step-20/optimizer": b"optimizer20",
        "checkpoints/step-20/weights": b"weights20",
    }


def send(attempt: Attempt, step: int, *names: str, data: bytes = b"") -> None:
    """Announce a checkpoint as a whole, as runners do, and have each of its files verified."""
    files = [
        (data or f"{name}{step}".encode(), {**checkpoint(step, name)}) for name in sorted(names)
    ]
    described_files = [described(fields.pop("path"), one, **fields) for one, fields in files]
    for upload, (one, _) in zip(presign(attempt, *described_files), files, strict=True):
        if upload["url"]:
            httpx.put(upload["url"], content=one).raise_for_status()
            assert complete(attempt, upload["id"]).status_code == 200
            outputs.verify(Artifact.objects.get(pk=upload["id"]).pk)


def told_steps(attempt: Attempt) -> list[int]:
    rows = attempt.run.events.filter(kind="checkpoint").order_by("id")
    return [row.data["step"] for row in rows]


def test_every_checkpoint_among_the_files_is_told_once_whatever_order_they_come_in() -> None:
    attempt = make_attempt()
    send(attempt, 10, "weights", "optimizer")
    # The command has ended: the newest is sent first.
    send(attempt, 30, "weights", "optimizer")
    send(attempt, 20, "weights", "optimizer")
    assert told_steps(attempt) == [10, 30, 20]
    assert [row.data["size_bytes"] for row in attempt.run.events.filter(kind="checkpoint")] == [
        len(b"weights10optimizer10"),
        len(b"weights30optimizer30"),
        len(b"weights20optimizer20"),
    ]
    found = outputs.latest_checkpoint(attempt.run)
    assert found is not None
    assert found.step == 30


def test_a_checkpoint_whose_bytes_were_stored_before_is_told_too() -> None:
    first = make_attempt()
    send(first, 10, "weights", data=b"the same")
    send(first, 10, "weights", data=b"the same")
    send(first, 20, "weights", data=b"the same")
    assert told_steps(first) == [10, 20]


@pytest.mark.django_db(transaction=True)
def test_a_checkpoint_whose_last_two_files_are_settled_at_once_is_told_once() -> None:
    attempt = make_attempt()
    files = [described(**checkpoint(10, name), data=b"1") for name in ("optimizer", "weights")]
    first, second = (Artifact.objects.get(pk=one["id"]) for one in presign(attempt, *files))

    def settle_second() -> None:
        outputs._settle(second, states.PERSISTED, key="k")
        connection.close()

    with ThreadPoolExecutor(1) as other:
        with transaction.atomic():
            outputs._settle(first, states.PERSISTED, key="k")
            settled = other.submit(settle_second)
            while not (settled.done() or someone_waits_for_a_lock()):
                pass
        settled.result()
    assert told_steps(attempt) == [10]


def someone_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
        return cursor.fetchone() is not None


def uploaded(attempt: Attempt, path: str, data: bytes) -> Artifact:
    """Send one file as a runner does; the task that verifies it is lost."""
    (upload,) = presign(attempt, described(path, data))
    httpx.put(upload["url"], content=data).raise_for_status()
    assert complete(attempt, upload["id"]).status_code == 200
    return Artifact.objects.get(pk=upload["id"])


def tick_later(commits: Any, artifact: Artifact, **fields: Any) -> Artifact:
    """Tick as beat does after a lease's time, and run what is asked for."""
    long_ago = timezone.now() - outputs.LEASE - timedelta(seconds=1)
    Artifact.objects.filter(pk=artifact.pk).update(verify_asked_at=long_ago, **fields)
    with commits(execute=True):
        outputs.verify_stalled()
    artifact.refresh_from_db()
    return artifact


def test_a_file_whose_task_was_lost_is_verified_by_a_later_tick(
    django_capture_on_commit_callbacks: Any,
) -> None:
    artifact = uploaded(make_attempt(), "result.txt", b"42")
    with django_capture_on_commit_callbacks() as asked:
        outputs.verify_stalled()
    assert asked == []
    assert artifact.state == states.LOCAL
    artifact = tick_later(django_capture_on_commit_callbacks, artifact)
    assert (artifact.state, artifact.verify_asked_at) == (states.PERSISTED, None)


def test_a_file_whose_worker_died_is_verified_again_and_never_by_two_at_once(
    django_capture_on_commit_callbacks: Any,
) -> None:
    artifact = uploaded(make_attempt(), "result.txt", b"42")
    alive = timezone.now() + timedelta(seconds=5)
    artifact = tick_later(django_capture_on_commit_callbacks, artifact, claimed_until=alive)
    outputs.verify(artifact.pk)
    artifact.refresh_from_db()
    assert artifact.state == states.LOCAL
    dead = timezone.now() - timedelta(seconds=1)
    artifact = tick_later(django_capture_on_commit_callbacks, artifact, claimed_until=dead)
    assert artifact.state == states.PERSISTED


def test_a_file_that_was_never_sent_is_not_waited_for_by_the_tick(
    django_capture_on_commit_callbacks: Any,
) -> None:
    (upload,) = presign(make_attempt(), described("never.txt", b"42"))
    with django_capture_on_commit_callbacks() as asked:
        outputs.verify_stalled()
    assert asked == []
    assert Artifact.objects.get(pk=upload["id"]).verify_asked_at is None


def test_bytes_that_vanish_before_they_are_verified_may_be_sent_again() -> None:
    attempt = make_attempt()
    artifact = uploaded(attempt, "result.txt", b"42")
    storage.objects().delete(outputs.staging_key(artifact))
    outputs.verify(artifact.pk)
    artifact.refresh_from_db()
    assert artifact.state == states.FAILED
    assert store(attempt, "result.txt", b"42").state == states.PERSISTED


@pytest.mark.parametrize(
    ("evidence", "left"),
    [({}, set()), ({"outputs_failed": {"old.txt": "refused"}}, {"old.txt"})],
)
def test_what_was_replaced_before_it_was_sent_does_not_hold_up_the_end(
    evidence: dict[str, Any], left: set[str]
) -> None:
    attempt = make_attempt()
    presign(attempt, described("old.txt", b"41"))
    (upload,) = presign(attempt, described("result.txt", b"42"))
    httpx.put(upload["url"], content=b"42").raise_for_status()
    assert complete(attempt, upload["id"]).status_code == 200
    body = {"exit_code": 0, "signal": None, "reason": "exited", "evidence": evidence}
    answer = APIClient().post("/api/v1/runner/exit/", body, headers=runner_headers(attempt))
    assert answer.status_code == 200
    assert {one.path for one in attempt.artifacts.all()} == {"result.txt"} | left


def test_what_a_killed_runner_announced_and_never_sent_goes_with_its_attempt() -> None:
    attempt = make_attempt()
    presign(attempt, described("unsent.txt", b"41"))
    sent = uploaded(attempt, "sent.txt", b"42")
    run, attempt = attempts.lock(attempt.pk)
    attempts.end_attempt(run, attempt, failures.runner_lost(), {"no_more": True})
    assert finalize.conclude(run, attempt)
    assert {one.path for one in attempt.artifacts.all()} == {"sent.txt"}
    outputs.verify(sent.pk)
    assert attempt.artifacts.get().state == states.PERSISTED


def test_a_file_that_is_forgotten_while_it_is_completed_is_not_acknowledged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attempt = make_attempt()
    (upload,) = presign(attempt, described("late.txt", b"42"))
    httpx.put(upload["url"], content=b"42").raise_for_status()
    head = storage.objects().head_or_none

    def forgotten(key: str) -> Any:
        outputs.forget_unsent(attempt)
        return head(key)

    monkeypatch.setattr(type(storage.objects()), "head_or_none", lambda _, key: forgotten(key))
    answer = complete(attempt, upload["id"])
    assert (answer.status_code, answer.json()["code"]) == (409, "output_incomplete")
