"""Why a run waits, could not run or failed, over HTTP."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.cache.models import CacheRecord
from atom.clusters.actions import ensure_local_node, reserve
from atom.clusters.models import Node
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import attempts
from atom.jobs.failures.engines.failures import ExitReport
from atom.jobs.models import Runtime
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db


def test_why_it_is_not_running(api: APIClient, project: Project) -> None:
    node = ensure_local_node()
    run = make_run(project, cpus=node.cpu_count)
    url = f"/api/v1/runs/{run.pk}/explain/"
    assert api.get(url).json()["answer"] == "It is about to be placed."
    busy = make_run(project)
    reserve(node.pk, busy.pk, cpus=1, memory_bytes=1, gpus=0)
    answer = api.get(url).json()
    assert answer["answer"] == "It waits for a machine with enough free resources."
    assert "lacks" in answer["reasons"][0]["text"]
    assert (answer["code"], answer["reasons"][0]["kind"]) == ("no_room", "resources")
    assert answer["reasons"][0]["params"]["code"] == "no_room"
    runtime = Runtime.objects.create(digest="0" * 64, python="3.11", log_tail="Collecting torch")
    warming = make_attempt(make_run(project, runtime=runtime), states.WARMING).run
    answer = api.get(f"/api/v1/runs/{warming.pk}/explain/").json()
    assert "Collecting torch" in answer["reasons"][0]["text"]


def test_a_run_that_no_machine_could_hold_says_so(api: APIClient, project: Project) -> None:
    node = ensure_local_node()
    reserve(node.pk, make_run(project).pk, cpus=node.cpu_count, memory_bytes=1, gpus=0)
    run = make_run(project, gpus=node.gpu_count + 1)
    answer = api.get(f"/api/v1/runs/{run.pk}/explain/").json()
    [reason] = [one for one in answer["reasons"] if one["kind"] == "machines"]
    assert (answer["code"], reason["params"]["code"]) == ("none_fits", "none_fits")
    # Reservations of others would make no difference, so they are not named.
    assert reason["text"].endswith(f"{node.name} lacks 1 GPU.")
    assert [one["cpus"] for one in reason["params"]["params"]["nodes"]] == [0]
    Node.objects.update(schedulable=False)
    answer = api.get(f"/api/v1/runs/{make_run(project).pk}/explain/").json()
    assert answer["code"] == "none_fits"
    assert "does not take jobs now" in answer["reasons"][-1]["text"]


def test_why_says_what_the_last_try_to_bring_the_data_met(api: APIClient, project: Project) -> None:
    version = make_version(make_dataset(project), {"a.png": None})
    run = make_attempt(make_run(project), states.WARMING).run
    run.inputs.create(alias="digits", version=version)
    node = ensure_local_node()
    CacheRecord.objects.create(node=node, version=version, state="warming", error="Answered 500.")

    answer = api.get(f"/api/v1/runs/{run.pk}/explain/").json()

    [reason] = [one for one in answer["reasons"] if one["kind"] == "data_retry"]
    assert "Answered 500." in reason["text"]
    assert reason["params"]["error"] == "Answered 500."
    assert "object store" in reason["action"]


def test_a_preview_does_not_place_what_could_never_run(api: APIClient, project: Project) -> None:
    node = ensure_local_node()
    body = {"command": ["true"], "resources": {"cpus": node.cpu_count + 1}}
    answer = api.post("/api/v1/projects/vision/runs/preview/", body).json()
    assert not answer["valid"]
    assert set(answer["errors"]) == {"resources.cpus"}
    assert (answer["outlook"], answer["warm"]) == ("never_fits", None)
    small = {"command": ["true"], "resources": {"cpus": node.cpu_count}}
    run = make_run(project, cpus=1)
    reserve(node.pk, run.pk, cpus=1, memory_bytes=1, gpus=0)
    answer = api.post("/api/v1/projects/vision/runs/preview/", small).json()
    assert (answer["valid"], answer["outlook"]) == (True, "waits")


def test_a_failure_is_told_by_code_to_pages_in_other_languages(
    api: APIClient, project: Project
) -> None:
    attempt = make_attempt(make_run(project), states.RUNNING)
    attempts.note_exit(attempt.pk, ExitReport("exited", 4), {"no_more": True})
    reconcile.advance(attempt.run_id)
    run = api.get(f"/api/v1/runs/{attempt.run_id}/").json()
    assert run["state"] == "failed"
    told = {"code": "exited", "params": {"exit_code": 4}, "remedies": []}
    assert run["failure"] == {**told, "branch": "main"}
    assert run["attempts"][0]["failure"] == told
    [row] = api.get("/api/v1/projects/vision/runs/").json()["results"]
    assert row["failure"] == told
    events = api.get(f"/api/v1/runs/{attempt.run_id}/events/").json()["results"]
    [ended] = [event["data"] for event in events if event["kind"] == "ended"]
    assert (ended["code"], ended["params"]) == ("exited", {"exit_code": 4})
