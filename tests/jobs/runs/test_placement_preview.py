"""The preview of a placement: each place with its data, its cost, and the choice among them."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.cache.models import CacheRecord
from atom.clusters.actions import ensure_local_node
from atom.clusters.models import (
    AcceleratorPrice,
    Cluster,
    ClusterProfile,
    Node,
    NodeAccelerator,
    StoreRoute,
)
from atom.core import clock
from atom.datasets.models import Replica, Store, Version
from atom.jobs import states
from atom.jobs.models import Attempt
from tests.factories.accounts import make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_run

pytestmark = pytest.mark.django_db

GB = 10**9
GIB = 1 << 30
PREVIEW = "/api/v1/projects/vision/placements/preview/"


def make_cluster(name: str, price: str = "", currency: str = "EUR", gpus: int = 8) -> Cluster:
    """Return a registered cluster of one node with A100, and a way of 1 GB/s for 0.02 a GB."""
    cluster = Cluster.objects.create(name=name, kind="kubernetes", server="https://k8s.example.org")
    node = Node.objects.create(
        cluster=cluster,
        name=f"{name}-1",
        cpu_count=64,
        memory_bytes=512 * GIB,
        ready_since=clock.now(),
    )
    NodeAccelerator.objects.create(node=node, kind="A100", count=gpus, resource="nvidia.com/gpu")
    if price:
        AcceleratorPrice.objects.create(
            cluster=cluster, kind="A100", per_hour=Decimal(price), currency=currency
        )
    StoreRoute.objects.create(
        cluster=cluster,
        store="atom",
        bandwidth_bytes_per_s=GB,
        egress_per_gib=Decimal("0.021475"),
        currency=currency,
    )
    return cluster


def hold(cluster: Cluster, version: Version, part: float, **fields: Any) -> CacheRecord:
    """Record that the cluster's node has so much of a version."""
    return CacheRecord.objects.create(
        node=cluster.nodes.get(),
        version=version,
        bytes_total=100,
        bytes_present=int(part * 100),
        **fields,
    )


def ended_run(project: Project, cluster: Cluster | None = None, **fields: Any) -> None:
    """Record a run that waited for 100 s before its first attempt started and ran for 7200 s."""
    now = clock.now()
    run = make_run(
        project,
        cluster=cluster,
        state=states.SUCCEEDED,
        queued_at=now - timedelta(seconds=100),
        ran_s=7200,
        **fields,
    )
    Attempt.objects.create(
        run=run, number=1, state=states.SUCCEEDED, cluster=cluster, started_at=now
    )


@pytest.fixture
def version(project: Project) -> Version:
    """Return a version of 800 GB as far as its row says."""
    made = make_version(make_dataset(project, "digits"), {"a.jpg": None})
    Version.objects.filter(pk=made.pk).update(size_bytes=800 * GB)
    made.refresh_from_db()
    return made


def ask(api: APIClient, **body: Any) -> dict[str, Any]:
    answer = api.post(PREVIEW, {"gpus": 8, **body})
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def ranked(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in answer["candidates"] if row["rank"]]


def by_name(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in answer["candidates"]}


def test_a_replica_in_a_near_store_costs_the_egress_of_its_own_way(
    api: APIClient, version: Version
) -> None:
    far, near = make_cluster("far", "2.00"), make_cluster("near", "2.00")
    store = Store.objects.create(name="frankfurt", endpoint="https://s3.example.org", bucket="b")
    replica = Replica.objects.create(version=version, store=store, state="copying", pinned=True)
    for cluster, fee in ((far, "1.00"), (near, "0.001")):
        StoreRoute.objects.create(
            cluster=cluster, store=store.name, bandwidth_bytes_per_s=2 * GB,
            egress_per_gib=Decimal(fee), currency="EUR",
        )  # fmt: skip
    rows = by_name(ask(api, inputs={"d": "digits@v1"}))
    assert {rows[name]["data"][0]["store"] for name in ("far", "near")} == {"atom"}
    replica.state, replica.verified_at = "there", clock.now()
    replica.save()
    answer = ask(api, inputs={"d": "digits@v1"})
    rows = by_name(answer)
    assert answer["chosen"] == "near"
    assert (rows["near"]["data"][0]["store"], rows["far"]["data"][0]["store"]) == (
        "frankfurt",
        "atom",
    )
    assert float(rows["near"]["data"][0]["egress_cost"]) < 1
    assert float(rows["far"]["data"][0]["egress_cost"]) == pytest.approx(16, abs=0.01)


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_the_worked_example(
    api: APIClient,
    project: Project,
    version: Version,
    settings: Any,
    names: tuple[str, str],
) -> None:
    settings.ATOM_HOUR_VALUES = ((0, 1.0), (10, 30.0))
    made = {name: make_cluster(name, {"a": "2.00", "b": "2.10"}[name]) for name in names}
    hold(made["b"], version, 0.83)
    for _ in range(5):
        ended_run(project, command=["train"], gpus=8)
    answer = ask(api, inputs={"d": "digits@v1"}, priority=10, command=["train"])
    assert (answer["chosen"], answer["why"]["code"]) == ("b", "jobs.place_cheaper")
    assert answer["why"]["params"] == {
        "cluster": "b", "other": "a", "percent": 83, "amount": "17.21 EUR", "seconds": 664,
    }  # fmt: skip
    rows = by_name(answer)
    assert [row["rank"] for row in answer["candidates"]] == [1, 2, None]
    assert rows["a"]["cost"] == {
        "compute": "32.00", "egress": "16.00", "time": "67.17", "eviction": "0.00",
        "failure": "0.00", "total": "115.17", "currency": "EUR",
    }  # fmt: skip
    assert rows["b"]["cost"]["total"] == "97.95"
    assert rows["b"]["price"] == {"per_hour": "16.80", "total": "36.32", "currency": "EUR"}
    assert (rows["a"]["cheaper_than_chosen"], rows["a"]["later_than_chosen_s"]) == ("-17.21", 664)
    assert (rows["b"]["start"]["p50_s"], rows["b"]["start"]["p90_s"]) == (196, 196)
    (data,) = rows["b"]["data"]
    assert (data["bytes_there"], data["bytes_to_fetch"]) == (664 * GB, 136 * GB)
    assert (data["dataset"], data["ref"], data["egress_cost"]) == ("digits", "v1", "2.72")
    assert rows["b"]["run"]["basis"]["params"] == {"runs": 5}
    codes = [one["code"] for one in answer["assumptions"]]
    assert codes == ["jobs.assumed_no_failures", "jobs.assumed_hour_value", "jobs.assumed_transfer"]


def test_bytes_on_their_way_are_shown_and_cost_no_egress(api: APIClient, version: Version) -> None:
    hold(make_cluster("a", "2"), version, 0.5, state="warming")
    row = by_name(ask(api, inputs={"d": "digits@v1"}))["a"]
    assert (row["data"][0]["bytes_moving"], row["data"][0]["bytes_to_fetch"]) == (400 * GB, 0)
    assert (row["parts"]["data_s"], row["cost"]["egress"]) == (400, "0.00")


def test_without_a_stated_bandwidth_the_measured_mean_counts(
    api: APIClient, version: Version
) -> None:
    cluster = make_cluster("a", "2")
    StoreRoute.objects.all().delete()
    record = hold(cluster, version, 0)
    unknown = ask(api, inputs={"d": "digits@v1"})
    row = by_name(unknown)["a"]
    assert (row["start"]["known"], row["parts"]["data_s"], row["cost"]["total"]) == (
        False, None, None,
    )  # fmt: skip
    assert row["start"]["basis"]["code"] == "jobs.estimate_no_bandwidth"
    record.rate_bytes_s = 2 * GB
    record.save()
    measured = ask(api, inputs={"d": "digits@v1"})
    assert by_name(measured)["a"]["parts"]["data_s"] == 400
    assert "jobs.assumed_measured_rate" in [one["code"] for one in measured["assumptions"]]


def test_a_full_cluster_tells_the_wait_of_similar_runs_or_that_it_is_unknown(
    api: APIClient, project: Project
) -> None:
    cluster = make_cluster("a", "2")
    make_run(project, cluster=cluster, gpus=8, state=states.RUNNING)
    row = by_name(ask(api))["a"]
    assert (row["fits"], row["reason"]["code"]) == ("later", "jobs.cluster_full")
    assert row["parts"]["queue"]["basis"]["code"] == "jobs.estimate_unknown"
    assert (row["start"]["known"], row["rank"]) == (False, 1)
    make_run(project, cluster=cluster, gpus=8)
    for _ in range(5):
        ended_run(project, cluster, gpus=8)
    row = by_name(ask(api))["a"]
    queue = row["parts"]["queue"]
    assert queue["basis"]["params"] == {"position": 2, "runs": 5}
    assert (queue["p50_s"], row["parts"]["image_s"]) == (pytest.approx(100, abs=1), 0)


def test_places_that_never_take_the_run_come_last_with_their_reason(api: APIClient) -> None:
    make_cluster("a", gpus=4)
    make_cluster("b")
    ensure_local_node()
    answer = ask(api)
    assert answer["chosen"] == "b"
    assert answer["why"]["code"] == "jobs.place_only"
    _, small, own = answer["candidates"]
    assert (small["name"], small["fits"], small["rank"]) == ("a", "never", None)
    assert small["reason"]["code"] == "jobs.too_many_gpus"
    assert (small["cost"], small["start"], own["name"]) == (None, None, "local")


def test_a_place_tells_whose_pods_may_preempt_the_run(api: APIClient) -> None:
    """`a` has seen its classes and gives its pods one of them; `b` was never asked for them."""
    classes = [
        {"name": name, "value": value, "preempts": True, "default": False}
        for name, value in (("urgent", 100), ("research", 10), ("batch", 1))
    ]
    seen, unseen = make_cluster("a"), make_cluster("b")
    Cluster.objects.filter(pk=seen.pk).update(facts={"priority_classes": classes})
    rows = by_name(ask(api))
    assert rows["a"]["preempted_by"] == ["urgent", "research", "batch"]
    assert rows["b"]["preempted_by"] is None
    for cluster in (seen, unseen):
        ClusterProfile.objects.create(cluster=cluster, priority_class="research")
    ensure_local_node()
    rows = by_name(ask(api))
    assert rows["a"]["preempted_by"] == ["urgent"]
    assert rows["b"]["preempted_by"] is None
    assert rows["local"]["preempted_by"] == []


def test_own_machines_take_a_run_on_one_node_without_an_image(api: APIClient) -> None:
    ensure_local_node()
    assert ask(api, gpus=0)["chosen"] == "local"
    image = ask(api, gpus=0, image="python:3.13")
    assert (image["chosen"], image["why"]) == (None, None)
    assert image["candidates"][0]["reason"]["code"] == "jobs.image_without_cluster"
    several = ask(api, gpus=0, nodes=2)
    assert several["candidates"][0]["reason"]["code"] == "jobs.nodes_without_cluster"


def test_prices_of_two_currencies_are_never_summed(api: APIClient) -> None:
    make_cluster("a", "2", "EUR")
    make_cluster("b", "1", "USD")
    answer = ask(api)
    assert answer["why"]["code"] == "jobs.place_by_time"
    assert {row["cost"]["total"] for row in ranked(answer)} == {None}
    assert {row["cheaper_than_chosen"] for row in ranked(answer)} == {None}
    assert "jobs.assumed_currencies" in [one["code"] for one in answer["assumptions"]]


def test_a_place_without_a_price_comes_after_those_with_one(api: APIClient) -> None:
    make_cluster("a")
    make_cluster("b", "9")
    answer = ask(api)
    assert [row["name"] for row in ranked(answer)] == ["b", "a"]
    assert by_name(answer)["a"]["price"]["total"] is None


def test_wrong_references_are_named_by_their_alias(api: APIClient, project: Project) -> None:
    answer = api.post(PREVIEW, {"inputs": {"d": "nothing@v1"}})
    assert (answer.status_code, set(answer.json()["errors"])) == (400, {"inputs.d"})
    many = api.post(PREVIEW, {"inputs": {f"d{number}": "digits@v1" for number in range(101)}})
    assert set(many.json()["errors"]) == {"inputs"}
    assert set(api.post(PREVIEW, {"cpus": 0}).json()["errors"]) == {"cpus"}


def test_the_preview_is_for_people_of_the_project(api: APIClient) -> None:
    make_project("audio")
    assert api.post("/api/v1/projects/audio/placements/preview/", {}).status_code == 404


def test_the_data_of_all_clusters_is_read_at_once(api: APIClient, version: Version) -> None:
    for number in range(4):
        hold(make_cluster(f"c{number}", "2"), version, 0.1 * number)
    with CaptureQueriesContext(connection) as queries:
        ask(api, inputs={"d": "digits@v1"})
    texts = [query["sql"] for query in queries]
    for table, most in (("cache_cacherecord", 2), ("clusters_storeroute", 1)):
        assert sum(f'FROM "{table}"' in text for text in texts) == most
