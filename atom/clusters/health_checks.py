"""Metrics and health of nodes: capacity, use and heartbeats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from atom.clusters.models import Cluster, Node
from atom.core import clock
from atom.core.health_checks import Finding, Gauge

# A node gives a sign every few seconds.
SILENT_AFTER_S = 60.0


def gauges() -> Iterator[Gauge]:
    """Yield capacity and use per node."""
    now = clock.now()
    node: Any
    for node in Node.objects.select_related("cluster").with_used().order_by("pk"):
        labels = {"cluster": node.cluster.name, "node": node.name}
        age_s = (now - node.heartbeat_at).total_seconds() if node.heartbeat_at else float("inf")
        yield Gauge("atom_node_heartbeat_age_seconds", "Since a node's last sign.", age_s, labels)
        for resource, has, used in (
            ("cpu", node.cpu_count, node.used_cpus),
            ("memory_bytes", node.memory_bytes, node.used_memory_bytes),
            ("gpu", node.gpu_count, node.used_gpus),
        ):
            of_it = {**labels, "resource": resource}
            yield Gauge("atom_node_capacity", "The resources that a node has for jobs.", has, of_it)
            yield Gauge("atom_node_used", "The resources that reservations hold.", used, of_it)


def findings() -> list[Finding]:
    """Name silent nodes and clusters, and say when there is no node to run anything on."""
    return [*_about_nodes(), *_about_clusters()]


def _about_clusters() -> list[Finding]:
    clusters = list(Cluster.objects.present().exclude(server="").order_by("name"))
    # A cluster that is drained keeps that state while it does not answer.
    away = [cluster for cluster in clusters if cluster.problem_code]
    if not clusters:
        return []
    if not away:
        text = f"{len(clusters)} clusters answer."
        return [Finding("clusters", "ok", text, figures={"total": len(clusters)})]
    names = ", ".join(f"{one.name} ({_last_sign(one)})" for one in away[:5])
    return [
        Finding(
            "clusters_unreachable",
            "warning",
            f"{len(away)} of {len(clusters)} clusters do not answer; the last sign: {names}.",
            "Runs there go on. See the reason on the cluster's page; check its address, its "
            "network and its kubeconfig.",
            {"away": len(away), "total": len(clusters), "names": names},
        )
    ]


def _last_sign(cluster: Cluster) -> str:
    return cluster.heartbeat_at.strftime("%Y-%m-%d %H:%M UTC") if cluster.heartbeat_at else "–"


def _about_nodes() -> list[Finding]:
    now = clock.now()
    nodes = list(Node.objects.filter(schedulable=True, cluster__server="").order_by("name"))
    silent = [
        node.name
        for node in nodes
        if node.heartbeat_at is None or (now - node.heartbeat_at).total_seconds() > SILENT_AFTER_S
    ]
    if not nodes:
        return [
            Finding(
                "nodes_missing",
                "problem" if Cluster.objects.exists() else "warning",
                "No node takes runs.",
                "Start a worker; it registers the machine that it runs on.",
            )
        ]
    if silent:
        return [
            Finding(
                "nodes_silent",
                "problem" if len(silent) == len(nodes) else "warning",
                f"{len(silent)} of {len(nodes)} nodes gave no sign for a minute.",
                "See whether these machines, and the workers on them, still run.",
                {"silent": len(silent), "total": len(nodes), "names": ", ".join(silent[:5])},
            )
        ]
    return [Finding("nodes", "ok", f"{len(nodes)} nodes.", figures={"total": len(nodes)})]
