"""The first page of a project sums running plans over their nodes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import F
from rest_framework.test import APIClient

from atom.accounts.models import User
from atom.cache.agents.actions.plan_progress import running_plans
from atom.cache.agents.actions.plans import PlanOptions, cancel_plan, start_plan
from atom.cache.agents.actions.work import WorkReport, work
from atom.cache.models import PackFetch, WarmPlanNode
from atom.clusters.models import Cluster
from atom.datasets.models import Version
from tests.cache.agents.many_packs import named_digests, version_of_packs
from tests.cache.agents.test_work import ended, make_agent
from tests.factories.accounts import make_user

pytestmark = pytest.mark.django_db
PACKS, PACK_BYTES = 8, 1000


@pytest.fixture
def version() -> Version:
    made = version_of_packs(named_digests(PACKS), PACK_BYTES)
    return Version.objects.select_related("dataset__project").get(pk=made.pk)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(name="west", kind="kubernetes", server="https://west")


def shown(version: Version, user: User) -> list[dict[str, Any]]:
    client = APIClient()
    client.force_authenticate(user)
    answer = client.get(f"/api/v1/projects/{version.dataset.project.slug}/overview/")
    assert answer.status_code == 200, answer.content
    plans: list[dict[str, Any]] = answer.json()["warm_plans"]
    return plans


def test_bytes_of_all_nodes_and_of_open_fetches_count(version: Version, cluster: Cluster) -> None:
    first, second = make_agent(cluster, "n1"), make_agent(cluster, "n2")
    root = make_user(is_superuser=True)
    plan = start_plan(version, cluster, PlanOptions(copies=2), root)
    fetches = work(first, WorkReport(PACKS))["fetches"]
    work(first, WorkReport(0, done=[ended(fetch) for fetch in fetches]))
    work(second, WorkReport(1))
    PackFetch.objects.update(bytes_done=400)
    (line,) = shown(version, root)
    assert line["id"] == str(plan.pk)
    assert (line["dataset"], line["ref"]) == (version.dataset.name, version.ref)
    assert line["cluster"] == "west"
    assert line["bytes_total"] == 2 * PACKS * PACK_BYTES
    assert line["bytes_present"] == len(fetches) * PACK_BYTES + 400
    assert (line["nodes"], line["nodes_done"]) == (2, int(len(fetches) == PACKS))


def test_a_replaced_node_does_not_count_and_more_than_all_is_never_shown(
    version: Version, cluster: Cluster
) -> None:
    make_agent(cluster, "n1")
    make_agent(cluster, "n2")
    plan = start_plan(version, cluster, PlanOptions(nodes=["n1", "n2"]), make_user())
    WarmPlanNode.objects.filter(node__name="n2").update(state="replaced")
    WarmPlanNode.objects.update(bytes_present=F("bytes_total"))
    (progress,) = running_plans(plan.project, 5)
    assert (progress.nodes, progress.bytes_total) == (1, PACKS * PACK_BYTES)
    assert progress.bytes_present == progress.bytes_total


def test_plans_that_ended_are_left_out_and_the_newest_come_first(
    version: Version, cluster: Cluster, django_assert_num_queries: Any
) -> None:
    for number in range(4):
        make_agent(cluster, f"n{number}")
    user = make_user()
    plans = [
        start_plan(version, cluster, PlanOptions(nodes=[f"n{number}"]), user) for number in range(4)
    ]
    cancel_plan(plans[3], user)
    with django_assert_num_queries(2):
        found = running_plans(version.dataset.project, 2)
    assert [progress.plan.pk for progress in found] == [plans[2].pk, plans[1].pk]
