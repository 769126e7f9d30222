"""Nodes that are nearly full lose what is needed least; the server decides, the agent removes."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from atom.cache.agents.actions.coverage import ensure_record, sized_packs
from atom.cache.agents.actions.evicting import evict_version, make_room, ranks_on
from atom.cache.agents.actions.plans import PlanOptions, cancel_plan, start_plan
from atom.cache.agents.actions.reports import AgentReport, note_report
from atom.cache.agents.actions.work import WorkReport, work
from atom.cache.engines.eviction import HeldVersion, capacity_bytes, choose_packs
from atom.cache.errors import CacheTooSmall, VersionPinned
from atom.cache.models import CacheRecord, NodeAgent, NodeVolume, WarmPlan
from atom.cache.needs import NeedRank
from atom.clusters.models import Cluster
from atom.core import clock
from atom.datasets.catalog.actions.catalogue import pin
from atom.datasets.models import Pack, Version
from atom.jobs.attempts.actions.version_pins import unpin
from atom.jobs.models import Attempt, Rank, Run, RunInput
from tests.cache.agents.test_work import DISK, ended, make_agent
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_user
from tests.factories.jobs import make_run

NEEDS = (NeedRank.COLD, NeedRank.LIMITED, NeedRank.QUEUED, NeedRank.RUNNING, NeedRank.PINNED)


def held(rank: NeedRank, used_s: float, *names: str) -> HeldVersion:
    return HeldVersion(rank, used_s, {("p", name): 10 for name in names})


def test_packs_go_in_the_order_of_need_and_last_use() -> None:
    versions = [held(rank, 0, f"{rank.word}-old") for rank in reversed(NEEDS)]
    versions += [held(rank, 1, f"{rank.word}-new") for rank in NEEDS]
    gone = [name for _, name in choose_packs(versions, 1000, NeedRank.QUEUED).packs]
    assert gone == [
        *("cold-old", "cold-new", "limited-old", "limited-new", "queued-old", "queued-new"),
    ]
    assert list(choose_packs(versions, 15, NeedRank.QUEUED).packs) == [
        ("p", "cold-old"),
        ("p", "cold-new"),
    ]
    assert choose_packs(versions, 1000, NeedRank.LIMITED).freed_bytes == 40


def test_a_pack_stays_while_another_version_needs_it() -> None:
    versions = [held(NeedRank.COLD, 0, "a", "b"), held(NeedRank.RUNNING, 0, "b")]
    assert list(choose_packs(versions, 100, NeedRank.QUEUED).packs) == [("p", "a")]
    cold = [held(NeedRank.COLD, 0, "a", "b"), held(NeedRank.COLD, 1, "b", "c")]
    assert [name for _, name in choose_packs(cold, 100, NeedRank.QUEUED).packs] == ["a", "b", "c"]
    assert list(choose_packs(cold, 100, NeedRank.QUEUED, {("p", "b")}).packs) == [
        ("p", "a"),
        ("p", "c"),
    ]


def test_a_cache_grows_to_its_limit_and_no_further_than_the_disk() -> None:
    disk = {**DISK, "cache_bytes": 10, "free_bytes": 90}
    assert capacity_bytes(disk) == 100
    assert capacity_bytes({**disk, "limit_bytes": 40}) == 40
    assert capacity_bytes({**disk, "limit_bytes": 1000}) == 100
    assert capacity_bytes({**disk, "is_read_only": True}) == 0
    assert capacity_bytes({}) == 0


@pytest.fixture
def cluster(pusher: Pusher) -> Cluster:
    return Cluster.objects.create(name="west", kind="kubernetes", server="https://west")


@pytest.fixture
def version(pusher: Pusher) -> Version:
    return Version.objects.select_related("dataset__project").get()


def warm(agent: NodeAgent, version: Version, **options: Any) -> WarmPlan:
    """Bring a version to a node by a plan that ends."""
    cluster = agent.node.cluster
    plan = start_plan(
        version, cluster, PlanOptions(nodes=[agent.node.name], **options), make_user()
    )
    fetches = work(agent, WorkReport(64))["fetches"]
    work(agent, WorkReport(64, done=[ended(fetch) for fetch in fetches]))
    plan.refresh_from_db()
    assert plan.state == "done"
    return plan


def bytes_of(version: Version) -> int:
    return sum(size for _, size in sized_packs(version))


def report(agent: NodeAgent, used: int, limit: int, **others: Any) -> bool:
    disk = {**DISK, "cache_bytes": used, "limit_bytes": limit}
    return note_report(agent, AgentReport(5, disk, others.get("packs"), [], []))


def removals(agent: NodeAgent) -> set[str]:
    return {row["pack"] for row in work(agent, WorkReport(0))["remove"]}


def test_a_node_above_the_high_watermark_loses_cold_packs(
    cluster: Cluster, version: Version
) -> None:
    agent = make_agent(cluster, "n1")
    warm(agent, version)
    size = bytes_of(version)
    report(agent, size, int(size / 0.94))
    assert not removals(agent)
    report(agent, size, int(size / 0.96))
    orders = work(agent, WorkReport(0))["remove"]
    assert orders
    assert all(order.keys() == {"project", "pack"} for order in orders)
    record = CacheRecord.objects.get(node=agent.node)
    assert (record.state, record.packs_present) == ("cold", record.packs_total - len(orders))
    # Further reports order nothing more: the bytes are on their way out.
    report(agent, size, int(size / 0.96))
    assert removals(agent) == {order["pack"] for order in orders}
    assert work(agent, WorkReport(0, removed=orders))["remove"] == []
    agent.refresh_from_db()
    left = size - sum(s for pack, s in sized_packs(version) if pack in {o["pack"] for o in orders})
    assert agent.disk["cache_bytes"] == left


@pytest.mark.parametrize("need", ["running", "pinned", "other", "run", "volume"])
def test_what_is_needed_stays_on_a_full_node(cluster: Cluster, version: Version, need: str) -> None:
    agent = make_agent(cluster, "n1")
    warm(agent, version, pinned=need == "pinned")
    if need == "running":
        make_agent(cluster, "n2")
        start_plan(version, cluster, PlanOptions(nodes=["n1", "n2"]), make_user())
    if need == "other":
        pin(version, "label_task", "1")
    if need == "volume":
        NodeVolume.objects.create(node=agent.node, volume="csi-1", version=version, mode="packs")
    if need == "run":
        run = make_run(version.dataset.project, cluster=cluster)
        RunInput.objects.get_or_create(run=run, alias="data", defaults={"version": version})
        Run.objects.filter(pk=run.pk).update(state="running")
    size = bytes_of(version)
    # The node asks for the inventory, since nothing else can go.
    assert report(agent, size, size) is True
    assert not removals(agent)
    with pytest.raises(VersionPinned):
        evict_version(version, agent.node)


def test_a_queued_run_keeps_its_version_from_plans_and_the_watermark(
    cluster: Cluster, version: Version, pusher: Pusher
) -> None:
    agent = make_agent(cluster, "n1")
    warm(agent, version)
    run = make_run(version.dataset.project, cluster=cluster)
    RunInput.objects.get_or_create(run=run, alias="data", defaults={"version": version})
    Run.objects.filter(pk=run.pk).update(state="queued")
    size = bytes_of(version)
    other = another_version(pusher)
    report(agent, size, size + 1)
    NodeAgent.objects.update(removals=[])
    ensure_all(agent, version)
    with pytest.raises(CacheTooSmall) as refusal:
        start_plan(other, cluster, PlanOptions(nodes=["n1"]), make_user())
    lacking = bytes_of(other) - shared_bytes(version, other) - 1
    assert refusal.value.extra["missing_bytes"] == lacking
    assert WarmPlan.objects.filter(state="running").count() == 0
    assert not removals(agent)
    report(agent, size, size)
    assert not removals(agent)
    Run.objects.filter(pk=run.pk).update(state="succeeded")
    report(agent, size, size)
    assert removals(agent)


def ensure_all(agent: NodeAgent, version: Version) -> None:
    packs = {str(version.dataset.project_id): [pack for pack, _ in sized_packs(version)]}
    disk = {**NodeAgent.objects.get(pk=agent.pk).disk, "limit_bytes": None}
    limit = NodeAgent.objects.get(pk=agent.pk).disk["limit_bytes"]
    note_report(agent, AgentReport(6, disk, packs, [], []))
    NodeAgent.objects.filter(pk=agent.pk).update(disk={**disk, "limit_bytes": limit}, sequence=1)


def another_version(pusher: Pusher) -> Version:
    """Push files of other bytes; return the new version."""
    pusher.push({f"more/{number}.txt": bytes([number]) * 4000 for number in range(4)})
    rows = Version.objects.select_related("dataset__project")
    return rows.order_by("-number")[0]


def shared_bytes(first: Version, second: Version) -> int:
    packs = {pack for pack, _ in sized_packs(first)}
    return sum(size for pack, size in sized_packs(second) if pack in packs)


def test_a_plan_evicts_what_is_cold_and_says_how_much_is_missing(
    cluster: Cluster, version: Version, pusher: Pusher
) -> None:
    agent = make_agent(cluster, "n1")
    plan = warm(agent, version, keep_until=clock.now() + timedelta(hours=1))
    other = another_version(pusher)
    own = bytes_of(other) - shared_bytes(version, other)
    evictable = bytes_of(version) - shared_bytes(version, other)
    size = bytes_of(version)
    NodeAgent.objects.update(disk={**DISK, "cache_bytes": size, "limit_bytes": size})
    if evictable < own:
        with pytest.raises(CacheTooSmall) as refusal:
            start_plan(other, cluster, PlanOptions(nodes=["n1"]), make_user())
        assert refusal.value.extra["missing_bytes"] == own - evictable
        assert not removals(agent)
    NodeAgent.objects.update(
        disk={**DISK, "cache_bytes": size, "limit_bytes": size + max(own - evictable, 0)}
    )
    start_plan(other, cluster, PlanOptions(nodes=["n1"]), make_user())
    kept = {pack for pack, _ in sized_packs(other)}
    assert not removals(agent) & kept
    assert bool(removals(agent)) == (min(own, evictable) > 0)
    plan.refresh_from_db()
    assert plan.state == "done"


def test_a_pack_that_is_ordered_away_comes_anew_only_once_it_is_gone(
    cluster: Cluster, version: Version
) -> None:
    agent = make_agent(cluster, "n1")
    cancel_plan(warm(agent, version, pinned=True), make_user())
    evict_version(version, agent.node)
    orders = work(agent, WorkReport(0))["remove"]
    assert {order["pack"] for order in orders} == {pack for pack, _ in sized_packs(version)}
    # An inventory from before the removal brings no pack back.
    packs = {str(version.dataset.project_id): [order["pack"] for order in orders]}
    note_report(agent, AgentReport(9, DISK, packs, [], []))
    assert CacheRecord.objects.get(node=agent.node).packs_present == 0
    start_plan(version, cluster, PlanOptions(nodes=["n1"]), make_user())
    assert work(agent, WorkReport(64))["fetches"] == []
    fetches = work(agent, WorkReport(64, removed=orders))["fetches"]
    assert {fetch["pack"] for fetch in fetches} == {order["pack"] for order in orders}


def test_packs_without_a_durable_home_stay(cluster: Cluster, version: Version) -> None:
    agent = make_agent(cluster, "n1")
    warm(agent, version)
    Pack.objects.update(state="quarantined")
    size = bytes_of(version)
    report(agent, size, size)
    assert not removals(agent)


def test_packs_that_no_version_names_go(cluster: Cluster, version: Version) -> None:
    agent = make_agent(cluster, "n1")
    warm(agent, version)
    project = str(version.dataset.project_id)
    known = [pack for pack, _ in sized_packs(version)]
    stranger = "0" * 64
    note_report(agent, AgentReport(3, DISK, {project: [*known, stranger]}, [], []))
    assert removals(agent) == {stranger}
    # Packs of the store whose record is gone stay until the room is needed.
    work(agent, WorkReport(0, removed=[{"project": project, "pack": stranger}]))
    CacheRecord.objects.all().delete()
    note_report(agent, AgentReport(4, DISK, {project: known}, [], []))
    assert not removals(agent)
    report(agent, 100, 100, packs={project: known})
    assert removals(agent) == set(known)


def test_runs_need_versions_where_they_are(cluster: Cluster, version: Version) -> None:
    first, second = make_agent(cluster, "n1"), make_agent(cluster, "n2")
    far = Cluster.objects.create(name="far", kind="kubernetes", server="https://far")
    third = make_agent(far, "n3")
    run = make_run(version.dataset.project, cluster=cluster)
    RunInput.objects.get_or_create(run=run, alias="data", defaults={"version": version})
    nodes = [agent.node_id for agent in (first, second, third)]

    def ranks() -> list[NeedRank]:
        return [ranks_on(nodes, [version.pk])[node, version.pk] for node in nodes]

    Run.objects.filter(pk=run.pk).update(state="queued")
    assert ranks() == [NeedRank.QUEUED, NeedRank.QUEUED, NeedRank.COLD]
    Run.objects.filter(pk=run.pk).update(state="placing")
    assert ranks() == [NeedRank.RUNNING, NeedRank.RUNNING, NeedRank.COLD]
    attempt = Attempt.objects.create(run=run, number=1, state="running", cluster=cluster)
    rank = Rank.objects.create(attempt=attempt, number=0, node=second.node)
    assert ranks() == [NeedRank.COLD, NeedRank.RUNNING, NeedRank.COLD]
    Rank.objects.filter(pk=rank.pk).update(node=None)
    assert ranks() == [NeedRank.RUNNING, NeedRank.RUNNING, NeedRank.COLD]
    Rank.objects.filter(pk=rank.pk).update(node=second.node)
    record = ensure_record(second.node, version)
    unpin(run)
    Run.objects.filter(pk=run.pk).update(state="succeeded")
    record.refresh_from_db()
    assert record.used_at is not None
    assert ranks() == [NeedRank.COLD] * 3


@pytest.mark.django_db(transaction=True)
def test_a_plan_and_an_eviction_take_turns(cluster: Cluster, version: Version) -> None:
    agent = make_agent(cluster, "n1")
    warm(agent, version)
    size = bytes_of(version)
    NodeAgent.objects.update(disk={**DISK, "cache_bytes": size, "limit_bytes": size})
    started = threading.Event()
    plans: list[WarmPlan] = []

    def plan() -> None:
        try:
            started.set()
            plans.append(start_plan(version, cluster, PlanOptions(nodes=["n1"]), None))
        finally:
            connection.close()

    thread = threading.Thread(target=plan)
    with transaction.atomic():
        row = NodeAgent.objects.select_for_update().select_related("node").get(pk=agent.pk)
        assert make_room(row) > 0
        thread.start()
        started.wait(10)
        # The plan waits for the agent's row; it must not count packs that are ordered away.
        thread.join(0.5)
        assert thread.is_alive()
    thread.join(30)
    (part,) = plans[0].parts.all()
    assert plans[0].state == "running"
    assert part.packs_present == ensure_record(agent.node, version).packs_present
    assert part.packs_present < part.packs_total
