"""The watcher of a cluster writes what happens there, and one watcher at a time does."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import connection

from atom.accounts.models import Project
from atom.clusters.kubernetes.leases import Lease, LeaseSettings
from atom.clusters.kubernetes.pod_identity import installation
from atom.clusters.registration.actions.registering import open_cluster
from atom.jobs import states
from atom.jobs.executors.kubernetes import watchers
from atom.jobs.executors.kubernetes.watchers import Follower
from atom.jobs.models import Placement, Run
from tests.factories.jobs import make_run
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None, settings: Any) -> Iterator[World]:
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    with StandIn(tls=True) as stand_in:
        stand_in.nodes.add("n1")
        yield World(stand_in)


@pytest.fixture
def follow(world: World) -> Iterator[Any]:
    stopping, threads = threading.Event(), []

    def start() -> None:
        threads.append(threading.Thread(target=Follower(world.cluster.pk, stopping).run))
        threads[-1].start()

    yield start
    stopping.set()
    world.stand_in.faults.end_watches()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


def seen(placement: Placement) -> dict[str, Any]:
    found: dict[str, Any] = Placement.objects.get(pk=placement.pk).observed
    return found


def test_what_happens_to_a_job_is_written_and_its_loss_too(
    world: World, project: Project, follow: Any
) -> None:
    follow()
    run: Run = make_run(project, cluster=world.cluster, state=states.QUEUED)
    placement = world.submit(run)
    pod = world.pod(placement)
    wait_for(lambda: len(seen(placement).get("pods", [])) == 1)
    assert seen(placement)["pods"][0]["metadata"]["uid"] == pod["metadata"]["uid"]
    world.stand_in.faults.end_watches()
    world.stand_in.store.remove("jobs.batch", (placement.namespace, placement.job_name))
    wait_for(lambda: seen(placement).get("gone"))


def test_the_loss_of_a_node_and_its_return_are_written(
    world: World, project: Project, follow: Any
) -> None:
    follow()
    placement = world.submit(make_run(project, cluster=world.cluster, state=states.QUEUED))
    world.bind(world.pod(placement))
    wait_for(lambda: node_state(placement) == "ready")
    world.stand_in.nodes.lose("n1", evict=False)
    wait_for(lambda: node_state(placement) == "unreachable")
    world.stand_in.nodes.bring_back("n1")
    wait_for(lambda: node_state(placement) == "ready")
    world.stand_in.store.remove("nodes.", ("", "n1"))
    wait_for(lambda: node_state(placement) == "gone")


def node_state(placement: Placement) -> str:
    return str(seen(placement).get("nodes", {}).get("n1", {}).get("state", ""))


def test_one_of_two_watchers_holds_the_lease(world: World, project: Project, follow: Any) -> None:
    follow()
    wait_for(lambda: _holder(world))
    first = _holder(world)
    follow()
    placement = world.submit(make_run(project, cluster=world.cluster, state=states.QUEUED))
    wait_for(lambda: seen(placement).get("job"))
    assert _holder(world) == first


def test_a_watcher_takes_the_place_of_one_that_was_killed(
    world: World, project: Project, follow: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = LeaseSettings(duration_s=3, renew_s=2.5, retry_s=1.0)
    monkeypatch.setattr(watchers, "Lease", partial(Lease, settings=short))
    with open_cluster(world.cluster) as api:
        watchers.ensure_namespace(api, world.cluster.namespace)
    spec = {"holderIdentity": "was killed", "leaseDurationSeconds": 3}
    body = {"metadata": {"name": f"atom-watcher-{installation()}"}, "spec": spec}
    world.stand_in.create("leases.coordination.k8s.io", body, world.cluster.namespace)
    placement = world.submit(make_run(project, cluster=world.cluster, state=states.QUEUED))
    follow()
    wait_for(lambda: seen(placement).get("job"))
    assert _holder(world) != "was killed"


def test_a_watcher_whose_cluster_was_away_goes_on_as_the_same_holder(
    world: World, project: Project, follow: Any
) -> None:
    follow()
    wait_for(lambda: _holder(world))
    first = _holder(world)
    world.stand_in.server.crash()
    world.stand_in.server.start_again()
    placement = world.submit(make_run(project, cluster=world.cluster, state=states.QUEUED))
    wait_for(lambda: seen(placement).get("job"))
    assert _holder(world) == first


def test_the_watches_outlive_a_database_that_is_away(world: World, follow: Any) -> None:
    faults = world.stand_in.faults
    follow()
    wait_for(lambda: faults.open_watches == 3)
    with no_connections():
        faults.drop_watches()
        wait_for(lambda: faults.open_watches == 0)
        # Each has tried to connect again.
        time.sleep(1.5)
        assert faults.open_watches == 0
    wait_for(lambda: faults.open_watches == 3)


@pytest.mark.parametrize("path", ["/jobs$", "/pods$"])
def test_a_watch_that_lags_takes_nothing_for_gone(
    world: World, project: Project, follow: Any, path: str
) -> None:
    faults = world.stand_in.faults
    follow()
    wait_for(lambda: _holder(world) and faults.open_watches == 3)
    world.stand_in.faults.silence_watches(path=path)
    placement = world.submit(make_run(project, cluster=world.cluster, state=states.QUEUED))
    pod = world.pod(placement)
    # Somebody else's reading of all is newer than what this watch has brought.
    world.sync()
    before = seen(placement)
    assert before["pods"][0]["metadata"]["uid"] == pod["metadata"]["uid"]
    world.bind(pod)
    world.set_running(pod)
    # The Job's own status changes with it.
    world.set_status(pod, {"conditions": [{"type": "Ready", "status": "True"}]})
    ends_at = time.monotonic() + 3
    while time.monotonic() < ends_at:
        now = seen(placement)
        assert not now.get("gone")
        assert len(now["pods"]) == 1
    faults.silence_watches(False)
    wait_for(lambda: seen(placement)["pods"][0]["status"].get("phase") == "Running")


@contextmanager
def no_connections() -> Iterator[None]:
    """Let the database of the tests take no new connection."""
    name = connection.settings_dict["NAME"]
    server = os.environ["DATABASE_URL"].rsplit("/", 1)[0]
    with psycopg.connect(f"{server}/postgres", autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')  # type: ignore[arg-type]
        try:
            yield
        finally:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')  # type: ignore[arg-type]


def _holder(world: World) -> str:
    leases = world.stand_in.store.objects("leases.coordination.k8s.io")
    return str(leases[0]["spec"]["holderIdentity"]) if leases else ""
