"""Queues of Kueue for the runs of a world."""

from __future__ import annotations

from typing import Any

from atom.clusters.models import Cluster, RunQueue
from atom.clusters.registration.engines.cluster_queues import QUEUES, READY
from tests.jobs.executors.kubernetes.world import World

QUEUE = "team-a"


def use_queue(world: World, *, gates: bool = True, local_queue: str = "") -> None:
    """Let the runs of all projects use a queue, whose cluster the check has seen so."""
    RunQueue.objects.create(cluster=world.cluster, cluster_queue=QUEUE, local_queue=local_queue)
    seen = {"state": READY, "reason": "", "covered": ["cpu", "memory", "nvidia.com/gpu"]}
    facts: dict[str, Any] = {"gates": gates, "cluster_queues": {QUEUE: seen}}
    row = Cluster.objects.get(pk=world.cluster.pk)
    row.facts = {**row.facts, QUEUES: facts}
    row.save(update_fields=["facts"])
    world.cluster.refresh_from_db()
