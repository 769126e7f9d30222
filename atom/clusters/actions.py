"""Writes of the clusters app: this machine as a node, and the slots that attempts hold."""

from __future__ import annotations

import time
from functools import lru_cache
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Q, When
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import User
from atom.clusters.engines.machine import Machine, disk_bytes, probe_machine
from atom.clusters.errors import CordonedByCluster, MachineNotFound
from atom.clusters.models import Cluster, Node, Reservation
from atom.clusters.states import SILENT_AFTER
from atom.core import clock

log = structlog.get_logger(__name__)

# The name of Atom's own machines, and that by which a run leaves its place to Atom.
LOCAL = "local"
AUTO = "auto"


# A driver that hangs may keep the caller waiting until the tool's timeout.
_ASKED_AGAIN_AFTER_S = 60.0
_CORDON = ("schedulable", "cordon_reason", "cordoned_by", "cordoned_at")


def this_machine() -> Machine:
    """Return what this machine offers; probed once per process, since GPUs take a second."""
    return _probed()[0]


@lru_cache(maxsize=1)
def _probed() -> tuple[Machine, float]:
    machine = probe_machine()
    if not machine.gpus_known:
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
    """Record a heartbeat of this machine, and its resources.

    GPUs that the tool did not report, as while their driver starts, are looked for again.
    """
    machine, probed_at = _probed()
    if not machine.gpus_known and time.monotonic() - probed_at >= _ASKED_AGAIN_AFTER_S:
        _probed.cache_clear()
    node = ensure_local_node()
    resources = _resources(this_machine())
    total, free = disk_bytes(settings.ATOM_HOME)
    was_away = Q(ready_since=None) | Q(heartbeat_at__lt=Now() - SILENT_AFTER)
    Node.objects.filter(pk=node.pk).update(
        ready_since=Case(When(was_away, then=Now()), default=F("ready_since")),
        heartbeat_at=Now(),
        disk_total_bytes=total,
        disk_free_bytes=free,
        **resources,
    )
    return node


def cordon(node_id: UUID, actor: User, reason: str) -> Node:
    """Keep new runs off a node; runs that are there go on. Again, it only changes the reason.

    Raises MachineNotFound.
    """
    with transaction.atomic():
        node = _locked(node_id)
        node.schedulable, node.cordon_reason, node.cordoned_by = False, reason, actor.username
        node.cordoned_at = node.cordoned_at or clock.now()
        node.save(update_fields=[*_CORDON, "updated_at"])
        audit.record(actor, "machine.cordoned", node, reason=reason, node=node.name)
    return node


def uncordon(node_id: UUID, actor: User) -> Node:
    """Let a node take runs again; a node that takes them stays as it is.

    Raises MachineNotFound, CordonedByCluster.
    """
    with transaction.atomic():
        node = _locked(node_id)
        if node.schedulable:
            return node
        if not node.cordoned_by:
            raise CordonedByCluster
        node.schedulable, node.cordon_reason, node.cordoned_by = True, "", ""
        node.cordoned_at = None
        node.save(update_fields=[*_CORDON, "updated_at"])
        audit.record(actor, "machine.uncordoned", node, node=node.name)
    return node


def _locked(node_id: UUID) -> Node:
    # The lock that `reserve` takes: no run is placed between the decision and its commit.
    try:
        return Node.objects.select_for_update().get(pk=node_id)
    except Node.DoesNotExist as error:
        raise MachineNotFound from error


def _resources(machine: Machine) -> dict[str, int | str | list[str] | list[int]]:
    return {
        "cpu_count": machine.cpu_count,
        "memory_bytes": machine.memory_bytes,
        "gpu_count": len(machine.gpu_ids),
        "gpu_ids": list(machine.gpu_ids),
        "gpu_model": machine.gpu_model,
        "gpu_memory_bytes": list(machine.gpu_memory_bytes),
    }


def note_isolation(cluster_id: UUID, *, single_user: bool) -> None:
    """Note whether jobs share the server's user, so that the portal can say so."""
    Cluster.objects.filter(pk=cluster_id).exclude(single_user=single_user).update(
        single_user=single_user
    )


def reserve(
    node_id: UUID, attempt_id: UUID, *, cpus: int, memory_bytes: int, gpus: int, rank: int = 0
) -> Reservation | None:
    """Hold slots for a rank of an attempt; None if they are not free any more. Safe to repeat."""
    with transaction.atomic():
        # Lock first: reservations of one node are taken one after the other, so slots are never
        # promised twice.
        node = Node.objects.select_for_update().get(pk=node_id)
        held = list(node.reservations.all())
        mine = next((one for one in held if (one.attempt_id, one.rank) == (attempt_id, rank)), None)
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
            rank=rank,
            cpus=cpus,
            memory_bytes=memory_bytes,
            gpus=gpus,
            gpu_ids=free[:gpus],
            slot=slot,
        )


def release(attempt_id: UUID) -> None:
    """Give the slots of all its ranks back; safe to repeat."""
    Reservation.objects.filter(attempt_id=attempt_id).delete()
