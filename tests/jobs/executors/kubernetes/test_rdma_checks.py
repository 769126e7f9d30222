"""Whether RDMA is on: real pods with real limits, and what a report of any shape means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from atom.clusters.models import ClusterProfile
from atom.clusters.registration.actions import pod_findings
from atom.clusters.registration.actions.profiles import ProfileSettings, change_profile
from atom.clusters.registration.engines.profiles import RdmaNeed
from atom.jobs.executors.kubernetes.engines.rdma_checks import judge_rdma
from atom.jobs.executors.kubernetes.pod_check import try_pod
from tests.factories.accounts import make_user
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.test_pod_check import finding, jobs, pods
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import serve, wait_for

Json = dict[str, Any]
NEED = RdmaNeed("rdma/hca", 2)
SMALL = 64 << 10


@pytest.fixture
def world(transactional_db: None, settings: Any) -> Iterator[World]:
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    with serve() as origin, StandIn(tls=True, kubelet=True) as stand_in:
        settings.ATOM_POD_API_URL = origin
        stand_in.nodes.add("n1", {"rdma/hca": "2"})
        yield World(stand_in)


def tried(world: World) -> ClusterProfile:
    actor = make_user(is_superuser=True)
    try_pod(world.cluster.pk, pod_findings.begin(world.cluster, actor))
    wait_for(lambda: not jobs(world) and not pods(world))
    return ClusterProfile.objects.get(cluster=world.cluster)


@pytest.mark.django_db(transaction=True)
def test_a_small_limit_keeps_rdma_off_and_a_large_one_switches_it_on(world: World) -> None:
    needed = SMALL * 2
    boss = make_user("chief", is_superuser=True)
    change_profile(
        world.cluster,
        ProfileSettings(rdma_resource="rdma/hca", rdma_count=2, memlock_bytes=needed),
        boss,
    )
    world.stand_in.kubelet.memlock_bytes = SMALL
    row = tried(world)
    assert (row.rdma_passed, row.rdma_node) == (False, "n1")
    params = row.rdma_reason.as_code()["params"]
    assert (params["given"], params["needed"]) == ("64 KiB", "128 KiB")
    assert "LimitMEMLOCK=infinity" in row.rdma_reason
    # The pod of the try reached Atom all the same: the cluster takes runs.
    assert finding(world)["detail_code"] == "clusters.pod_reaches"

    world.stand_in.kubelet.memlock_bytes = needed
    row = tried(world)
    assert row.rdma_passed, row.rdma_reason
    assert row.rdma_tested_at is not None
    assert row.rdma_reason.as_code()["code"] == "clusters.rdma_on"


@pytest.mark.django_db(transaction=True)
def test_a_resource_that_no_node_has_keeps_rdma_off(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A pod that waits for a device needs no two minutes to be believed.
    monkeypatch.setattr("atom.jobs.executors.kubernetes.pod_check.LIMIT_S", 12)
    settings = ProfileSettings(rdma_resource="rdma/none")
    change_profile(world.cluster, settings, make_user("chief", is_superuser=True))
    row = tried(world)
    assert not row.rdma_passed
    assert row.rdma_reason.as_code()["code"] == "clusters.rdma_not_started"
    assert "rdma/none" in row.rdma_reason
    assert finding(world)["level"] == "ok"


@pytest.mark.parametrize(
    ("part", "needed", "expected"),
    [
        ({"memlock_bytes": -1, "devices": 2}, None, "clusters.rdma_on"),
        ({"memlock_bytes": -1, "devices": 1}, SMALL, "clusters.rdma_on"),
        ({"memlock_bytes": SMALL, "devices": 1}, SMALL, "clusters.rdma_on"),
        ({"memlock_bytes": SMALL - 1, "devices": 1}, SMALL, "clusters.rdma_memlock"),
        ({"memlock_bytes": 1 << 60, "devices": 1}, None, "clusters.rdma_memlock"),
        ({"memlock_bytes": -1, "devices": 0}, None, "clusters.rdma_no_device"),
        ({"memlock_bytes": -2, "devices": 1}, SMALL, "clusters.rdma_no_report"),
        ({"memlock_bytes": True, "devices": 1}, SMALL, "clusters.rdma_no_report"),
        ({"memlock_bytes": -1.0, "devices": 1}, SMALL, "clusters.rdma_no_report"),
        ({"memlock_bytes": -1, "devices": "1"}, SMALL, "clusters.rdma_no_report"),
        ({"memlock_bytes": -1}, SMALL, "clusters.rdma_no_report"),
        ([], SMALL, "clusters.rdma_no_report"),
        (None, SMALL, "clusters.rdma_no_report"),
    ],
)
def test_a_report_of_rdma_means(part: Any, needed: int | None, expected: str) -> None:
    need = RdmaNeed("rdma/hca", 2, needed)
    passed, said = judge_rdma(json.dumps({"rdma": part}), need, 0, "n1")
    assert said.as_code()["code"] == expected
    assert passed is (expected == "clusters.rdma_on")


@pytest.mark.parametrize("text", ["", "python3: not found", "[1]", '"x"', "{", "nul\0"])
def test_a_text_that_is_no_report_leaves_rdma_off(text: str) -> None:
    passed, said = judge_rdma(text, NEED, 127, "n1")
    assert (passed, said.as_code()["code"]) == (False, "clusters.rdma_no_report")
