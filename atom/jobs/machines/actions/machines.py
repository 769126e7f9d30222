"""Machines: what they have, what is free, and the runs that hold slots on them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Sum

from atom.accounts.models import Project, User
from atom.cache.models import CacheRecord
from atom.clusters.models import Node, Reservation
from atom.clusters.node_health import is_silent
from atom.jobs.models import Attempt

READY, SILENT, CORDONED = "ready", "silent", "cordoned"
STATES: Final = (READY, CORDONED, SILENT)


@dataclass(frozen=True, slots=True)
class Holding:
    """Slots that one run holds on a machine."""

    attempt: Attempt
    reservation: Reservation


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Resources that runs hold in projects that the reader may not see."""

    runs: int = 0
    cpus: int = 0
    memory_bytes: int = 0
    gpus: int = 0


@dataclass(frozen=True, slots=True)
class Machine:
    """A node with its state, its cache and the runs on it."""

    node: Any
    state: str
    since: datetime | None
    cache_bytes: int
    cached_versions: int
    holdings: list[Holding]
    elsewhere: Elsewhere


def machines_for(user: User, project_id: UUID | None = None) -> list[Machine]:
    """Return every machine, in a number of queries that does not grow with them.

    Runs are named where the reader has a role in their project; `project_id` is that of a token
    that sees no other project.
    """
    visible = Project.objects.visible_to(user)
    if project_id is not None:
        visible = visible.filter(pk=project_id)
    cached = _cached()
    held = _held(set(visible.values_list("pk", flat=True)))
    nodes = Node.objects.select_related("cluster").with_used().order_by("cluster__name", "name")
    return [_machine(node, cached, *held[node.pk]) for node in nodes]


def _machine(
    node: Any,
    cached: dict[UUID, tuple[int, int]],
    holdings: list[Holding],
    foreign: list[Reservation],
) -> Machine:
    state, since = _state(node)
    cache_bytes, versions = cached.get(node.pk, (0, 0))
    elsewhere = Elsewhere(
        runs=len(foreign),
        cpus=sum(one.cpus for one in foreign),
        memory_bytes=sum(one.memory_bytes for one in foreign),
        gpus=sum(one.gpus for one in foreign),
    )
    return Machine(node, state, since, cache_bytes, versions, holdings, elsewhere)


def _state(node: Node) -> tuple[str, datetime | None]:
    if is_silent(node):
        return SILENT, node.heartbeat_at
    if not node.schedulable:
        return CORDONED, node.cordoned_at
    return READY, node.ready_since


def _cached() -> dict[UUID, tuple[int, int]]:
    """Return bytes and number of the versions in each node's cache."""
    rows = CacheRecord.objects.filter(bytes_present__gt=0).values_list("node")
    return {
        node: (total, versions)
        for node, total, versions in rows.annotate(Sum("bytes_present"), Count("pk"))
    }


def _held(
    visible: set[UUID],
) -> defaultdict[UUID, tuple[list[Holding], list[Reservation]]]:
    """Return the reservations of each node: those of visible projects with their runs, others."""
    held: defaultdict[UUID, tuple[list[Holding], list[Reservation]]] = defaultdict(lambda: ([], []))
    reservations = list(Reservation.objects.order_by("slot"))
    attempts = Attempt.objects.select_related("run__project", "run__created_by").in_bulk(
        [one.attempt_id for one in reservations]
    )
    for one in reservations:
        own, foreign = held[one.node_id]
        attempt = attempts.get(one.attempt_id)
        if attempt is not None and attempt.run.project_id in visible:
            own.append(Holding(attempt, one))
        else:
            foreign.append(one)
    return held
