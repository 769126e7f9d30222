"""The queue of a project: what waits, in which order and why, and what it holds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.clusters.actions import ensure_local_node
from atom.jobs import states
from atom.jobs.attempts.actions import attempts
from atom.jobs.attempts.actions.finalize import conclude
from atom.jobs.models import Run, RunInput
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db
URL = "/api/v1/projects/vision/queue/"


def queue(api: APIClient) -> Any:
    answer = api.get(URL)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def queued(project: Project, minutes_ago: int, **fields: Any) -> Run:
    return make_run(project, queued_at=timezone.now() - timedelta(minutes=minutes_ago), **fields)


def test_runs_wait_in_the_order_in_which_they_are_placed(api: APIClient, project: Project) -> None:
    late = queued(project, 1, cpus=4096)
    queued(make_project("other"), 5)
    early = queued(project, 9)
    urgent = queued(project, 0, priority=5)
    make_run(project, state=states.RETRY_WAIT, retry_at=timezone.now())
    make_run(project, state=states.SUCCEEDED)
    found = queue(api)
    assert [
        (row["run"]["number"], row["position"], row["ahead_elsewhere"]) for row in found["waiting"]
    ][:3] == [(urgent.number, 1, 0), (early.number, 2, 0), (late.number, 4, 1)]
    assert found["waiting"][3]["position"] is None
    assert found["waiting"][3]["explanation"]["code"] == "retry_wait"
    assert (found["waiting_count"], found["waiting_elsewhere"]) == (4, 1)
    reasons = [reason["kind"] for reason in found["waiting"][2]["explanation"]["reasons"]]
    assert reasons == ["queue", "machines"]
    assert found["waiting"][1]["explanation"]["reasons"][0]["params"] == {"ahead": 1}
    assert found["waiting"][0]["explanation"]["code"] == "to_be_placed"


def test_a_run_is_told_whom_it_passes_and_for_whom_machines_are_kept(
    api: APIClient, project: Project
) -> None:
    node = ensure_local_node()
    assert node.cpu_count is not None
    queued(project, 3, cpus=node.cpu_count + 1)
    behind = queued(project, 2)

    def why() -> tuple[str, list[tuple[str, dict[str, Any]]]]:
        answer = api.get(f"/api/v1/runs/{behind.pk}/explain/").json()
        [row] = [row for row in queue(api)["waiting"] if row["run"]["id"] == str(behind.pk)]
        assert row["explanation"] == answer
        told = [(one["kind"], one["params"]) for one in answer["reasons"]]
        return answer["code"], told[:-1]

    assert why() == ("to_be_placed", [("passed", {"passed": 1})])
    # As large as the machine, and waits for longer than others may pass it.
    queued(project, 11, cpus=node.cpu_count)
    assert why() == ("kept_back", [("queue", {"ahead": 1}), ("passed", {"passed": 1})])


def test_what_has_a_machine_is_shown_with_what_it_holds(api: APIClient, project: Project) -> None:
    run = make_run(project, cpus=2, gpus=1)
    make_attempt(run)
    foreign = make_run(make_project("other"), name="not yours")
    make_attempt(foreign)
    # A program elsewhere holds nothing here.
    make_run(project, origin=states.MLFLOW, state=states.RUNNING)
    found = queue(api)
    assert [row["id"] for row in found["holding"]] == [str(run.pk)]
    assert found["held"] == {
        "runs": 1,
        "cpus": 2,
        "memory_bytes": run.memory_bytes,
        "gpus": 1,
    }
    assert found["held_elsewhere"]["runs"] == 1
    assert "not yours" not in str(found)
    stranger = APIClient()
    stranger.force_authenticate(make_member(foreign.project))
    assert stranger.get(URL).status_code == 404


def test_a_long_queue_costs_the_same_queries(api: APIClient, project: Project) -> None:
    version = make_version(make_dataset(project, "digits"), {"a.png": "a"})

    def add() -> None:
        RunInput.objects.create(run=queued(project, 1), alias="d", version=version)
        make_attempt(make_run(project))

    def ask() -> int:
        with CaptureQueriesContext(connection) as queries:
            queue(api)
        return len(queries)

    add()
    few = ask()
    for _ in range(4):
        add()
    assert ask() == few


def test_the_time_that_a_run_took_is_counted_over_its_attempts(
    api: APIClient, project: Project
) -> None:
    run = make_run(project, cpus=4, ran_s=1800)
    attempt = make_attempt(run, states.SUBMITTED)
    attempts.note_started(attempt, None)
    run.refresh_from_db()
    assert run.running_since is not None
    attempt.refresh_from_db()
    attempt.started_at = timezone.now() - timedelta(hours=1)
    attempt.evidence, attempt.state = {"no_more": True}, states.FINALIZING
    attempt.save()
    run.state = states.FINALIZING
    run.save()
    assert conclude(run, attempt)
    run.refresh_from_db()
    assert run.running_since is None
    assert run.ran_s == pytest.approx(5400, abs=60)
    found = api.get(f"/api/v1/runs/{run.pk}/").json()
    assert found["cpu_hours"] == pytest.approx(4, abs=0.1)
    assert found["gpu_hours"] == 0
