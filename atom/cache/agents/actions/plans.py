"""Warm-up plans: a version on nodes of a cluster, fetched by their agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.cache.agents.actions.choosing import chosen_agents, make_fit
from atom.cache.agents.actions.coverage import ensure_record
from atom.cache.backends.local.external_objects import has_registered
from atom.cache.engines.turns import DEFAULT_PRIORITY
from atom.cache.errors import WarmPlanNotFound, WarmPlanUnsuitable
from atom.cache.models import CacheRecord, NodeAgent, WarmPlan, WarmPlanNode
from atom.cache.states import WARM_PLAN_STATES
from atom.cache.warming.actions.records import transition
from atom.clusters.errors import ClusterNotFound
from atom.clusters.models import Cluster
from atom.core import clock, live, states
from atom.core.errors import AtomError
from atom.datasets.catalog.actions.catalogue import pin, unpin
from atom.datasets.catalog.reads import packs_of, require_readable
from atom.datasets.models import Version
from atom_sdk.sentences import Sentence

PIN_HOLDER = "warm_plan"
Counts = dict[str, int]
_COUNTS = ("packs_total", "packs_present", "bytes_total", "bytes_present")


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Where a version goes: to named nodes, or to as many nodes as `copies` says.

    `priority` is 0 to 100; ten more count like an hour of waiting. After the plan is done the
    version is needed until `keep_until`, unless the room is.
    """

    nodes: Sequence[str] = ()
    copies: int | None = None
    rate_bytes_s: int | None = None
    deadline: datetime | None = None
    pinned: bool = False
    priority: int = DEFAULT_PRIORITY
    keep_until: datetime | None = None


def start_plan(
    version: Version, cluster: Cluster, options: PlanOptions, user: User | None
) -> WarmPlan:
    """Start a warm-up plan; what is needed least makes room for it on its nodes.

    Raises AgentsMissing, CacheTooSmall, WarmPlanUnsuitable, VersionExpired, PackQuarantined.
    """
    project = version.dataset.project
    require_readable(project, packs_of(version))
    if has_registered(version):
        raise WarmPlanUnsuitable(
            Sentence(
                "cache.plan_has_registered",
                "{dataset}@{ref} has objects that stay at a source.",
                dataset=version.dataset.name,
                ref=version.ref,
            )
        )
    copies = None if options.nodes else options.copies or 1
    with transaction.atomic():
        # Agents first: plans and evictions take turns on each node.
        agents = chosen_agents(version, cluster, options.nodes, copies or 0)
        plan = WarmPlan.objects.create(
            project=project,
            version=version,
            cluster=cluster,
            copies=copies,
            named_nodes=sorted(set(options.nodes)),
            rate_bytes_s=options.rate_bytes_s,
            priority=options.priority,
            deadline=options.deadline,
            keep_until=options.keep_until,
            pinned=options.pinned,
            created_by=user,
        )
        pin(version, PIN_HOLDER, str(plan.pk))
        for agent in agents:
            begin_part(plan, agent)
        named = {"dataset": version.dataset.name, "ref": version.ref, "cluster": cluster.name}
        audit.record(user, "warm_plan.started", plan, project, version.dataset, **named)
        refresh(plan)
    return plan


def begin_part(plan: WarmPlan, agent: NodeAgent) -> None:
    """Give a node a part in a plan; the agent's row is locked. Raises CacheTooSmall."""
    record = ensure_record(agent.node, plan.version)
    make_fit(agent, record)
    is_whole = record.packs_present == record.packs_total
    if record.state != "warming" and not is_whole:
        transition(record, "warming")
        record.error = ""
    record.used_at = clock.now()
    record.save(update_fields=["state", "error", "used_at", "updated_at"])
    counts = {name: getattr(record, name) for name in _COUNTS}
    WarmPlanNode.objects.create(plan=plan, node=agent.node, **counts)


def refresh(plan: WarmPlan) -> None:
    """Bring the parts of a plan up to date with what its nodes have, and end it if all did.

    The caller is in a transaction.
    """
    parts = plan.parts.select_for_update().exclude(state__in=["failed", "replaced"])
    records = counts_on(plan.parts.values("node_id"), [plan.version_id])
    for part in parts.order_by("pk"):
        update_part(part, records.get((part.node_id, plan.version_id)))
    settle(plan)


def counts_on(nodes: Any, versions: Collection[UUID]) -> dict[tuple[UUID, UUID], Counts]:
    """Return the counts of packs and bytes on nodes, by node and version."""
    rows = CacheRecord.objects.filter(node__in=nodes, version__in=versions)
    return {
        (row["node_id"], row["version_id"]): {name: row[name] for name in _COUNTS}
        for row in rows.values("node_id", "version_id", *_COUNTS)
    }


def update_part(part: WarmPlanNode, counts: Counts | None) -> bool:
    """Bring a part up to date, whose lock the caller holds; return whether its state changed."""
    if counts is None:
        return False
    before = part.state
    for name, value in counts.items():
        setattr(part, name, value)
    if part.packs_present == part.packs_total:
        part.state, part.error = "warm", ""
    elif part.state == "warm":
        part.state = "warming"
    part.save(update_fields=["state", "error", *_COUNTS, "updated_at"])
    return part.state != before


def settle(plan: WarmPlan) -> None:
    """End a plan whose parts have all ended; the caller is in a transaction."""
    row = WarmPlan.objects.select_for_update().get(pk=plan.pk)
    parts = row.parts.exclude(state="replaced")
    states_of_parts = Counter(parts.values_list("state", flat=True))
    is_over = not states_of_parts.keys() & {"waiting", "warming"}
    if not states_of_parts:
        end_plan(plan, "failed", _nodes_left())
    elif is_over and states_of_parts["failed"]:
        first = parts.filter(state="failed").order_by("pk")[0]
        end_plan(plan, "failed", first.error)
    elif is_over:
        end_plan(plan, "done")
    else:
        announce(plan)


def _nodes_left() -> Sentence:
    return Sentence("cache.plan_nodes_left", "The plan's nodes left the cluster.")


def end_plan(plan: WarmPlan, state: str, error: str = "") -> None:
    """End a plan; the caller is in a transaction. A pinned plan that is done keeps its pin."""
    row = WarmPlan.objects.select_for_update().get(pk=plan.pk)
    if row.state != "running":
        return
    states.check_transition(WARM_PLAN_STATES, row.state, state)
    row.state, row.error, row.ended_at = state, error, clock.now()
    row.save()
    plan.state, plan.error, plan.ended_at = row.state, row.error, row.ended_at
    if not (row.pinned and state == "done"):
        unpin(PIN_HOLDER, str(row.pk))
    if state != "done":
        _set_cold(row)
    announce(row)


def _set_cold(plan: WarmPlan) -> None:
    """Leave no record `warming` that no other plan warms."""
    others = WarmPlanNode.objects.filter(plan__version=plan.version, plan__state="running")
    CacheRecord.objects.filter(
        version=plan.version, node__in=plan.parts.values("node"), state="warming"
    ).exclude(node__in=others.values("node")).update(state="cold")


def cancel_plan(plan: WarmPlan, user: User) -> None:
    """Cancel a plan, or release the pin of one that is done."""
    with transaction.atomic():
        if plan.state == "running":
            end_plan(plan, "cancelled")
        elif plan.pinned:
            unpin(PIN_HOLDER, str(plan.pk))
            WarmPlan.objects.filter(pk=plan.pk).update(pinned=False)
            plan.pinned = False
        audit.record(user, "warm_plan.cancelled", plan, plan.project, plan.version.dataset)


def usable_cluster(project: Project, user: User, name: str) -> Cluster:
    """Return a registered cluster that the project may use. Raises ClusterNotFound."""
    usable = Cluster.objects.all().visible_to(user, project.pk)
    cluster = usable.registered().filter(name=name).first()
    if cluster is None:
        raise ClusterNotFound(
            Sentence(
                "cache.cluster_out_of_project",
                "The project may use no cluster {cluster}.",
                cluster=name,
            )
        )
    return cluster


def find_plan(project_id: UUID, plan_id: UUID) -> WarmPlan:
    """Return a plan of a project. Raises WarmPlanNotFound."""
    plan = (
        WarmPlan.objects.select_related("version__dataset__project", "cluster", "created_by")
        .prefetch_related("parts__node", "parts__replaced_by")
        .filter(project_id=project_id, pk=plan_id)
        .first()
    )
    if plan is None:
        raise WarmPlanNotFound
    return plan


def announce(plan: WarmPlan) -> None:
    """Let open pages read the plan again."""
    event = {"type": "warm_plan", "id": str(plan.pk), "version": str(plan.version_id)}
    live.publish(f"project.{plan.project_id}", event)


def reason_of(gone: Exception) -> str:
    """Return why a version cannot be read: a failure's detail, or its text."""
    return gone.detail if isinstance(gone, AtomError) else str(gone)
