"""The work of an agent: it says which fetches ended, and gets the next ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import transaction

from atom.cache.agents.actions.coverage import add_packs, remove_packs
from atom.cache.agents.actions.handout import fetch_lines, hand_out
from atom.cache.agents.actions.plans import refresh
from atom.cache.engines.sources import SourceKind
from atom.cache.models import NodeAgent, PackFetch, WarmPlan, WarmPlanNode
from atom.cache.states import WARM_PLAN_NODE_STATES
from atom.core import clock, states
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

AFTER_S: Final = 2
# A fetch of which the agent does not speak was lost with an answer, and is sent again.
REPEAT_AFTER: Final = timedelta(seconds=20)
MAX_FAILURES: Final = 8
_PEER_REASONS = frozenset({"stalled", "digest", "refused", "missing"})
# An agent that stops gives its fetches back; none of them failed.
_STOPPING = ("refused", "The agent stops.")
_DISK_REASONS = frozenset({"disk_full", "read_only"})


@dataclass(frozen=True, slots=True)
class WorkReport:
    """The rows of `agent/work/`, as the protocol names their fields."""

    room: int
    done: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)
    progress: list[dict[str, Any]] = field(default_factory=list)
    removed: list[dict[str, Any]] = field(default_factory=list)
    verified: list[dict[str, Any]] = field(default_factory=list)


def work(agent: NodeAgent, report: WorkReport) -> dict[str, Any]:
    """Note what an agent did and return its next work, as the protocol shapes it."""
    _distrust_peers(agent, report.failed)
    with transaction.atomic():
        # One answer of a node at a time.
        row = NodeAgent.objects.select_for_update().get(pk=agent.pk)
        row.node = agent.node
        _lock_plans(row)
        plans = _note_done(row, report.done)
        plans |= _note_failed(row, report.failed)
        _note_progress(row, report.progress)
        _note_removed(row, report.removed)
        _note_verified(row, report.verified)
        cancelled = _cancelled(row, report)
        for plan in WarmPlan.objects.filter(pk__in=plans, state="running").order_by("pk"):
            refresh(plan)
    fetches = hand_out(row, report.room)
    repeated = PackFetch.objects.filter(
        node=agent.node, heard_at__lt=clock.now() - REPEAT_AFTER
    ).exclude(kind=SourceKind.WAIT)
    fetches += list(repeated)
    PackFetch.objects.filter(pk__in=[fetch.pk for fetch in fetches]).update(heard_at=clock.now())
    return {
        "fetches": fetch_lines(fetches),
        "cancel": cancelled,
        "remove": row.removals,
        "after_s": AFTER_S,
    }


def _lock_plans(agent: NodeAgent) -> None:
    """Lock the running plans of a node: agents lock the parts of a plan in no common order."""
    parts = WarmPlanNode.objects.filter(node=agent.node)
    plans = WarmPlan.objects.select_for_update().order_by("pk")
    list(plans.filter(pk__in=parts.values("plan"), state="running").values_list("pk"))


def _fetch_of(agent: NodeAgent, fetch_id: UUID) -> PackFetch | None:
    """Return an open fetch of this node; None for that of another, or one that is noted."""
    rows = PackFetch.objects.select_for_update(of=("self",)).select_related("plan", "peer")
    return rows.filter(pk=fetch_id, node=agent.node).first()


def _note_done(agent: NodeAgent, rows: list[dict[str, Any]]) -> set[UUID]:
    plans: set[UUID] = set()
    by_project: dict[UUID, set[str]] = {}
    for row in rows:
        fetch = _fetch_of(agent, row["fetch"])
        if fetch is None:
            continue
        by_project.setdefault(fetch.project_id, set()).add(fetch.pack)
        rate = int(row["bytes"] / max(row["seconds"], 1e-3))
        WarmPlanNode.objects.filter(plan=fetch.plan, node=agent.node).update(rate_bytes_s=rate)
        log.info("pack_fetched", node=agent.node.name, pack=fetch.pack, source=fetch.kind)
        fetch.delete()
    for project_id, packs in by_project.items():
        add_packs(agent.node, project_id, packs)
        # A plan of another version may wait for the same pack.
        parts = WarmPlanNode.objects.filter(
            node=agent.node, plan__project_id=project_id, plan__state="running"
        )
        plans.update(parts.values_list("plan_id", flat=True))
    return plans


def _note_failed(agent: NodeAgent, rows: list[dict[str, Any]]) -> set[UUID]:
    plans: set[UUID] = set()
    for row in rows:
        fetch = _fetch_of(agent, row["fetch"])
        if fetch is None or fetch.kind == SourceKind.WAIT:
            continue
        reason = row["reason"]
        log.warning("pack_fetch_failed", node=agent.node.name, pack=fetch.pack, reason=reason)
        if (reason, row["detail"]) == _STOPPING:
            fetch.delete()
        elif reason in _DISK_REASONS:
            _fail_part(fetch, reason)
        elif fetch.kind == SourceKind.PEER and reason in _PEER_REASONS:
            _use_origin(fetch)
        else:
            _note_origin_failure(fetch, reason)
        plans.add(fetch.plan_id)
    return plans


def _use_origin(fetch: PackFetch) -> None:
    fetch.kind, fetch.peer, fetch.bytes_done = SourceKind.WAIT, None, 0
    fetch.save()


def _note_origin_failure(fetch: PackFetch, reason: str) -> None:
    part = WarmPlanNode.objects.select_for_update().get(plan=fetch.plan, node=fetch.node)
    part.failures += 1
    part.save(update_fields=["failures"])
    if part.failures >= MAX_FAILURES:
        _fail_part(fetch, reason)
    else:
        _use_origin(fetch)


def _distrust_peers(agent: NodeAgent, rows: list[dict[str, Any]]) -> None:
    """Take packs with wrong bytes off the peers that sent them, and have these check them.

    Each peer is locked by itself and before the agent: two agents may blame each other at once.
    """
    blamed = [row["fetch"] for row in rows if row["reason"] == "digest"]
    fetches = PackFetch.objects.filter(pk__in=blamed, node=agent.node, kind=SourceKind.PEER)
    for fetch in fetches.exclude(peer=None).select_related("peer"):
        with transaction.atomic():
            _distrust(fetch)


def _distrust(fetch: PackFetch) -> None:
    peer = NodeAgent.objects.select_for_update().filter(node=fetch.peer).first()
    if peer is None or fetch.peer is None:
        return
    remove_packs(fetch.peer, fetch.project_id, [fetch.pack])
    order = {"project": str(fetch.project_id), "pack": fetch.pack, "verify": True}
    if order not in peer.removals:
        peer.removals = [*peer.removals, order]
        peer.save(update_fields=["removals"])


def _fail_part(fetch: PackFetch, reason: str) -> None:
    part = WarmPlanNode.objects.select_for_update().get(plan=fetch.plan, node=fetch.node)
    if part.state != "failed":
        states.check_transition(WARM_PLAN_NODE_STATES, part.state, "failed")
        part.state, part.error = "failed", _failure(fetch, reason)
        part.save()
    PackFetch.objects.filter(plan=fetch.plan, node=fetch.node).delete()


def _failure(fetch: PackFetch, reason: str) -> str:
    node = fetch.node.name
    if reason == "disk_full":
        return Sentence("cache.agent_disk_full", "The disk of {node} is full.", node=node)
    if reason == "read_only":
        return Sentence("cache.agent_read_only", "The disk of {node} is read-only.", node=node)
    return Sentence(
        "cache.agent_fetch_failed",
        "{node} could not fetch the pack {pack} from the object store ({reason}).",
        node=node,
        pack=fetch.pack,
        reason=reason,
    )


def _note_progress(agent: NodeAgent, rows: list[dict[str, Any]]) -> None:
    now = clock.now()
    for row in rows:
        PackFetch.objects.filter(pk=row["fetch"], node=agent.node).update(
            bytes_done=row["bytes"], heard_at=now
        )


def _note_removed(agent: NodeAgent, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        remove_packs(agent.node, row["project"], [row["pack"]])
    _drop_orders(agent, {(str(row["project"]), row["pack"]) for row in rows})


def _note_verified(agent: NodeAgent, rows: list[dict[str, Any]]) -> None:
    """Trust packs again that the server ordered to check, and only these."""
    keys = {(str(row["project"]), row["pack"]) for row in rows}
    ordered = {(row["project"], row["pack"]) for row in agent.removals if row.get("verify")}
    for project, pack in keys & ordered:
        add_packs(agent.node, UUID(project), [pack])
    _drop_orders(agent, keys & ordered)


def _drop_orders(agent: NodeAgent, keys: set[tuple[str, str]]) -> None:
    kept = [order for order in agent.removals if (order["project"], order["pack"]) not in keys]
    if len(kept) != len(agent.removals):
        agent.removals = kept
        agent.save(update_fields=["removals"])


def _cancelled(agent: NodeAgent, report: WorkReport) -> list[str]:
    """End the fetches of plans that ended; return them and those in progress that are unknown."""
    over = PackFetch.objects.filter(node=agent.node).exclude(plan__state="running")
    ids = {str(pk) for pk in over.values_list("pk", flat=True)}
    over.delete()
    spoken = {str(row["fetch"]) for row in report.progress}
    known = PackFetch.objects.filter(node=agent.node, pk__in=spoken).values_list("pk", flat=True)
    return sorted(ids | (spoken - {str(pk) for pk in known}))
