"""A Job that waits for its data is in no cluster; then its pod prefers the node with the data."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from atom.cache.agents.actions.reports import AgentReport, note_report
from atom.cache.agents.actions.work import WorkReport, work
from atom.cache.models import NodeAgent
from atom.clusters.models import Node
from atom.core import clock
from atom.datasets.models import Version
from atom.jobs import states
from atom.jobs.models import RunInput
from tests.cache.agents.test_work import DISK, ended
from tests.cache.conftest import pusher  # noqa: F401
from tests.factories.jobs import make_run
from tests.jobs.executors.kubernetes.world import World


@pytest.fixture
def agent(world: World) -> NodeAgent:
    """Return the agent of the cluster's node, which reports."""
    world.sync()
    now = clock.now()
    agent = NodeAgent.objects.create(
        node=Node.objects.get(cluster=world.cluster, name="n1"),
        address="http://10.0.0.1:7480", pod="a", pod_uid="a", token_hash="a",
        token_expires_at=now + timedelta(hours=1), joined_at=now,
    )  # fmt: skip
    note_report(agent, AgentReport(1, DISK, {}, [], []))
    agent.refresh_from_db()
    return agent


def jobs_in(world: World) -> list[dict[str, Any]]:
    return list(world.stand_in.store.objects("jobs.batch"))


# Before the cluster: the rows of the pushed version are kept for other tests.
@pytest.mark.usefixtures("pusher")
def test_the_cluster_gets_the_job_once_the_data_is_there(world: World, agent: NodeAgent) -> None:
    version = Version.objects.select_related("dataset__project").get()
    asked: dict[str, Any] = {
        "cluster": world.cluster,
        "start_when": "data_there",
        "command": ["true"],
    }
    run = make_run(version.dataset.project, **asked)
    RunInput.objects.create(run=run, alias="train", version=version, delivery="stream")
    for _ in range(3):
        assert world.tick(run) == states.WARMING
    assert jobs_in(world) == []
    assert run.placements.get().job_uid == ""
    fetches = work(agent, WorkReport(64))["fetches"]
    work(agent, WorkReport(0, done=[ended(fetch) for fetch in fetches]))
    assert world.tick(run) == states.SUBMITTED
    placement = run.placements.get()
    if not placement.job_uid:
        world.submit_again(run.attempts.get())
    (job,) = jobs_in(world)
    affinity = job["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (preferred,) = affinity["preferredDuringSchedulingIgnoredDuringExecution"]
    assert preferred["weight"] == 100
    assert "n1" in str(preferred["preference"])
