"""Nodes of a plan that fall silent, leave, or come back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from atom.cache.agents.actions.plans import PlanOptions, start_plan
from atom.cache.agents.actions.reports import AgentReport, note_report
from atom.cache.agents.actions.settings import change_cache_settings
from atom.cache.agents.actions.work import WorkReport, work
from atom.cache.models import NodeAgent, PackFetch, WarmPlan
from atom.cache.tasks import watch_agents
from atom.clusters.models import Cluster, Node
from atom.core import clock
from atom.datasets.models import Version
from tests.cache.agents.test_work import DISK, ended, make_agent
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_user


@pytest.fixture
def cluster(pusher: Pusher) -> Cluster:
    return Cluster.objects.create(name="west", kind="kubernetes", server="https://west")


@pytest.fixture
def version(pusher: Pusher) -> Version:
    return Version.objects.select_related("dataset__project").get()


def fall_silent(agent: NodeAgent, seconds: int) -> None:
    ago = clock.now() - timedelta(seconds=seconds)
    NodeAgent.objects.filter(pk=agent.pk).update(reported_at=ago)
    PackFetch.objects.filter(node=agent.node).update(heard_at=ago)


def states_of(plan: WarmPlan) -> dict[str, str]:
    return dict(plan.parts.values_list("node__name", "state"))


def bring_all(agent: NodeAgent) -> list[dict[str, Any]]:
    fetches: list[dict[str, Any]] = work(agent, WorkReport(64))["fetches"]
    work(agent, WorkReport(0, done=[ended(fetch) for fetch in fetches]))
    return fetches


def test_a_silent_node_of_a_plan_with_copies_is_replaced(
    cluster: Cluster, version: Version
) -> None:
    first = make_agent(cluster, "n1")
    plan = start_plan(version, cluster, PlanOptions(copies=1), make_user())
    second = make_agent(cluster, "n2")
    lost = work(first, WorkReport(8))["fetches"]
    fall_silent(first, 200)
    watch_agents()
    assert states_of(plan) == {"n1": "waiting"}
    fall_silent(first, 301)
    watch_agents()
    assert states_of(plan) == {"n1": "replaced", "n2": "waiting"}
    part = plan.parts.get(node=first.node)
    assert part.replaced_by == second.node
    assert part.error == "The agent of n1 did not report; n2 took its part."
    # It comes back: its fetches are not its own any more, and it gets no others.
    note_report(first, AgentReport(2, DISK, None, [], []))
    progress = [{"fetch": fetch["fetch"], "bytes": 1} for fetch in lost]
    answer = work(first, WorkReport(8, progress=progress))
    assert answer["fetches"] == []
    assert answer["cancel"] == sorted(fetch["fetch"] for fetch in lost)
    assert bring_all(second)
    plan.refresh_from_db()
    assert plan.state == "done"


def test_a_node_that_comes_back_tells_its_packs_and_serves_them(
    cluster: Cluster, version: Version
) -> None:
    first = make_agent(cluster, "n1")
    plan = start_plan(version, cluster, PlanOptions(copies=1), make_user())
    second = make_agent(cluster, "n2")
    fall_silent(first, 301)
    watch_agents()
    assert note_report(first, AgentReport(2, DISK, None, [], [])) is True
    packs = {str(version.dataset.project_id): [pack for pack, _ in packs_of(version)]}
    assert note_report(first, AgentReport(3, DISK, packs, [], [])) is False
    fetches = work(second, WorkReport(64))["fetches"]
    assert {fetch["source"]["kind"] for fetch in fetches} == {"peer"}
    assert states_of(plan)["n1"] == "replaced"


def packs_of(version: Version) -> tuple[tuple[str, int], ...]:
    from atom.cache.agents.actions.coverage import sized_packs

    return sized_packs(version)


def test_a_plan_ends_whose_last_answer_was_cut_off(cluster: Cluster, version: Version) -> None:
    make_agent(cluster, "n1")
    plan = start_plan(version, cluster, PlanOptions(copies=1), make_user())
    plan.parts.update(state="warm")
    watch_agents()
    plan.refresh_from_db()
    assert plan.state == "done"


def test_a_named_node_is_never_replaced_and_says_so(cluster: Cluster, version: Version) -> None:
    first = make_agent(cluster, "n1")
    plan = start_plan(version, cluster, PlanOptions(nodes=["n1"]), make_user())
    make_agent(cluster, "n2")
    fall_silent(first, 3600)
    watch_agents()
    part = plan.parts.get()
    assert part.state == "waiting"
    assert part.error.code == "cache.agent_silent_named"


def test_without_another_node_the_part_waits_and_says_so(
    cluster: Cluster, version: Version
) -> None:
    first = make_agent(cluster, "n1")
    make_agent(cluster, "n2", free_bytes=1)
    plan = start_plan(version, cluster, PlanOptions(copies=1), make_user())
    change_cache_settings(cluster, None, 60, make_user())
    fall_silent(first, 61)
    watch_agents()
    watch_agents()
    part = plan.parts.get()
    assert (part.state, part.error.code) == ("waiting", "cache.no_other_node")


def test_a_node_that_left_the_cluster_gets_a_successor(cluster: Cluster, version: Version) -> None:
    first = make_agent(cluster, "n1")
    plan = start_plan(version, cluster, PlanOptions(copies=1), make_user())
    Node.objects.filter(pk=first.node_id).delete()
    watch_agents()
    plan.refresh_from_db()
    assert (plan.state, plan.error) == ("failed", "The plan's nodes left the cluster.")
    first = make_agent(cluster, "n1")
    again = start_plan(version, cluster, PlanOptions(copies=1), make_user())
    make_agent(cluster, "n2")
    Node.objects.filter(pk=first.node_id).delete()
    watch_agents()
    assert states_of(again) == {"n2": "waiting"}


def test_a_plan_with_names_goes_on_without_a_node_that_left(
    cluster: Cluster, version: Version
) -> None:
    first, second = make_agent(cluster, "n1"), make_agent(cluster, "n2")
    plan = start_plan(version, cluster, PlanOptions(nodes=["n1", "n2"]), make_user())
    Node.objects.filter(pk=first.node_id).delete()
    watch_agents()
    plan.refresh_from_db()
    assert (plan.state, plan.error.code) == ("running", "cache.named_nodes_left")
    assert "n1" in plan.error
    bring_all(second)
    plan.refresh_from_db()
    assert plan.state == "done"
