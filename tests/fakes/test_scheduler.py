"""Where pods go, and the scheduler's words when they go nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .kubelet.fitting import words_of
from .kubelet.scheduler import Scheduler
from .kubelet.waiting import until
from .kubernetes.cluster import Cluster

Json = dict[str, Any]


class Pool:
    """A cluster with a scheduler and no kubelet."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def pod(self, name: str, requests: Json | None = None, **spec: Any) -> Json:
        """Make a pod."""
        container = {"name": "main", "image": "x:1", "resources": {"limits": requests or {}}}
        body = {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}
        return self.cluster.create("pods.", body, "default")

    def node_of(self, name: str) -> str:
        """Return the node of a pod once it has one."""
        store = self.cluster.store

        def look() -> str:
            pod = store.get("pods.", "default", name)
            return str(pod["spec"].get("nodeName", "")) if pod else ""

        return until(store, look, ("pods.",))

    def refusal(self, name: str) -> str:
        """Return why a pod is not scheduled."""
        store = self.cluster.store

        def look() -> str:
            pod = store.get("pods.", "default", name) or {"status": {}}
            for item in pod["status"].get("conditions") or ():
                if (item["type"], item.get("reason")) == ("PodScheduled", "Unschedulable"):
                    return str(item["message"])
            return ""

        return until(store, look, ("pods.",))


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Give the nodes of the recorded pool: one tainted, two small, four without a GPU label."""
    cluster = Cluster()
    scheduler = Scheduler(cluster.machinery, cluster.deletion, cluster.pods)
    cluster.controllers.append(scheduler)
    with cluster:
        yield Pool(cluster)


def taint(pool: Pool, node: str, **spec: Any) -> None:
    """Change the spec of a node."""
    machinery = pool.cluster.machinery
    machinery.replace(machinery.kind("nodes."), ("", node), lambda old: old | {"spec": spec})


_HARD = {"key": "only", "value": "us", "effect": "NoSchedule"}


def test_pods_spread_over_nodes_with_room(pool: Pool) -> None:
    for name in ("n1", "n2"):
        pool.cluster.nodes.add(name, {"nvidia.com/gpu": "4"})
    nodes = []
    for number in range(4):
        pool.pod(f"p{number}", {"nvidia.com/gpu": "2"})
        nodes.append(pool.node_of(f"p{number}"))
    assert sorted(nodes) == ["n1", "n1", "n2", "n2"]
    pool.pod("more", {"nvidia.com/gpu": "1"})
    assert pool.refusal("more") == (
        "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. no new claims to deallocate, "
        "preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
    )
    pool.cluster.deletion.delete(
        pool.cluster.pods.resource, "default", "p0", {"gracePeriodSeconds": 0}
    )
    assert pool.node_of("more") in ("n1", "n2")


def test_the_words_of_a_mixed_pool_are_the_recorded_ones(pool: Pool) -> None:
    labels = {"pool": "p"}
    pool.cluster.nodes.add("t1", {"nvidia.com/gpu": "4"}, labels)
    taint(pool, "t1", taints=[_HARD])
    pool.cluster.nodes.add("t2", {"nvidia.com/gpu": "4"}, labels)
    taint(pool, "t2", unschedulable=True)
    pool.cluster.nodes.add("t3", {"cpu": "1"}, labels)
    for number in range(1, 5):
        pool.cluster.nodes.add(f"n{number}", {"nvidia.com/gpu": "4"})
    pool.pod("cordoned", {"nvidia.com/gpu": "1"}, nodeSelector=labels)
    assert pool.refusal("cordoned") == (
        "0/7 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated "
        "taint(s), 1 node(s) were unschedulable, 4 node(s) didn't match Pod's node "
        "affinity/selector. no new claims to deallocate, preemption: 0/7 nodes are available: 7 "
        "Preemption is not helpful for scheduling."
    )
    (event,) = [
        item
        for item in pool.cluster.store.objects("events.", "default")
        if item["reason"] == "FailedScheduling"
    ]
    assert event["type"] == "Warning"


@pytest.mark.parametrize(
    ("expression", "node"),
    [
        ({"key": "zone", "operator": "In", "values": ["z2"]}, "n2"),
        ({"key": "zone", "operator": "NotIn", "values": ["z1", "z3"]}, "n2"),
        ({"key": "fast", "operator": "Exists"}, "n3"),
        ({"key": "size", "operator": "Gt", "values": ["15"]}, "n2"),
        ({"key": "size", "operator": "Lt", "values": ["15"]}, "n1"),
    ],
)
def test_required_affinity_chooses_the_node(pool: Pool, expression: Json, node: str) -> None:
    pool.cluster.nodes.add("n1", labels={"zone": "z1", "size": "10"})
    pool.cluster.nodes.add("n2", labels={"zone": "z2", "size": "20"})
    pool.cluster.nodes.add("n3", labels={"zone": "z3", "fast": ""})
    term = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}
    pool.pod("p", affinity=affinity)
    assert pool.node_of("p") == node


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"key": "only", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "only", "operator": "Equal", "value": "us"},
    ],
)
def test_tolerations_open_a_tainted_node(pool: Pool, toleration: Json) -> None:
    pool.cluster.nodes.add("n1")
    taint(pool, "n1", taints=[_HARD])
    pool.pod("p", tolerations=[toleration])
    assert pool.node_of("p") == "n1"
    pool.pod("q", tolerations=[{"key": "only", "operator": "Equal", "value": "them"}])
    assert "untolerated taint" in pool.refusal("q")


def test_gates_claims_and_other_schedulers(pool: Pool) -> None:
    store = pool.cluster.store
    pool.pod("gated", schedulingGates=[{"name": "wait"}])
    pool.pod("other", schedulerName="volcano")
    pool.pod("big", {"cpu": "64"})
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "absent"}}
    pool.pod("claim", volumes=[claim])
    pool.cluster.nodes.add("n1")
    pool.pod("free")
    assert pool.node_of("free") == "n1"
    assert pool.refusal("claim") == (
        '0/1 nodes are available: persistentvolumeclaim "absent" not found. not found'
    )
    for name in ("gated", "other"):
        pod = store.get("pods.", "default", name)
        assert pod is not None
        assert "nodeName" not in pod["spec"]
    # A node comes that is large enough.
    assert "Insufficient cpu" in pool.refusal("big")
    pool.cluster.nodes.add("n2", {"cpu": "128"})
    assert pool.node_of("big") == "n2"


def test_without_nodes_there_is_nothing_to_count() -> None:
    assert words_of([]) == "no nodes available to schedule pods"
