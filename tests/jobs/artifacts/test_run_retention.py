"""Logs and outputs of runs go after a notice; what anything else needs, and starred runs, stay."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent, Project
from atom.core import clock, storage
from atom.jobs import states
from atom.jobs.artifacts.actions.run_retention import apply_run_retention
from atom.jobs.models import Artifact, Attempt, LogChunk, LogStream, Run, RunFile, RunKeeping
from tests.factories.accounts import make_member, make_project, make_user
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project()


def client_of(user: Any) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def leave_output(run: Run, attempt: Attempt, path: str) -> str:
    """Store an output of the run; return the key that all of them share."""
    key = f"p/{run.project_id}/runs/{run.pk}/outputs/x"
    storage.objects().put(key, b"abc")
    Artifact.objects.create(
        run=run, attempt=attempt, path=path, size_bytes=3, sha256="0" * 64, kind="output",
        key=key, state=states.PERSISTED,
    )  # fmt: skip
    return key


def ended(project: Project, days_ago: int, **fields: Any) -> Run:
    """Return a run that ended so long ago and left a log and two outputs of the same bytes."""
    at = clock.now() - timedelta(days=days_ago)
    run = make_run(project, finished_at=at, **fields)
    attempt = make_attempt(run, states.SUCCEEDED, finished_at=at, log_complete=True)
    for path in ("a.bin", "b.bin"):
        key = leave_output(run, attempt, path)
    stream = LogStream.objects.create(attempt=attempt, flushed_bytes=5, eof_bytes=5)
    storage.objects().put(f"{key}.log", b"12345")
    LogChunk.objects.create(
        stream=stream, seq=0, byte_start=0, byte_end=5, line_start=0, line_end=1, first_ts_ns=0,
        key=f"{key}.log", compressed_bytes=5,
    )  # fmt: skip
    return run


def set_days(project: Project, days: int | None) -> dict[str, Any]:
    client = client_of(make_member(project, "admin"))
    address = f"/api/v1/projects/{project.slug}/run-retention/"
    answer = client.put(address, {"days": days}, format="json")
    assert answer.status_code == 200, answer.json()
    return dict(answer.json())


def let_notice_pass() -> None:
    apply_run_retention()
    RunKeeping.objects.filter(due_at__isnull=False).update(due_at=F("due_at") - timedelta(days=4))
    apply_run_retention()


def files_of(run: Run) -> set[str]:
    return set(run.artifacts.values_list("path", flat=True))


def test_logs_and_outputs_go_after_the_notice_and_the_run_stays(project: Project) -> None:
    old, young = ended(project, 40), ended(project, 5)
    found = set_days(project, 30)
    assert (found["due_count"], found["due_bytes"]) == (1, 11)
    assert [row["number"] for row in found["due"]] == [old.number]

    apply_run_retention()
    reader = client_of(make_member(project))
    said = reader.get(f"/api/v1/runs/{old.pk}/retention/").json()
    assert said["due_at"] > clock.now().isoformat()
    assert files_of(old) == {"a.bin", "b.bin"}

    let_notice_pass()
    said = reader.get(f"/api/v1/runs/{old.pk}/retention/").json()
    assert (said["due_at"], said["removed_bytes"], said["project_days"]) == (None, 11, 30)
    assert (files_of(old), files_of(young)) == (set(), {"a.bin", "b.bin"})
    key = f"p/{project.pk}/runs/{old.pk}/outputs/x"
    assert storage.objects().head_or_none(key) is None
    assert reader.get(f"/api/v1/runs/{old.pk}/logs/").status_code == 200
    event = AuditEvent.objects.get(verb="run.outputs_removed")
    assert (event.data["number"], event.data["bytes"]) == (old.number, 11)
    # Done is done.
    let_notice_pass()
    assert AuditEvent.objects.filter(verb="run.outputs_removed").count() == 1


def test_what_a_retry_leaves_goes_too(project: Project) -> None:
    run = ended(project, 40)
    Run.objects.filter(pk=run.pk).update(state=states.FAILED)
    set_days(project, 30)
    let_notice_pass()
    assert files_of(run) == set()

    writer = client_of(make_member(project, "researcher"))
    assert writer.post(f"/api/v1/runs/{run.pk}/retry/").status_code == 200
    said = writer.get(f"/api/v1/runs/{run.pk}/retention/").json()
    assert (said["removed_at"], said["removed_bytes"]) == (None, 0)

    at = clock.now() - timedelta(days=35)
    attempt = make_attempt(run, states.SUCCEEDED, finished_at=at, log_complete=True)
    leave_output(run, attempt, "c.bin")
    Run.objects.filter(pk=run.pk).update(state=states.SUCCEEDED, finished_at=at)
    let_notice_pass()
    assert files_of(run) == set()
    assert AuditEvent.objects.filter(verb="run.outputs_removed").count() == 2


def test_what_is_starred_kept_or_needed_stays(project: Project) -> None:
    starred, kept, read = ended(project, 40, starred=True), ended(project, 40), ended(project, 40)
    needed = read.artifacts.get(path="b.bin")
    RunFile.objects.create(run=starred, alias="m", reference="m@v1", path="m", artifact=needed)
    running = ended(project, 40)
    Run.objects.filter(pk=running.pk).update(state=states.RUNNING)
    set_days(project, 30)
    apply_run_retention()
    researcher = client_of(make_member(project, "researcher"))
    answer = researcher.put(f"/api/v1/runs/{kept.pk}/retention/", {"days": 9}, format="json")
    assert (answer.json()["due_at"], answer.status_code) == (None, 200)

    let_notice_pass()

    assert [len(files_of(run)) for run in (starred, kept, running)] == [2, 2, 2]
    assert files_of(read) == {"b.bin"}
    # The two files shared one object, which the other one still needs.
    assert storage.objects().head_or_none(needed.key) is not None


def test_a_run_may_be_kept_for_less_and_a_policy_taken_back(project: Project) -> None:
    run, old = ended(project, 1), ended(project, 40)
    set_days(project, 30)
    apply_run_retention()
    set_days(project, None)
    researcher = client_of(make_member(project, "researcher"))
    researcher.put(f"/api/v1/runs/{run.pk}/retention/", {"days": 1}, format="json")
    RunKeeping.objects.filter(run=run).update(until=clock.now() - timedelta(hours=1))

    let_notice_pass()

    assert (files_of(run), files_of(old)) == (set(), {"a.bin", "b.bin"})


def test_who_may_and_what_is_no_number_of_days(project: Project) -> None:
    run = ended(project, 1)
    of_project, of_run = (
        f"/api/v1/projects/{project.slug}/run-retention/",
        f"/api/v1/runs/{run.pk}/retention/",
    )
    reader, stranger = client_of(make_member(project)), client_of(make_user())
    assert reader.put(of_project, {"days": 3}, format="json").status_code == 403
    assert reader.put(of_run, {"days": 3}, format="json").status_code == 403
    assert {stranger.get(of_project).status_code, stranger.get(of_run).status_code} == {404}
    admin = client_of(make_member(project, "admin"))
    wrong: tuple[Any, ...] = ({"days": 0}, {"days": "x"}, {}, {"days": 10**9}, [])
    for body in wrong:
        assert admin.put(of_project, body, format="json").status_code == 400, body
    assert reader.get(of_project, {"days": "-1"}).status_code == 400
    assert reader.get(of_project, {"days": "0"}).json()["days"] is None
    assert reader.get(of_project, {"days": "5"}).json()["due_count"] == 0
