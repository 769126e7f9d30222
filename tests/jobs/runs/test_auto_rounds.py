"""Runs that Atom places, in stand-in clusters, and rounds that run at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.cache.models import CacheRecord
from atom.clusters.models import Cluster, Node
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions.attempts import find_by_token, note_exit, note_started
from atom.jobs.failures.engines.failures import ExitReport
from atom.jobs.models import PlacementDecision, Run, RunEvent
from atom.jobs.runs.actions.auto_places import place_waiting
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.asking import create
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.runs.test_placement_preview import make_cluster


def researcher(project: Project) -> APIClient:
    client = APIClient()
    client.force_authenticate(make_member(project, "researcher"))
    return client


@pytest.fixture
def worlds(db: None, settings: Any) -> Iterator[dict[str, World]]:
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    settings.ATOM_POD_API_URL = "http://127.0.0.1:9"
    with StandIn(tls=True) as east, StandIn(tls=True) as west:
        east.nodes.add("e1")
        west.nodes.add("w1")
        yield {"east": World(east, "east"), "west": World(west, "west")}


def test_a_run_starts_in_the_cluster_that_has_its_data_and_its_times_are_kept(
    worlds: dict[str, World],
) -> None:
    project = make_project("vision")
    version = make_version(make_dataset(project, "digits"), {"a.jpg": None})
    west = worlds["west"]
    CacheRecord.objects.create(
        node=Node.objects.get(cluster=west.cluster),
        version=version,
        bytes_total=version.size_bytes,
        bytes_present=version.size_bytes,
        state="warm",
    )
    api = researcher(project)
    made = create(api, command=["true"], cluster="auto", datasets={"d": "digits@v1"})
    assert made.status_code == 201, made.content
    assert made.json()["cluster"] == "west"
    run = Run.objects.get(pk=made.json()["id"])
    assert place_waiting() == [run.pk]
    placement = west.submit(run)
    assert PlacementDecision.objects.get(run=run).attempt == run.attempts.get()
    pod = west.pod(placement)
    west.bind(pod, "w1")
    west.set_running(pod)
    answer = west.join(placement, pod).json()
    rank = find_by_token(answer["token"])
    assert rank is not None
    note_started(rank.attempt, 1)
    west.sync()
    url = f"/api/v1/runs/{run.pk}/"
    came = api.get(url).json()["placement_decision"]["came"]
    assert (came["start_s"] is not None, came["run_s"]) == (True, None)
    note_exit(rank.attempt_id, ExitReport("exited", 0), {"outputs_failed": [], "no_more": True})
    assert reconcile.advance(run.pk) == states.SUCCEEDED
    decision = api.get(url).json()["placement_decision"]
    assert (decision["chosen"], decision["by"]) == ("west", "auto")
    assert decision["came"]["run_s"] is not None
    assert decision["came"]["cost"] == decision["assumed"]["cost"]


@pytest.mark.django_db(transaction=True)
def test_rounds_at_the_same_time_decide_once() -> None:
    project = make_project("vision")
    clusters = [make_cluster("east", "1"), make_cluster("west", "2")]
    Cluster.objects.update(state="unreachable")
    made = create(researcher(project), command=["true"], cluster="auto", resources={"gpus": 8})
    Cluster.objects.filter(pk=clusters[1].pk).update(state="ready")
    barrier = Barrier(3)

    def go() -> None:
        barrier.wait()
        try:
            place_waiting()
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        for job in [pool.submit(go) for _ in range(3)]:
            job.result()
    run = Run.objects.get(pk=made.json()["id"])
    assert run.cluster is not None
    assert run.cluster.name == "west"
    kept = PlacementDecision.objects.get(run=run)
    assert (kept.chosen, kept.attempt) == ("west", None)
    assert RunEvent.objects.filter(run=run, kind="place_chosen").count() == 1
