"""Agents of a cluster bring a version to their nodes, as a plan says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from atom.cache.agents.actions.plans import PlanOptions, cancel_plan, start_plan
from atom.cache.agents.actions.reports import AgentReport, note_report
from atom.cache.agents.actions.work import WorkReport, work
from atom.cache.errors import AgentsMissing, CacheTooSmall
from atom.cache.models import CacheRecord, NodeAgent, PackFetch, WarmPlan
from atom.cache.tasks import watch_agents
from atom.clusters.models import Cluster, Node
from atom.core import clock
from atom.datasets.errors import DatasetInUse
from atom.datasets.models import Version, VersionPin
from atom.datasets.retention.actions.deletion import delete_dataset
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_user

DISK = {
    **{"total_bytes": 1 << 40, "free_bytes": 1 << 39, "cache_bytes": 0, "limit_bytes": None},
    **{"is_read_only": False, "problem": ""},
}


def make_agent(cluster: Cluster, name: str, **disk: Any) -> NodeAgent:
    node = Node.objects.create(cluster=cluster, name=name, cpu_count=8, memory_bytes=1 << 36)
    now = clock.now()
    agent = NodeAgent.objects.create(
        node=node, address=f"http://{name}:7480", pod=name, pod_uid=name, token_hash=name,
        token_expires_at=now + timedelta(hours=1), joined_at=now,
    )  # fmt: skip
    note_report(agent, AgentReport(1, DISK | disk, {}, [], []))
    agent.refresh_from_db()
    return agent


@pytest.fixture
def cluster(pusher: Pusher) -> Cluster:
    return Cluster.objects.create(name="west", kind="kubernetes", server="https://west")


@pytest.fixture
def version(pusher: Pusher) -> Version:
    return Version.objects.select_related("dataset__project").get()


def ended(fetch: dict[str, Any]) -> dict[str, Any]:
    return {"fetch": fetch["fetch"], "bytes": fetch["size_bytes"], "seconds": 0.5}


def test_the_second_node_fetches_from_the_first(cluster: Cluster, version: Version) -> None:
    first, second = make_agent(cluster, "n1"), make_agent(cluster, "n2")
    plan = start_plan(version, cluster, PlanOptions(copies=2), make_user())
    fetches = work(first, WorkReport(8))["fetches"]
    assert {fetch["source"]["kind"] for fetch in fetches} == {"origin"}
    assert work(second, WorkReport(8))["fetches"] == []
    done = WorkReport(8, done=[ended(fetch) for fetch in fetches])
    work(first, done)
    work(first, done)  # an answer that was lost
    served = work(second, WorkReport(8))["fetches"]
    assert {fetch["source"]["node"] for fetch in served} == {"n1"}
    work(second, WorkReport(8, done=[ended(fetch) for fetch in served]))
    plan.refresh_from_db()
    assert plan.state == "done"
    assert {part.state for part in plan.parts.all()} == {"warm"}
    assert not VersionPin.objects.filter(holder_type="warm_plan").exists()


def test_a_lying_peer_loses_the_pack_and_the_origin_takes_its_place(
    cluster: Cluster, version: Version
) -> None:
    first, second = make_agent(cluster, "n1"), make_agent(cluster, "n2")
    start_plan(version, cluster, PlanOptions(copies=2), make_user())
    fetches = work(first, WorkReport(8))["fetches"]
    work(first, WorkReport(8, done=[ended(fetch) for fetch in fetches]))
    served = work(second, WorkReport(1))["fetches"][0]
    failed = {"fetch": served["fetch"], "reason": "digest", "detail": ""}
    again = work(second, WorkReport(1, failed=[failed]))["fetches"][0]
    assert (again["pack"], again["source"]["kind"]) == (served["pack"], "origin")
    record = CacheRecord.objects.get(node=first.node, version=version)
    assert record.packs_present == record.packs_total - 1
    assert work(first, WorkReport(0))["remove"][0]["verify"] is True


def test_an_agent_ends_no_fetch_of_another_node(cluster: Cluster, version: Version) -> None:
    first, second = make_agent(cluster, "n1"), make_agent(cluster, "n2")
    start_plan(version, cluster, PlanOptions(nodes=["n1"]), make_user())
    fetches = work(first, WorkReport(8))["fetches"]
    work(second, WorkReport(0, done=[ended(fetch) for fetch in fetches]))
    assert PackFetch.objects.count() == len(fetches)


def test_a_full_disk_fails_the_plan_with_its_node(cluster: Cluster, version: Version) -> None:
    agent = make_agent(cluster, "n1")
    plan = start_plan(version, cluster, PlanOptions(nodes=["n1"]), make_user())
    fetch = work(agent, WorkReport(1))["fetches"][0]
    failed = {"fetch": fetch["fetch"], "reason": "disk_full", "detail": ""}
    assert work(agent, WorkReport(1, failed=[failed]))["fetches"] == []
    plan.refresh_from_db()
    assert (plan.state, plan.error) == ("failed", "The disk of n1 is full.")


def test_a_plan_is_refused_that_no_node_can_hold(cluster: Cluster, version: Version) -> None:
    make_agent(cluster, "n1", free_bytes=1)
    with pytest.raises(CacheTooSmall):
        start_plan(version, cluster, PlanOptions(nodes=["n1"]), make_user())
    with pytest.raises(AgentsMissing, match="n7"):
        start_plan(version, cluster, PlanOptions(nodes=["n7"]), make_user())
    assert not WarmPlan.objects.exists()


def test_a_silent_node_waits_and_goes_on_when_it_is_back(
    cluster: Cluster, version: Version
) -> None:
    agent = make_agent(cluster, "n1")
    plan = start_plan(version, cluster, PlanOptions(nodes=["n1"]), make_user())
    lost = work(agent, WorkReport(8))["fetches"]
    long_ago = clock.now() - timedelta(minutes=1)
    NodeAgent.objects.update(reported_at=long_ago)
    PackFetch.objects.update(heard_at=long_ago)
    watch_agents()
    part = plan.parts.get()
    assert part.state == "waiting"
    assert part.error == "The agent of n1 does not report; its part waits."
    assert part.error.code == "cache.agent_silent"
    assert not PackFetch.objects.exists()
    note_report(agent, AgentReport(2, DISK, None, [], []))
    fetches = work(agent, WorkReport(8))["fetches"]
    assert len(fetches) == len(lost)
    part.refresh_from_db()
    assert (part.state, part.error) == ("warming", "")
    work(agent, WorkReport(8, done=[ended(fetch) for fetch in fetches]))
    plan.refresh_from_db()
    assert plan.state == "done"


def test_a_plan_keeps_its_dataset_and_fails_without_its_version(
    cluster: Cluster, version: Version
) -> None:
    agent = make_agent(cluster, "n1")
    user = make_user()
    plan = start_plan(version, cluster, PlanOptions(nodes=["n1"]), user)
    with pytest.raises(DatasetInUse):
        delete_dataset(version.dataset, user)
    gone = {"state": "collected", "expired_at": clock.now()}
    Version.objects.filter(pk=version.pk).update(**gone)
    watch_agents()
    plan.refresh_from_db()
    assert plan.state == "failed"
    assert plan.error.code == "datasets.collected"
    assert work(agent, WorkReport(8))["fetches"] == []


def test_an_agent_that_stops_gives_its_fetches_back(cluster: Cluster, version: Version) -> None:
    agent = make_agent(cluster, "n1")
    plan = start_plan(version, cluster, PlanOptions(nodes=["n1"]), make_user())
    fetches = work(agent, WorkReport(8))["fetches"]
    stopped = [
        {"fetch": fetch["fetch"], "reason": "refused", "detail": "The agent stops."}
        for fetch in fetches
    ]
    assert work(agent, WorkReport(0, failed=stopped))["fetches"] == []
    assert not PackFetch.objects.exists()
    assert plan.parts.get().failures == 0


def test_a_cancelled_plan_ends_its_fetches(cluster: Cluster, version: Version) -> None:
    agent = make_agent(cluster, "n1")
    plan = start_plan(version, cluster, PlanOptions(nodes=["n1"]), make_user())
    fetches = work(agent, WorkReport(8))["fetches"]
    cancel_plan(plan, make_user())
    answer = work(agent, WorkReport(8))
    assert answer["cancel"] == sorted(fetch["fetch"] for fetch in fetches)
    assert answer["fetches"] == []
