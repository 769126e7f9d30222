"""A run in a cluster waits until its data is on nodes, and holds nothing meanwhile."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F

from atom.cache.agents.actions.plans import PlanOptions, cancel_plan, start_plan
from atom.cache.agents.actions.work import WorkReport, work
from atom.cache.models import CacheRecord, NodeAgent, WarmPlan
from atom.cache.tasks import watch_agents
from atom.clusters.models import Cluster
from atom.core import clock
from atom.datasets.models import Version
from atom.jobs import reconcile, states
from atom.jobs.models import DataGate, Run, RunInput
from atom.jobs.runs.actions.explain import explain
from atom.jobs.runs.actions.explanations import AnswerCode
from atom.jobs.runs.actions.runs import cancel_run
from atom.jobs.runs.api.start_serializers import gate_row
from atom.jobs.scheduling.actions.cluster_capacities import capacity_of
from atom.jobs.scheduling.actions.data_gates import release_gates
from atom.jobs.scheduling.actions.gate_plans import bring_data
from tests.cache.agents.test_work import ended, make_agent
from tests.cache.conftest import pusher  # noqa: F401
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_user
from tests.factories.jobs import make_run


@pytest.fixture
def version(pusher: Pusher) -> Version:  # noqa: F811
    return Version.objects.select_related("dataset__project").get()


@pytest.fixture
def cluster(version: Version) -> Cluster:
    return Cluster.objects.create(
        name="west", kind="kubernetes", server="https://west", state="ready"
    )


def agent_on(cluster: Cluster, name: str, **disk: Any) -> NodeAgent:
    agent = make_agent(cluster, name, **disk)
    agent.node.ready_since = clock.now()
    agent.node.save()
    return agent


def run_of(version: Version, cluster: Cluster, **fields: Any) -> Run:
    asked = {"start_when": "data_there", "created_by": make_user(), **fields}
    run = make_run(version.dataset.project, cluster=cluster, **asked)
    RunInput.objects.create(run=run, alias="train", version=version, delivery="stream")
    return run


def place(run: Run) -> DataGate:
    """Place a run and have its data brought; return its gate."""
    reconcile.advance(run.pk)
    bring_data(run.attempts.get().pk)
    return gate_of(run)


def gate_of(run: Run) -> DataGate:
    return DataGate.objects.get(attempt__run=run)


def fetch(agent: NodeAgent, count: int = 64) -> None:
    """Let an agent fetch as many packs as it gets at once."""
    fetches = work(agent, WorkReport(count))["fetches"]
    work(agent, WorkReport(0, done=[ended(one) for one in fetches]))


def fall_silent(agent: NodeAgent) -> None:
    NodeAgent.objects.filter(pk=agent.pk).update(reported_at=clock.now() - timedelta(minutes=2))


def test_the_job_is_asked_for_once_the_data_is_there(version: Version, cluster: Cluster) -> None:
    agent = agent_on(cluster, "n1")
    run = run_of(version, cluster)
    gate = place(run)
    assert (gate.nodes, gate.percent, gate.why.code) == (["n1"], 100, "jobs.start_by_person")
    assert reconcile.advance(run.pk) == states.WARMING
    waits = explain(Run.objects.get(pk=run.pk))
    assert waits.code is AnswerCode.WAITS_FOR_DATA
    assert waits.reasons[0].params["percent"] == 100
    assert capacity_of(cluster).unplaced == []
    fetch(agent)
    assert reconcile.advance(run.pk) == states.SUBMITTED
    gate = gate_of(run)
    assert gate.opened_at is not None
    assert gate.percent_there == 100
    assert run.placements.get().preferred_nodes == [["n1", 100]]
    assert [demand.cpus for demand in capacity_of(cluster).unplaced] == [1]


def test_the_gate_opens_at_its_share_and_the_plan_goes_on(
    version: Version, cluster: Cluster
) -> None:
    agent = agent_on(cluster, "n1")
    run = run_of(version, cluster, start_when="share", start_percent=40)
    gate = place(run)
    CacheRecord.objects.update(bytes_present=F("bytes_total") * 3 / 10)
    assert reconcile.advance(run.pk) == states.WARMING
    CacheRecord.objects.update(bytes_present=F("bytes_total") / 2)
    assert reconcile.advance(run.pk) == states.SUBMITTED
    assert 40 <= gate_of(run).percent_there <= 50
    plan = WarmPlan.objects.get(gate_links__gate=gate)
    assert plan.state == "running"
    fetch(agent)
    plan.refresh_from_db()
    assert plan.state == "done"


def test_two_runs_share_a_plan_which_ends_with_the_last(version: Version, cluster: Cluster) -> None:
    agent_on(cluster, "n1")
    agent_on(cluster, "n2")
    first, second = run_of(version, cluster), run_of(version, cluster)
    assert place(first).nodes == place(second).nodes
    plan = WarmPlan.objects.get()
    for run, state in ((first, "running"), (second, "cancelled")):
        cancel_run(run.pk, make_user())
        reconcile.advance(run.pk)
        reconcile.advance(run.pk)
        run.refresh_from_db()
        assert run.state == states.CANCELLED
        plan.refresh_from_db()
        assert plan.state == state


def test_a_run_names_its_plan_also_after_its_end(version: Version, cluster: Cluster) -> None:
    agent = agent_on(cluster, "n1")
    run = run_of(version, cluster)
    place(run)
    plan = WarmPlan.objects.get()
    fetch(agent)
    for _ in range(2):
        row = gate_row(run.attempts.get())
        assert row is not None
        assert row["plans"] == [plan.pk]
        with transaction.atomic():
            release_gates(run)


def test_a_plan_that_a_person_started_outlives_the_run(version: Version, cluster: Cluster) -> None:
    agent_on(cluster, "n1")
    plan = start_plan(version, cluster, PlanOptions(nodes=["n1"]), make_user())
    run = run_of(version, cluster)
    place(run)
    assert WarmPlan.objects.count() == 1
    cancel_run(run.pk, make_user())
    reconcile.advance(run.pk)
    plan.refresh_from_db()
    assert plan.state == "running"


def test_all_nodes_of_a_gang_get_the_data(version: Version, cluster: Cluster) -> None:
    first, second = agent_on(cluster, "n1"), agent_on(cluster, "n2")
    run = run_of(version, cluster, nodes=2)
    assert sorted(place(run).nodes) == ["n1", "n2"]
    fetch(first)
    assert reconcile.advance(run.pk) == states.WARMING
    gate = gate_of(run)
    assert gate.percent_there == 0
    assert gate.bytes_present * 2 == gate.bytes_total
    fetch(second)
    assert reconcile.advance(run.pk) == states.SUBMITTED


def test_a_node_whose_agent_falls_silent_is_replaced(version: Version, cluster: Cluster) -> None:
    agents = {name: agent_on(cluster, name) for name in ("n1", "n2")}
    run = run_of(version, cluster)
    (lost,) = place(run).nodes
    (other,) = agents.keys() - {lost}
    first = WarmPlan.objects.get()
    fall_silent(agents[lost])
    assert reconcile.advance(run.pk) == states.WARMING
    assert gate_of(run).notice.code == "jobs.gate_agents_silent"
    bring_data(run.attempts.get().pk)
    assert gate_of(run).nodes == [other]
    first.refresh_from_db()
    assert first.state == "cancelled"
    fetch(agents[other])
    assert reconcile.advance(run.pk) == states.SUBMITTED


@pytest.mark.parametrize(("setting", "state"), [("stream", "submitted"), ("wait", "warming")])
def test_without_a_node_for_the_data_the_run_streams_or_waits(
    version: Version, cluster: Cluster, settings: Any, setting: str, state: str
) -> None:
    settings.ATOM_START_WITHOUT_DATA = setting
    agent = agent_on(cluster, "n1")
    run = run_of(version, cluster)
    place(run)
    fall_silent(agent)
    reconcile.advance(run.pk)
    bring_data(run.attempts.get().pk)
    assert reconcile.advance(run.pk) == state
    assert gate_of(run).notice.code == "jobs.gate_too_few_nodes"


def test_a_run_whose_node_is_too_small_streams(version: Version, cluster: Cluster) -> None:
    agent_on(cluster, "n1", free_bytes=1)
    run = run_of(version, cluster)
    assert place(run).notice.code == "cache.node_too_small"
    assert reconcile.advance(run.pk) == states.SUBMITTED
    event = run.events.filter(kind="data_gate").order_by("pk").last()
    assert event is not None
    assert event.data["sentence"]["code"] == "jobs.gate_streams"


def test_a_plan_that_a_person_cancels_lets_the_run_stream(
    version: Version, cluster: Cluster
) -> None:
    agent_on(cluster, "n1")
    run = run_of(version, cluster)
    place(run)
    cancel_plan(WarmPlan.objects.get(), make_user())
    assert reconcile.advance(run.pk) == states.SUBMITTED
    assert gate_of(run).notice.code == "jobs.gate_cancelled"


def test_a_version_that_is_collected_fails_the_attempt(version: Version, cluster: Cluster) -> None:
    agent_on(cluster, "n1")
    run = run_of(version, cluster, max_retries=0)
    place(run)
    Version.objects.filter(pk=version.pk).update(state="collected", expired_at=clock.now())
    watch_agents()
    assert reconcile.advance(run.pk) == states.WARMING
    bring_data(run.attempts.get().pk)
    reconcile.advance(run.pk)
    reconcile.advance(run.pk)
    run.refresh_from_db()
    assert (run.state, run.failure_class) == (states.FAILED, "DATA_WARMUP")


def test_another_worker_goes_on_where_one_died(version: Version, cluster: Cluster) -> None:
    agent = agent_on(cluster, "n1")
    run = run_of(version, cluster)
    place(run)
    attempt = run.attempts.get()
    WarmPlan.objects.all().delete()
    claimed = clock.now() + timedelta(seconds=30)
    DataGate.objects.update(needs_plans=True, nodes=[], claimed_until=claimed)
    bring_data(attempt.pk)
    assert reconcile.advance(run.pk) == states.WARMING
    assert not WarmPlan.objects.exists()
    DataGate.objects.update(claimed_until=clock.now() - timedelta(seconds=1))
    bring_data(attempt.pk)
    bring_data(attempt.pk)
    assert WarmPlan.objects.count() == 1
    fetch(agent)
    assert reconcile.advance(run.pk) == states.SUBMITTED


def test_a_run_that_is_cancelled_before_its_plan_leaves_none(
    version: Version, cluster: Cluster
) -> None:
    agent_on(cluster, "n1")
    run = run_of(version, cluster)
    reconcile.advance(run.pk)
    cancel_run(run.pk, make_user())
    attempt = run.attempts.get()
    reconcile.advance(run.pk)
    bring_data(attempt.pk)
    assert not WarmPlan.objects.filter(state="running").exists()


def test_a_cluster_without_agents_starts_at_once_and_says_so(
    version: Version, cluster: Cluster
) -> None:
    run = run_of(version, cluster)
    assert reconcile.advance(run.pk) == states.SUBMITTED
    gate = gate_of(run)
    assert (gate.when, gate.why.code) == ("now", "jobs.start_no_agents")


def test_atom_takes_data_that_is_there_and_else_starts_at_once(
    version: Version, cluster: Cluster
) -> None:
    agent = agent_on(cluster, "n1")
    run = run_of(version, cluster, start_when="")
    assert reconcile.advance(run.pk) == states.SUBMITTED
    assert gate_of(run).why.code == "jobs.start_data_unknown"
    start_plan(version, cluster, PlanOptions(nodes=["n1"]), make_user())
    fetch(agent)
    assert CacheRecord.objects.get().state == "warm"
    later = run_of(version, cluster, start_when="")
    gate = place(later)
    assert (gate.when, gate.why.code) == ("data_there", "jobs.start_all_there")
    assert reconcile.advance(later.pk) == states.SUBMITTED


def test_a_run_without_data_waits_for_none(version: Version, cluster: Cluster) -> None:
    agent_on(cluster, "n1")
    run = make_run(version.dataset.project, cluster=cluster, start_when="data_there")
    assert reconcile.advance(run.pk) == states.SUBMITTED
    assert not DataGate.objects.exists()
