"""Machines whose clocks are an hour off, each its own way, keep each other's leases and expiries.

The first writes, the second compares; the database's clock is right.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from atom.accounts.actions import create_s3_key_pair, create_token
from atom.accounts.authentication import find_token
from atom.accounts.models import S3KeyPair
from atom.cache.warming.actions.warming import recover, request_warm
from atom.clusters.actions import beat_local_node, ensure_local_node
from atom.clusters.models import Node
from atom.clusters.node_health import is_silent
from atom.clusters.states import SILENT_AFTER
from atom.core import clock
from atom.datasets import tasks
from atom.datasets.models import Branch, CommitRequest, Source, SourceScan, Upload, Writer
from atom.datasets.sources.actions.scans import lost_scans
from atom.datasets.writers.actions.staging_branches import abandon_left_alone
from atom.datasets.writers.actions.writers import NewWriter, open_writer
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import attempts
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record
from atom.jobs.failures.engines.failures import ExitReport
from atom.jobs.logs.actions import logs
from atom.jobs.models import Artifact, Rank, Runtime
from atom.jobs.runtimes.actions import runtimes
from atom.labeling.actions.leases import expire_leases, lease_labels
from atom_sdk.runner import frames
from atom_sdk.runner.frames import Frame
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run
from tests.factories.labeling import make_task

pytestmark = pytest.mark.django_db
HALF_AN_HOUR = timedelta(minutes=30)
Machine = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Machines:
    """Two machines: code inside `with first():` runs on a machine whose clock is off."""

    first: Machine
    second: Machine


@pytest.fixture(params=[1, -1], ids=["writer_ahead", "writer_behind"])
def machines(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Machines:
    """Two machines, two hours apart."""

    def off_by(hours: int) -> Machine:
        now, seconds = timezone.now, time.time

        @contextmanager
        def machine() -> Iterator[None]:
            with monkeypatch.context() as patch:
                patch.setattr(timezone, "now", lambda: now() + timedelta(hours=hours))
                patch.setattr(time, "time", lambda: seconds() + 3600 * hours)
                yield

        return machine

    return Machines(off_by(request.param), off_by(-request.param))


def test_rows_have_the_times_of_the_database(machines: Machines) -> None:
    began = clock.now()
    with machines.first():
        project = make_project()
        made = (project.created_at, project.updated_at)
        project.save()
    assert began < made[0] <= made[1] < project.updated_at < clock.now()
    project.refresh_from_db()
    assert (project.created_at, project.updated_at > made[1]) == (made[0], True)


def test_rows_that_are_added_together_may_be_given_their_time(machines: Machines) -> None:
    at = clock.now() - HALF_AN_HOUR
    dataset = make_dataset()
    rows = [Branch(dataset=dataset, name=f"b{n}", created_at=at, updated_at=at) for n in range(2)]
    with machines.first():
        Branch.objects.bulk_create([*rows, Branch(dataset=dataset, name="late")])
    times = dataset.branches.exclude(name="main").order_by("name").values_list("created_at")
    assert [time for (time,) in times][:2] == [at, at]
    assert at + HALF_AN_HOUR < times[2][0] < clock.now()


def test_a_machine_that_beats_is_not_silent_and_one_that_stopped_is(machines: Machines) -> None:
    with machines.first():
        beat_local_node()
    with machines.second():
        assert not is_silent(ensure_local_node())
    Node.objects.update(heartbeat_at=clock.now() - SILENT_AFTER - timedelta(seconds=1))
    with machines.second():
        assert is_silent(ensure_local_node())


def test_keys_are_good_until_they_expire_and_no_longer(machines: Machines) -> None:
    project = make_project()
    user = make_member(project)
    ends = {"good": clock.now() + HALF_AN_HOUR, "over": clock.now() - HALF_AN_HOUR}
    with machines.first():
        tokens = {
            name: create_token(user, name, ["read"], None, at).secret for name, at in ends.items()
        }
        for name, at in ends.items():
            create_s3_key_pair(user, name, project, at)
    with machines.second():
        found = {name: find_token(secret) is not None for name, secret in tokens.items()}
        pairs = [pair.name for pair in S3KeyPair.objects.in_force()]
    assert (found, pairs) == ({"good": True, "over": False}, ["good"])


def test_a_runs_token_is_good_between_two_heartbeats(machines: Machines) -> None:
    attempt = make_attempt()
    with machines.first():
        token = attempts.issue_token(attempt)
    with machines.second():
        rank = attempts.find_by_token(token)
        assert rank == attempt.ranks.get()
        attempts.beat(rank)
    with machines.first():
        assert attempts.find_by_token(token) == rank
    Rank.objects.update(token_expires_at=clock.now() - HALF_AN_HOUR)
    with machines.second():
        assert attempts.find_by_token(token) is None


def test_what_one_worker_is_at_no_other_takes(
    machines: Machines, django_capture_on_commit_callbacks: Any
) -> None:
    runtime = Runtime.objects.create(digest="d", requirements="", python="3")
    attempt = make_attempt()
    artifact = Artifact.objects.create(
        run=attempt.run, attempt=attempt, path="a", size_bytes=1, sha256="", key="", kind="output"
    )
    version = make_version(make_dataset(), {"a.png": None})
    with machines.first():
        assert runtimes.claim(runtime.pk) is not None
        request_warm(version, ensure_local_node())
        Artifact.objects.filter(pk=artifact.pk).update(verify_asked_at=clock.now())
    with machines.second(), django_capture_on_commit_callbacks() as sent:
        assert runtimes.claim(runtime.pk) is None
        runtimes.nudge_build(Runtime.objects.get())
        assert recover() == 0
    assert sent == []


def test_work_that_began_just_now_is_not_given_up(
    machines: Machines, django_capture_on_commit_callbacks: Any
) -> None:
    dataset = make_dataset()
    source = Source.objects.create(
        project=dataset.project, dataset=dataset, name="s", url="s3://b/", state="scanning"
    )
    with machines.first():
        request = CommitRequest.objects.create(
            dataset=dataset, branch="main", operation="edit", state="building"
        )
        SourceScan.objects.create(source=source, state="listing")
        Upload.objects.create(
            dataset=dataset, kind="pack", digest="0" * 64, size_bytes=1, part_size_bytes=1,
            state="uploaded",
        )  # fmt: skip
    with machines.second(), django_capture_on_commit_callbacks() as sent:
        assert lost_scans(HALF_AN_HOUR) == []
        tasks.recover()
    request.refresh_from_db()
    assert (request.state, sent) == ("building", [])


def test_work_whose_worker_died_is_taken_up(
    machines: Machines, django_capture_on_commit_callbacks: Any
) -> None:
    with machines.first():
        CommitRequest.objects.create(
            dataset=make_dataset(), branch="main", operation="edit", state="building"
        )
    CommitRequest.objects.update(updated_at=clock.now() - 2 * tasks.STUCK_AFTER)
    with machines.second(), django_capture_on_commit_callbacks() as sent:
        tasks.recover()
    with machines.first(), django_capture_on_commit_callbacks() as again:
        tasks.recover()
    assert (len(sent), len(again)) == (1, 0)


def test_a_writer_that_somebody_uses_is_not_left_alone(machines: Machines) -> None:
    dataset = make_dataset()
    with machines.first():
        open_writer(dataset, NewWriter("main"), make_member(dataset.project, "researcher"))
    with machines.second():
        abandon_left_alone(HALF_AN_HOUR)
    assert Writer.objects.get().state == "writing"


def test_retries_are_counted_from_the_last_start_by_a_person(machines: Machines) -> None:
    with machines.first():
        run = make_run(max_retries=1)
        record(run, EventKind.CREATED, "The run was created.")
    ends = []
    for _ in range(2):
        with machines.second():
            attempt = make_attempt(run, states.RUNNING)
            attempts.note_exit(attempt.pk, ExitReport("runner_lost"), {"no_more": True})
            ends.append(reconcile.advance(run.pk))
    assert ends == [states.RETRY_WAIT, states.FAILED]
    with machines.first():
        record(run, EventKind.RETRIED, "Again.")
    with machines.second():
        attempt = make_attempt(run, states.RUNNING)
        attempts.note_exit(attempt.pk, ExitReport("runner_lost"), {"no_more": True})
        assert reconcile.advance(run.pk) == states.RETRY_WAIT


def test_a_labelers_lease_is_kept(machines: Machines) -> None:
    task = make_task(2)
    labeler = make_member(task.project, "labeler")
    with machines.first():
        assert len(lease_labels(task, labeler, 2)) == 2
    with machines.second():
        assert expire_leases() == 0


def test_a_young_log_is_not_cut_into_small_pieces(machines: Machines) -> None:
    attempt = make_attempt()
    with machines.first():
        logs.append(attempt, 0, frames.encode([Frame(1, 0, 5, 1, b"one\n")]))
    with machines.second():
        assert not logs.is_due(logs.stream_of(attempt))


def test_a_machine_that_would_sign_useless_addresses_is_not_ready(machines: Machines) -> None:
    assert APIClient().get("/readyz").status_code == 200
    with machines.first():
        answer = APIClient().get("/readyz")
    parts = answer.json()["parts"]
    assert answer.status_code == 503
    assert [name for name, part in parts.items() if not part["ok"]] == ["clock"]
    assert "3600 s off" in parts["clock"]["detail"]
