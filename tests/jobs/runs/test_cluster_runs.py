"""The open runs of a cluster, and where a run says that its pods are."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.actions import create_token
from atom.accounts.models import Project, User
from atom.clusters.actions import ensure_local_node
from atom.clusters.models import Cluster, Node
from atom.jobs import states
from atom.jobs.models import Attempt, Placement, Rank, Run
from tests.factories.accounts import make_member, make_project, make_user
from tests.factories.jobs import make_run
from tests.jobs.runs.test_chosen_cluster import make_cluster

pytestmark = pytest.mark.django_db

RUNS = "/api/v1/clusters/west/runs/"


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def west() -> Cluster:
    return make_cluster()


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def attempted(run: Run, number: int, **fields: Any) -> Attempt:
    return Attempt.objects.create(
        run=run, number=number, state=states.RUNNING, cluster=run.cluster, **fields
    )


def listed(client: APIClient, address: str = RUNS) -> list[dict[str, Any]]:
    answer = client.get(address)
    assert answer.status_code == 200, answer.json()
    return list(answer.json()["results"])


def test_open_runs_are_listed_with_their_node(project: Project, west: Cluster) -> None:
    researcher = make_member(project, "researcher")
    run = make_run(project, cluster=west, state=states.RUNNING, gpus=2, created_by=researcher)
    attempted(run, 1)
    attempted(run, 2, node=Node.objects.get(name="west-1"))
    waiting = make_run(project, cluster=west, state=states.QUEUED)
    make_run(project, cluster=west, state=states.SUCCEEDED)
    make_run(project, state=states.RUNNING)
    newest, oldest = listed(client_of(researcher))
    assert (newest["number"], newest["node"], newest["state"]) == (waiting.number, None, "queued")
    named = ("number", "project", "node", "gpus", "created_by")
    assert tuple(oldest[name] for name in named) == (
        *(run.number, "vision", "west-1", 2),
        researcher.username,
    )


def test_everybody_sees_the_runs_of_their_projects_and_administrators_all(
    project: Project, west: Cluster
) -> None:
    make_run(project, cluster=west, state=states.RUNNING)
    other = make_run(make_project("audio"), cluster=west, state=states.RUNNING)
    member = make_member(other.project, "viewer")
    assert [row["project"] for row in listed(client_of(member))] == ["audio"]
    everything = client_of(make_user(is_superuser=True))
    assert {row["project"] for row in listed(everything)} == {"audio", "vision"}
    assert len(everything.get(RUNS, {"limit": 1}).json()["results"]) == 1
    stranger = make_member(make_project("other"), "viewer")
    assert listed(client_of(stranger)) == []


def test_a_token_of_one_project_sees_the_runs_of_that_one(project: Project, west: Cluster) -> None:
    make_run(make_project("audio"), cluster=west, state=states.RUNNING)
    make_run(project, cluster=west, state=states.RUNNING)
    boss = make_user(is_superuser=True)
    secret = create_token(boss, "t", ["read"], project=project).secret
    client = APIClient(headers={"Authorization": f"Bearer {secret}"})
    assert [row["project"] for row in listed(client)] == ["vision"]


def test_a_cluster_that_is_not_for_the_caller_is_unknown(project: Project) -> None:
    make_cluster(all_projects=False)
    answer = client_of(make_member(project, "admin")).get(RUNS)
    assert (answer.status_code, answer.json()["code"]) == (404, "cluster_not_found")


def test_the_own_machines_have_the_runs_that_name_no_cluster(project: Project) -> None:
    ensure_local_node()
    here = make_run(project, state=states.RUNNING)
    make_run(project, state=states.RUNNING, origin=states.MLFLOW)
    (row,) = listed(client_of(make_member(project, "viewer")), "/api/v1/clusters/local/runs/")
    assert row["number"] == here.number


def test_a_run_says_its_namespace_its_job_and_the_pod_of_each_rank(
    project: Project, west: Cluster
) -> None:
    run = make_run(project, cluster=west, state=states.RUNNING)
    placement = Placement.objects.create(run=run, cluster=west, namespace="jobs-vision")
    attempt = attempted(run, 1, placed_in=placement)
    node = Node.objects.get(name="west-1")
    Rank.objects.create(attempt=attempt, number=0, node=node, identity={"pod": "atom-x-0-abc"})
    Rank.objects.create(attempt=attempt, number=1)
    client = client_of(make_member(project, "viewer"))

    def shown() -> dict[str, Any]:
        attempts: list[dict[str, Any]] = client.get(f"/api/v1/runs/{run.pk}/").json()["attempts"]
        return attempts[0]

    assert (shown()["namespace"], shown()["job"]) == ("jobs-vision", None)
    Placement.objects.update(job_uid="u-1")
    assert shown()["job"] == placement.job_name
    ranks = [(one["number"], one["node"], one["pod"]) for one in shown()["ranks"]]
    assert ranks == [(0, "west-1", "atom-x-0-abc"), (1, None, None)]
    here = make_run(project, state=states.RUNNING)
    attempted(here, 1)
    own = client.get(f"/api/v1/runs/{here.pk}/").json()["attempts"][0]
    assert (own["namespace"], own["job"]) == (None, None)
