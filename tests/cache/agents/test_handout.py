"""Many nodes ask at once: the origin gives each pack once, and never too many at a time."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from atom.cache.agents.actions.handout import ORIGIN_FETCHES
from atom.cache.agents.actions.plans import PlanOptions, start_plan
from atom.cache.agents.actions.work import WorkReport, work
from atom.cache.models import CacheRecord, NodeAgent, PackFetch, WarmPlan
from atom.clusters.models import Cluster
from atom.core import clock
from atom.datasets.models import Version
from tests.cache.agents.many_packs import named_digests, version_of_packs
from tests.cache.agents.test_work import ended, make_agent
from tests.factories.accounts import make_user

Json = dict[str, Any]


def make_cluster(name: str) -> Cluster:
    return Cluster.objects.create(name=name, kind="kubernetes", server=f"https://{name}")


def versioned(count: int) -> Version:
    version = version_of_packs(named_digests(count), 1000)
    return Version.objects.select_related("dataset__project").get(pk=version.pk)


@pytest.mark.django_db(transaction=True)
def test_nodes_that_ask_at_once_get_each_pack_from_the_origin_once() -> None:
    version, cluster = versioned(12), make_cluster("west")
    agents = [make_agent(cluster, f"n{number}") for number in range(4)]
    plan = start_plan(version, cluster, PlanOptions(copies=4), make_user())
    origins: list[str] = []
    failures: list[Exception] = []
    begin = threading.Barrier(len(agents))

    def run(agent: NodeAgent) -> None:
        fetches: list[Json] = []
        try:
            begin.wait(30)
            for _ in range(200):
                done = [ended(fetch) for fetch in fetches]
                fetches = work(agent, WorkReport(3, done=done))["fetches"]
                origins.extend(
                    fetch["pack"] for fetch in fetches if fetch["source"]["kind"] == "origin"
                )
                if not fetches and WarmPlan.objects.filter(pk=plan.pk, state="done").exists():
                    return
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(agent,)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    plan.refresh_from_db()
    assert plan.state == "done"
    assert sorted(origins) == sorted(digest.hex() for digest in named_digests(12))
    assert not PackFetch.objects.exists()
    counts = CacheRecord.objects.filter(version=version).values_list("packs_present", flat=True)
    assert list(counts) == [12] * 4


@pytest.mark.usefixtures("committing_db")
def test_the_plan_of_higher_priority_gets_the_reads_and_the_other_one() -> None:
    first, second = make_cluster("west"), make_cluster("east")
    slow = [make_agent(first, f"n{number}") for number in range(3)]
    fast = make_agent(second, "m1")
    low = start_plan(versioned(100), first, PlanOptions(copies=3, priority=0), make_user())
    high = version_of_packs(named_digests(100, "other"), 1000)
    high = Version.objects.select_related("dataset__project").get(pk=high.pk)
    taken = [row for agent in slow for row in work(agent, WorkReport(40))["fetches"]]
    # All reads of all clusters are taken.
    assert len(taken) == ORIGIN_FETCHES
    plan = start_plan(high, second, PlanOptions(copies=1, priority=100), make_user())
    assert work(fast, WorkReport(40))["fetches"] == []
    WarmPlan.objects.filter(pk=low.pk).update(origin_wanted_at=clock.now())
    rows = {agent.pk: list(PackFetch.objects.filter(node=agent.node)) for agent in slow}
    for agent in slow:
        done = [
            {"fetch": str(row.pk), "bytes": row.size_bytes, "seconds": 1} for row in rows[agent.pk]
        ]
        # The low plan has packs that nobody read, and gets none while it holds more than one.
        answer = work(agent, WorkReport(40, done=done[: len(done) // 2]))
        kinds = [row["source"]["kind"] for row in answer["fetches"]]
        assert "origin" not in kinds
    orders = work(fast, WorkReport(40))["fetches"]
    assert orders
    assert {row["source"]["kind"] for row in orders} == {"origin"}
    PackFetch.objects.filter(plan=low).delete()
    (only,) = [
        row for row in work(slow[0], WorkReport(40))["fetches"] if row["source"]["kind"] == "origin"
    ]
    assert only["plan"] == str(low.pk)
    # Once the high plan waits no more, the low one has all.
    WarmPlan.objects.filter(pk=plan.pk).update(origin_wanted_at=clock.now() - timedelta(minutes=1))
    more = [
        row for row in work(slow[1], WorkReport(40))["fetches"] if row["source"]["kind"] == "origin"
    ]
    assert len(more) > 1
