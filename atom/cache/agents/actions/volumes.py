"""Volumes of pods on nodes: the agent's driver mounts them, and their packs stay meanwhile."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import structlog
from django.db import transaction
from django.db.models.functions import Now

from atom.accounts.models import User
from atom.cache.agents.actions.coverage import ensure_record, present_packs, sized_packs
from atom.cache.agents.actions.plans import PlanOptions, end_plan, start_plan
from atom.cache.agents.actions.reports import is_live
from atom.cache.backends.local.external_objects import has_registered
from atom.cache.delivery.actions.views import index_to_stream, packs_to_stream
from atom.cache.errors import AgentsMissing, CacheTooSmall, VolumeUnknown, WarmPlanUnsuitable
from atom.cache.models import CacheRecord, NodeAgent, NodeVolume, WarmPlan, WarmPlanNode
from atom.clusters.models import Cluster
from atom.core import clock
from atom.datasets.catalog.reads import require_kept
from atom.datasets.models import Version
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

VIEW = "view"


@dataclass(frozen=True, slots=True)
class VolumeOrder:
    """A volume that a pod of a run asks for; `volume` is its id on the node."""

    volume: str
    version: Version
    selector: dict[str, Any]
    mode: str
    namespace: str
    pod: str
    pod_uid: str


@dataclass(frozen=True, slots=True)
class OpenVolume:
    """The packs (hex) of a volume, and why those that are missing do not come; "" if they do."""

    row: NodeVolume
    packs: list[str]
    problem: str
    is_new: bool


def open_volume(agent: NodeAgent, order: VolumeOrder, user: User | None) -> OpenVolume:
    """Note a volume of the agent's node and have its missing packs fetched; repeatable.

    Raises VersionExpired, SelectionEmpty, WarmPlanUnsuitable for a view of objects at a source.
    """
    version = order.version
    require_kept(version)
    if order.mode == VIEW and has_registered(version):
        raise WarmPlanUnsuitable(_registered(version))
    packs = packs_to_stream(version, order.selector)
    with transaction.atomic():
        record = ensure_record(agent.node, version)
        CacheRecord.objects.filter(pk=record.pk).update(used_at=Now())
        row, is_new = _noted(agent, order, packs & present_packs(record), packs)
    problem = ""
    if row.packs_present < row.packs_total and not row.plan_id:
        problem = _order_packs(agent, row, user)
    log.info(
        "volume_opened",
        node=agent.node.name,
        pod=order.pod,
        packs=row.packs_total,
        present=row.packs_present,
    )
    return OpenVolume(row, sorted(packs), problem, is_new)


def _noted(
    agent: NodeAgent, order: VolumeOrder, here: Collection[str], packs: Collection[str]
) -> tuple[NodeVolume, bool]:
    """Return the row of a volume, and whether it is new."""
    sizes = dict(sized_packs(order.version))
    values = {
        "version": order.version,
        "selector": order.selector,
        "mode": order.mode,
        "namespace": order.namespace,
        "pod": order.pod,
        "pod_uid": order.pod_uid,
        "packs_total": len(packs),
        "packs_present": len(here),
        "bytes_total": sum(sizes.get(digest, 0) for digest in packs),
        "bytes_present": sum(sizes.get(digest, 0) for digest in here),
    }
    return NodeVolume.objects.update_or_create(
        node=agent.node, volume=order.volume, defaults=values
    )


def _order_packs(agent: NodeAgent, row: NodeVolume, user: User | None) -> str:
    """Start a plan for the node unless one runs; return why none can, "" if one does."""
    running = WarmPlanNode.objects.filter(
        node=agent.node,
        plan__version=row.version,
        plan__state="running",
        state__in=["waiting", "warming", "warm"],
    )
    if running.exists():
        return ""
    try:
        options = PlanOptions(nodes=[agent.node.name])
        plan = start_plan(row.version, agent.node.cluster, options, user)
    except (AgentsMissing, CacheTooSmall, WarmPlanUnsuitable) as error:
        return error.detail or error.title
    NodeVolume.objects.filter(pk=row.pk).update(plan=plan)
    row.plan = plan
    return ""


def _registered(version: Version) -> Sentence:
    return Sentence(
        "cache.plan_has_registered",
        "{dataset}@{ref} has objects that stay at a source.",
        dataset=version.dataset.name,
        ref=version.ref,
    )


def hold_volumes(agent: NodeAgent, volumes: Collection[str], is_registered: bool) -> None:
    """Note which volumes a node has, all of them; its other ones are gone."""
    with transaction.atomic():
        NodeAgent.objects.filter(pk=agent.pk).update(has_volumes=is_registered)
        gone = NodeVolume.objects.filter(node=agent.node).exclude(volume__in=volumes)
        plans = {row.plan_id for row in gone.select_for_update().order_by("pk") if row.plan_id}
        gone.delete()
        # The order of their keys, as all that lock plans do.
        for plan in WarmPlan.objects.filter(pk__in=plans, state="running").order_by("pk"):
            if not NodeVolume.objects.filter(plan=plan).exists():
                end_plan(plan, "cancelled")


def index_of(agent: NodeAgent, volume: str) -> Path:
    """Return the index of a volume of the agent's node. Raises VolumeUnknown, SelectionEmpty."""
    rows = NodeVolume.objects.select_related("version__dataset__project")
    row = rows.filter(node=agent.node, volume=volume).first()
    if row is None:
        raise VolumeUnknown
    return index_to_stream(row.version, row.selector)


def has_volumes_everywhere(cluster: Cluster) -> bool:
    """Return whether each node that takes pods has an agent whose driver the kubelet knows."""
    now = clock.now()
    nodes = list(cluster.nodes.filter(schedulable=True).select_related("agent"))
    return bool(nodes) and all(_has_driver(getattr(node, "agent", None), now) for node in nodes)


def _has_driver(agent: NodeAgent | None, now: datetime) -> bool:
    return agent is not None and agent.has_volumes and is_live(agent, now)
