"""Writes of the clusters app: this machine as a node, and the slots that attempts hold."""

from __future__ import annotations

import time
from functools import lru_cache
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models.functions import Now

from atom.clusters.engines.machine import Machine, probe_machine
from atom.clusters.models import Cluster, Node, Reservation

log = structlog.get_logger(__name__)

LOCAL = "local"


# A driver that does not answer may keep who asks waiting for as long as the tool is given.
_ASKED_AGAIN_AFTER_S = 60.0


def this_machine() -> Machine:
    """Return what this machine offers; probed once per process, since GPUs take a second."""
    return _probed()[0]


@lru_cache(maxsize=1)
def _probed() -> tuple[Machine, float]:
    machine = probe_machine()
    if not machine.gpus_told:
        log.warning("gpus_not_told", machine=machine.name)
    return machine, time.monotonic()


def ensure_local_node() -> Node:
    """Return this machine's node, joining it to the local cluster at first use."""
    machine = this_machine()
    node = (
        Node.objects.select_related("cluster")
        .filter(cluster__name=LOCAL, name=machine.name)
        .first()
    )
    if node is None:
        cluster, _ = Cluster.objects.get_or_create(name=LOCAL, defaults={"kind": LOCAL})
        node, created = Node.objects.select_related("cluster").get_or_create(
            cluster=cluster, name=machine.name, defaults=_resources(machine)
        )
        if created:
            log.info("node_joined", node=node.name, cpus=node.cpu_count)
    return node


def beat_local_node() -> Node:
    """Note that this machine is alive, and what it has now.

    GPUs that were not told, as while their driver begins, are asked for again.
    """
    machine, probed_at = _probed()
    if not machine.gpus_told and time.monotonic() - probed_at >= _ASKED_AGAIN_AFTER_S:
        _probed.cache_clear()
    node = ensure_local_node()
    resources = _resources(this_machine())
    Node.objects.filter(pk=node.pk).update(heartbeat_at=Now(), **resources)
    return node


def _resources(machine: Machine) -> dict[str, int | str | list[str]]:
    return {
        "cpu_count": machine.cpu_count,
        "memory_bytes": machine.memory_bytes,
        "gpu_count": len(machine.gpu_ids),
        "gpu_ids": list(machine.gpu_ids),
        "gpu_model": machine.gpu_model,
    }


def note_isolation(cluster_id: UUID, *, single_user: bool) -> None:
    """Note whether jobs share the server's user, so that the portal can say so."""
    Cluster.objects.filter(pk=cluster_id).exclude(single_user=single_user).update(
        single_user=single_user
    )


def reserve(
    node_id: UUID, attempt_id: UUID, *, cpus: int, memory_bytes: int, gpus: int
) -> Reservation | None:
    """Hold slots for an attempt; None if they are not free any more. Safe to repeat."""
    with transaction.atomic():
        # Lock first: reservations of one node are taken one after the other, so slots are never
        # promised twice.
        node = Node.objects.select_for_update().get(pk=node_id)
        held = list(node.reservations.all())
        mine = next((one for one in held if one.attempt_id == attempt_id), None)
        if mine is not None:
            return mine
        if (
            not node.schedulable
            or sum(one.cpus for one in held) + cpus > node.cpu_count
            or sum(one.memory_bytes for one in held) + memory_bytes > node.memory_bytes
            or sum(one.gpus for one in held) + gpus > node.gpu_count
        ):
            return None
        busy = {gpu for one in held for gpu in one.gpu_ids}
        free = [gpu for gpu in node.gpu_ids if gpu not in busy]
        taken = {one.slot for one in held}
        slot = next(number for number in range(len(held) + 1) if number not in taken)
        return Reservation.objects.create(
            node=node,
            attempt_id=attempt_id,
            cpus=cpus,
            memory_bytes=memory_bytes,
            gpus=gpus,
            gpu_ids=free[:gpus],
            slot=slot,
        )


def release(attempt_id: UUID) -> None:
    """Give the attempt's slots back; safe to repeat."""
    Reservation.objects.filter(attempt_id=attempt_id).delete()
