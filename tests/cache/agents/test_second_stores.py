"""Agents read a version in the second store that is near their cluster, pack by pack."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from atom.cache.agents.actions.plans import PlanOptions, start_plan
from atom.cache.agents.actions.work import WorkReport, work
from atom.cache.models import WarmPlanNode
from atom.cache.origins import OWN_STORE, Way, nearest, nearest_store
from atom.clusters.models import Cluster, StoreRoute
from atom.datasets.models import Store, StoredPack, Version
from tests.cache.agents.test_work import make_agent
from tests.datasets.buckets import Bucket
from tests.datasets.pushing import Pusher, class_files
from tests.datasets.replicas.stores import add_store, replicate
from tests.factories.accounts import make_user

pytestmark = pytest.mark.usefixtures("committing_db")


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]


@pytest.fixture
def version(pusher: Pusher) -> Version:
    pusher.push(class_files())
    return Version.objects.select_related("dataset__project").get()


@pytest.fixture
def store(pusher: Pusher, version: Version) -> Store:
    store = add_store(Bucket())
    replicate(pusher, "v1", store)
    return store


@pytest.fixture
def cluster(version: Version) -> Cluster:
    return Cluster.objects.create(name="west", kind="kubernetes", server="https://west")


def route(cluster: Cluster, store: str, fee: str = "0") -> None:
    StoreRoute.objects.create(cluster=cluster, store=store, egress_per_gib=fee, currency="EUR")


def test_a_node_reads_the_near_store_and_falls_back_pack_by_pack(
    cluster: Cluster, version: Version, store: Store
) -> None:
    route(cluster, store.name)
    bucket = store.bucket
    agent = make_agent(cluster, "n1")
    start_plan(version, cluster, PlanOptions(copies=1), make_user())
    (fetch,) = work(agent, WorkReport(8))["fetches"]
    assert fetch["source"]["kind"] == "origin"
    assert f"/{bucket}/" in fetch["source"]["url"]
    assert httpx.get(fetch["source"]["url"]).status_code == 200
    failed = {"fetch": fetch["fetch"], "reason": "origin", "detail": "status 500"}
    (again,) = work(agent, WorkReport(8, failed=[failed]))["fetches"]
    assert f"/{bucket}/" not in again["source"]["url"]
    assert httpx.get(again["source"]["url"]).status_code == 200
    # The plan does not count what another store can give.
    assert WarmPlanNode.objects.get().failures == 0
    assert StoredPack.objects.get().avoided_until is not None


def test_a_wrong_pack_is_read_back_and_taken_out_or_mended(
    cluster: Cluster, version: Version, store: Store
) -> None:
    route(cluster, store.name)
    agent = make_agent(cluster, "n1")
    start_plan(version, cluster, PlanOptions(copies=1), make_user())
    (fetch,) = work(agent, WorkReport(8))["fetches"]
    before = StoredPack.objects.get().verified_at
    failed = {"fetch": fetch["fetch"], "reason": "digest", "detail": "other bytes"}
    work(agent, WorkReport(8, failed=[failed]))
    row = StoredPack.objects.get()
    assert row.state == "there"
    assert row.verified_at is not None
    assert before is not None
    assert row.verified_at > before


def test_a_store_without_a_route_is_not_read(
    cluster: Cluster, version: Version, store: Store
) -> None:
    assert nearest_store(cluster.pk, version) is None
    route(cluster, store.name, "0.05")
    assert nearest_store(cluster.pk, version) == store
    route(cluster, OWN_STORE, "0.01")
    assert nearest_store(cluster.pk, version) is None


def test_the_lowest_fee_wins_then_the_bandwidth() -> None:
    dear = Way(1e9, egress_per_byte=2.0, currency="EUR", is_stated=True)
    cheap = Way(1e6, egress_per_byte=1.0, currency="EUR", is_stated=True)
    fast = Way(1e9, egress_per_byte=1.0, currency="EUR", is_stated=True)
    foreign = Way(1e9, egress_per_byte=0.5, currency="USD", is_stated=True)
    unknown = Way()
    ways = {"own": dear, "cheap": cheap, "fast": fast, "foreign": foreign, "unknown": unknown}
    assert nearest("own", ["cheap"], ways) == "cheap"
    assert nearest("own", ["cheap", "fast"], ways) == "fast"
    assert nearest("own", ["foreign"], ways) == "own"
    assert nearest("own", ["unknown"], ways) == "own"
    assert nearest("unknown", ["foreign"], ways) == "foreign"
