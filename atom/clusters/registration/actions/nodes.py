"""The nodes of a cluster as its API lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from django.db.models.functions import Now

from atom.clusters.models import Cluster, Node, NodeAccelerator
from atom.clusters.registration.engines.nodes import NodeFacts
from atom.core import clock


def sync_nodes(cluster: Cluster, facts: Sequence[NodeFacts]) -> None:
    """Write the nodes and their accelerators; nodes that are gone and hold nothing are removed.

    Call it inside the transaction that holds the cluster's row.
    """
    now = clock.now()
    rows = [
        Node(cluster=cluster, name=node.name, cpu_count=node.cpus, memory_bytes=node.memory_bytes)
        for node in facts
    ]
    Node.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["cluster", "name"],
        update_fields=["cpu_count", "memory_bytes"],
    )
    names = [node.name for node in facts]
    cluster.nodes.exclude(name__in=names).filter(reservations=None).delete()
    ready = [node.name for node in facts if node.is_ready]
    of_ready = cluster.nodes.filter(name__in=ready)
    of_ready.update(heartbeat_at=now)
    of_ready.filter(ready_since=None).update(ready_since=now)
    cluster.nodes.exclude(name__in=ready).update(ready_since=None, updated_at=Now())
    _sync_cordons(cluster, [node.name for node in facts if node.is_unschedulable], now)
    ids = dict(cluster.nodes.values_list("name", "pk"))
    NodeAccelerator.objects.filter(node__cluster=cluster).delete()
    NodeAccelerator.objects.bulk_create(
        NodeAccelerator(node_id=ids[node.name], kind=kind, **asdict(accelerator))
        for node in facts
        for kind, accelerator in node.accelerators.items()
    )


def _sync_cordons(cluster: Cluster, cordoned: Sequence[str], now: datetime) -> None:
    """Close the nodes that the cluster cordoned, and open those that it closed before.

    A cordon that a person set here has a name, and stays until a person takes it back.
    """
    of_cluster = cluster.nodes.filter(cordoned_by="")
    of_cluster.filter(name__in=cordoned, schedulable=True).update(
        schedulable=False, cordoned_at=now
    )
    of_cluster.exclude(name__in=cordoned).filter(schedulable=False).update(
        schedulable=True, cordoned_at=None
    )
