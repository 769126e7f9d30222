"""Warm-up plans: a version on nodes of a cluster, fetched by their agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Sum

from atom.accounts import audit
from atom.accounts.models import User
from atom.cache.agents.actions.coverage import ensure_record
from atom.cache.agents.actions.reports import SILENT_AFTER, is_live
from atom.cache.backends.local.external_objects import has_registered
from atom.cache.engines.sources import choose_nodes
from atom.cache.errors import (
    AgentsMissing,
    CacheTooSmall,
    WarmPlanNotFound,
    WarmPlanUnsuitable,
)
from atom.cache.models import CacheRecord, NodeAgent, WarmPlan, WarmPlanNode
from atom.cache.states import WARM_PLAN_STATES
from atom.cache.warming.actions.records import UNREADABLE, transition
from atom.clusters.models import Cluster
from atom.core import clock, live, states
from atom.core.errors import AtomError
from atom.datasets.catalog.actions.catalogue import pin, unpin
from atom.datasets.catalog.reads import packs_of, require_kept, require_readable
from atom.datasets.models import Version
from atom_sdk.sentences import Sentence

PIN_HOLDER = "warm_plan"


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Where a version goes: to named nodes, or to as many nodes as `copies` says."""

    nodes: Sequence[str] = ()
    copies: int | None = None
    rate_bytes_s: int | None = None
    deadline: datetime | None = None
    pinned: bool = False


def start_plan(version: Version, cluster: Cluster, options: PlanOptions, user: User) -> WarmPlan:
    """Start a warm-up plan.

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
    with transaction.atomic():
        plan = WarmPlan.objects.create(
            project=project,
            version=version,
            cluster=cluster,
            copies=None if options.nodes else options.copies or 1,
            rate_bytes_s=options.rate_bytes_s,
            deadline=options.deadline,
            pinned=options.pinned,
            created_by=user,
        )
        pin(version, PIN_HOLDER, str(plan.pk))
        for agent in _chosen_agents(plan, options.nodes):
            record = ensure_record(agent.node, version)
            _check_disk(agent, record)
            is_whole = record.packs_present == record.packs_total
            if record.state != "warming" and not is_whole:
                transition(record, "warming")
                record.error = ""
            record.used_at = clock.now()
            record.save()
            WarmPlanNode.objects.create(plan=plan, node=agent.node, **counts_of(record))
        named = {"dataset": version.dataset.name, "ref": version.ref, "cluster": cluster.name}
        audit.record(user, "warm_plan.started", plan, project, version.dataset, **named)
        refresh(plan)
    return plan


def counts_of(record: CacheRecord) -> dict[str, int]:
    """Return the counts of packs and bytes of a record."""
    return {
        "packs_total": record.packs_total,
        "packs_present": record.packs_present,
        "bytes_total": record.bytes_total,
        "bytes_present": record.bytes_present,
    }


def _chosen_agents(plan: WarmPlan, names: Sequence[str]) -> list[NodeAgent]:
    now = clock.now()
    rows = NodeAgent.objects.filter(node__cluster=plan.cluster).select_related("node")
    agents = {row.node.name: row for row in rows if is_live(row, now)}
    silent = sorted(set(names) - agents.keys())
    if silent:
        raise AgentsMissing(
            Sentence(
                "cache.nodes_without_agent",
                "These nodes have no agent that reports: {nodes}.",
                nodes=", ".join(silent),
            ),
            nodes=silent,
        )
    if names:
        return [agents[name] for name in sorted(set(names))]
    copies = plan.copies or 1
    if len(agents) < copies:
        raise AgentsMissing(
            Sentence(
                "cache.too_few_agents",
                "{count} nodes of {cluster} have an agent that reports; the plan needs {copies}.",
                count=len(agents),
                cluster=plan.cluster.name,
                copies=copies,
            )
        )
    records = CacheRecord.objects.filter(node__in=[row.node_id for row in agents.values()])
    coverage = dict(records.filter(version=plan.version).values_list("node__name", "bytes_present"))
    free = {name: free_bytes(row) for name, row in agents.items()}
    return [agents[name] for name in choose_nodes(coverage, free, copies)]


def free_bytes(agent: NodeAgent) -> int:
    """Return how much the node's cache may still grow, beside what open plans will bring."""
    disk = agent.disk
    if not disk or disk["is_read_only"]:
        return 0
    free = int(disk["free_bytes"])
    if disk["limit_bytes"] is not None:
        free = min(free, int(disk["limit_bytes"]) - int(disk["cache_bytes"]))
    parts = WarmPlanNode.objects.filter(
        node=agent.node, plan__state="running", state__in=["waiting", "warming"]
    )
    sums = parts.aggregate(total=Sum("bytes_total"), present=Sum("bytes_present"))
    return max(free - ((sums["total"] or 0) - (sums["present"] or 0)), 0)


def _check_disk(agent: NodeAgent, record: CacheRecord) -> None:
    missing = record.bytes_total - record.bytes_present
    lacking = missing - free_bytes(agent)
    if missing and lacking > 0:
        raise CacheTooSmall(
            Sentence(
                "cache.node_too_small",
                "The cache of {node} lacks {bytes} bytes for this version.",
                node=agent.node.name,
                bytes=lacking,
            ),
            node=agent.node.name,
            missing_bytes=lacking,
        )


def refresh(plan: WarmPlan) -> None:
    """Bring the parts of a plan up to date with what its nodes have, and end it if all did."""
    records = {
        record.node_id: record
        for record in CacheRecord.objects.filter(
            version=plan.version, node__in=plan.parts.values("node")
        )
    }
    parts = list(plan.parts.select_for_update())
    for part in parts:
        record = records.get(part.node_id)
        if record is None or part.state in ("failed", "replaced"):
            continue
        for name, value in counts_of(record).items():
            setattr(part, name, value)
        if part.packs_present == part.packs_total:
            part.state, part.error = "warm", ""
        elif part.state == "warm":
            part.state = "warming"
        part.save()
    live_parts = [part for part in parts if part.state != "replaced"]
    if all(part.state == "warm" for part in live_parts):
        end_plan(plan, "done")
    elif all(part.state in ("warm", "failed") for part in live_parts):
        error = next(part.error for part in live_parts if part.state == "failed")
        end_plan(plan, "failed", error)
    else:
        announce(plan)


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


def find_plan(project_id: UUID, plan_id: UUID) -> WarmPlan:
    """Return a plan of a project. Raises WarmPlanNotFound."""
    plan = (
        WarmPlan.objects.select_related("version__dataset__project", "cluster", "created_by")
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


def end_unreadable() -> int:
    """Fail plans whose version was deleted meanwhile; return how many."""
    plans = WarmPlan.objects.filter(state="running").select_related("version__dataset__project")
    count = 0
    for plan in plans:
        try:
            require_kept(plan.version)
        except UNREADABLE as gone:
            with transaction.atomic():
                end_plan(plan, "failed", reason_of(gone))
            count += 1
    return count


def set_waiting() -> int:
    """Let the parts of silent agents wait and say so; return how many changed."""
    now = clock.now()
    open_parts = WarmPlanNode.objects.filter(
        plan__state="running", state__in=["waiting", "warming"]
    ).exclude(node__agent__reported_at__gt=now - SILENT_AFTER)
    plans: dict[UUID, WarmPlan] = {}
    count = 0
    with transaction.atomic():
        parts = open_parts.select_for_update(of=("self",)).order_by("pk")
        for part in parts.select_related("node", "plan"):
            error = Sentence(
                "cache.agent_silent",
                "The agent of {node} does not report; its part waits.",
                node=part.node.name,
            )
            if (part.state, part.error) == ("waiting", error):
                continue
            part.state, part.error = "waiting", error
            part.save(update_fields=["state", "error", "updated_at"])
            plans[part.plan_id] = part.plan
            count += 1
    for plan in plans.values():
        announce(plan)
    return count


def end_overdue() -> int:
    """Fail plans whose deadline has passed; return how many."""
    overdue = WarmPlan.objects.filter(state="running", deadline__lt=clock.now())
    count = 0
    for plan in overdue:
        with transaction.atomic():
            end_plan(
                plan, "failed", Sentence("cache.plan_overdue", "The deadline of the plan passed.")
            )
        count += 1
    return count
