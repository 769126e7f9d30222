"""The work of an agent: it says which fetches ended, and gets the next ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.db.models import Case, F, Value, When

from atom.cache.agents.actions.coverage import add_packs, remove_packs
from atom.cache.agents.actions.evicting import count_bytes, ordered_away
from atom.cache.agents.actions.handout import fetch_lines, hand_out
from atom.cache.agents.actions.plans import announce, counts_on, settle, update_part
from atom.cache.engines.sources import SourceKind
from atom.cache.models import NodeAgent, PackFetch, WarmPlan, WarmPlanNode
from atom.cache.states import WARM_PLAN_NODE_STATES
from atom.core import clock, states
from atom.datasets.replicas.actions.upkeep import avoid_packs
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

AFTER_S: Final = 2
# A fetch of which the agent does not speak was lost with an answer, and is sent again.
REPEAT_AFTER: Final = timedelta(seconds=20)
MAX_FAILURES: Final = 8
# Removals in one answer: their ends fit into one request.
MAX_REMOVALS: Final = 500
# The second store has no such pack, or other bytes of it.
_SUSPECT_REASONS = frozenset({"digest", "missing"})
_PEER_REASONS = frozenset({"stalled", "digest", "refused", "missing"})
# An agent that stops gives its fetches back; none of them failed.
_STOPPING = ("refused", "The agent stops.")
# A peer that claimed a pack and lacks it, or sent wrong bytes.
_BLAMES = frozenset({"digest", "missing"})
_BLAMERS: Final = 2
_DISTRUST: Final = timedelta(minutes=10)
# A fetch that waits for the origin has not begun there: its bytes came from the peer after all.
_SOURCE_COUNTS: Final = {
    SourceKind.ORIGIN: "packs_from_origin",
    SourceKind.PEER: "packs_from_peers",
    SourceKind.WAIT: "packs_from_peers",
}
_DISK_REASONS = frozenset({"disk_full", "read_only"})


# Each node asks this every two seconds: most of an ORM's time would go into writing the query.
_IDLE = """
    SELECT agent.removals = '[]'::jsonb
        AND NOT EXISTS (SELECT 1 FROM cache_packfetch held WHERE held.node_id = agent.node_id)
        AND NOT EXISTS (
            SELECT 1 FROM cache_warmplannode part JOIN cache_warmplan plan ON plan.id = part.plan_id
            WHERE part.node_id = agent.node_id AND part.state IN ('waiting', 'warming')
                AND plan.state = 'running'
        )
    FROM cache_nodeagent agent WHERE agent.id = %s
"""


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
    if _is_idle(agent, report):
        return {"fetches": [], "cancel": [], "remove": [], "after_s": AFTER_S}
    _distrust_peers(agent, report.failed)
    with transaction.atomic():
        # One answer of a node at a time.
        row = NodeAgent.objects.select_for_update().get(pk=agent.pk)
        row.node = agent.node
        fetches = _fetches_of(row)
        projects = _note_done(row, fetches, report.done)
        ended = _note_failed(fetches, report.failed)
        _note_progress(fetches, report.progress)
        _note_removed(row, report.removed)
        _note_verified(row, report.verified)
        cancelled = _cancelled(fetches, report)
        ended |= _update_parts(row, projects)
    for plan in WarmPlan.objects.filter(pk__in=ended, state="running"):
        # Apart from the node's own rows: agents of a plan lock one another's in no order.
        with transaction.atomic():
            settle(plan)
    return {
        "fetches": _next_lines(row, report.room),
        "cancel": cancelled,
        "remove": [
            {name: value for name, value in order.items() if name != "bytes"}
            for order in row.removals[:MAX_REMOVALS]
        ],
        "after_s": AFTER_S,
    }


def _is_idle(agent: NodeAgent, report: WorkReport) -> bool:
    """Return whether there is nothing to note and nothing to do, by one query."""
    said = (report.done, report.failed, report.progress, report.removed, report.verified)
    if any(said):
        return False
    with connection.cursor() as cursor:
        cursor.execute(_IDLE, [agent.pk])
        row = cursor.fetchone()
    return row is not None and bool(row[0])


def _next_lines(agent: NodeAgent, room: int) -> list[dict[str, Any]]:
    fetches = hand_out(agent, room)
    repeated = PackFetch.objects.filter(
        node=agent.node, heard_at__lt=clock.now() - REPEAT_AFTER
    ).exclude(kind=SourceKind.WAIT)
    again = list(repeated.select_related("project"))
    if again:
        pks = [fetch.pk for fetch in again]
        PackFetch.objects.filter(pk__in=pks).update(heard_at=clock.now())
    return fetch_lines([*fetches, *again])


def _fetches_of(agent: NodeAgent) -> dict[UUID, PackFetch]:
    """Return the open fetches of a node: an agent ends none of another."""
    rows = PackFetch.objects.filter(node=agent.node).select_related("plan", "node", "store")
    return {fetch.pk: fetch for fetch in rows}


def _note_done(
    agent: NodeAgent, fetches: dict[UUID, PackFetch], rows: list[dict[str, Any]]
) -> set[UUID]:
    """Note packs that are whole; return their projects. A fetch that is unknown was noted."""
    ended: list[PackFetch] = []
    rates: dict[UUID, int] = {}
    packs: dict[UUID, set[str]] = {}
    for row in rows:
        fetch = fetches.pop(UUID(str(row["fetch"])), None)
        if fetch is None:
            continue
        ended.append(fetch)
        packs.setdefault(fetch.project_id, set()).add(fetch.pack)
        rates[fetch.plan_id] = int(row["bytes"] / max(row["seconds"], 1e-3))
        log.info("pack_fetched", node=agent.node.name, pack=fetch.pack, source=fetch.kind)
    if not ended:
        return set()
    PackFetch.objects.filter(pk__in=[fetch.pk for fetch in ended]).delete()
    count_bytes(agent, sum(fetch.size_bytes for fetch in ended))
    agent.save(update_fields=["disk"])
    counts = Counter((fetch.plan_id, _SOURCE_COUNTS[SourceKind(fetch.kind)]) for fetch in ended)
    for plan_id, rate in rates.items():
        parts = WarmPlanNode.objects.filter(plan=plan_id, node=agent.node)
        added = {name: F(name) + count for (plan, name), count in counts.items() if plan == plan_id}
        parts.update(rate_bytes_s=rate, **added)
    for project_id, digests in packs.items():
        add_packs(agent.node, project_id, digests)
    return set(packs)


def _update_parts(agent: NodeAgent, projects: set[UUID]) -> set[UUID]:
    """Bring the node's parts in these projects up to date; return plans that may have ended.

    A plan of another version may have waited for the same pack.
    """
    if not projects:
        return set()
    parts = WarmPlanNode.objects.select_for_update(of=("self",)).filter(
        node=agent.node,
        plan__project__in=projects,
        plan__state="running",
        state__in=["waiting", "warming", "warm"],
    )
    rows = list(parts.select_related("plan").order_by("pk"))
    counts = counts_on([agent.node_id], [part.plan.version_id for part in rows])
    ended = set()
    for part in rows:
        if update_part(part, counts.get((agent.node_id, part.plan.version_id))):
            ended.add(part.plan_id)
        announce(part.plan)
    return ended


def _note_failed(fetches: dict[UUID, PackFetch], rows: list[dict[str, Any]]) -> set[UUID]:
    plans: set[UUID] = set()
    for row in rows:
        fetch = fetches.get(UUID(str(row["fetch"])))
        if fetch is None or fetch.kind == SourceKind.WAIT:
            continue
        reason = row["reason"]
        log.warning("pack_fetch_failed", node=fetch.node.name, pack=fetch.pack, reason=reason)
        if (reason, row["detail"]) == _STOPPING:
            fetches.pop(fetch.pk).delete()
        elif reason in _DISK_REASONS:
            _fail_part(fetches, fetch, reason)
        elif fetch.kind == SourceKind.PEER and reason in _PEER_REASONS:
            _use_origin(fetch)
        elif fetch.store is not None:
            # The next address leads to Atom's own store.
            avoid_packs(
                fetch.store, fetch.project_id, [fetch.pack], is_suspect=reason in _SUSPECT_REASONS
            )
            _use_origin(fetch)
        else:
            _note_origin_failure(fetches, fetch, reason)
        plans.add(fetch.plan_id)
    return plans


def _use_origin(fetch: PackFetch) -> None:
    fetch.kind, fetch.peer, fetch.store, fetch.bytes_done = SourceKind.WAIT, None, None, 0
    fetch.save()


def _note_origin_failure(fetches: dict[UUID, PackFetch], fetch: PackFetch, reason: str) -> None:
    part = WarmPlanNode.objects.select_for_update().get(plan=fetch.plan, node=fetch.node)
    part.failures += 1
    part.save(update_fields=["failures"])
    if part.failures >= MAX_FAILURES:
        _fail_part(fetches, fetch, reason)
    else:
        _use_origin(fetch)


def _distrust_peers(agent: NodeAgent, rows: list[dict[str, Any]]) -> None:
    """Take packs off the peers that lack them or sent wrong bytes; the latter check them.

    Each peer is locked by itself and before the agent: two agents may blame each other at once.
    """
    blamed = {str(row["fetch"]): row["reason"] for row in rows if row["reason"] in _BLAMES}
    fetches = PackFetch.objects.filter(pk__in=blamed, node=agent.node, kind=SourceKind.PEER)
    for fetch in fetches.exclude(peer=None).select_related("peer"):
        with transaction.atomic():
            _distrust(fetch, blamed[str(fetch.pk)])


def _distrust(fetch: PackFetch, reason: str) -> None:
    peer = NodeAgent.objects.select_for_update().filter(node=fetch.peer).first()
    if peer is None or fetch.peer is None:
        return
    remove_packs(fetch.peer, fetch.project_id, [fetch.pack])
    order = {"project": str(fetch.project_id), "pack": fetch.pack, "verify": True}
    if reason == "missing":
        peer.needs_packs = True
    elif order not in peer.removals:
        peer.removals = [*peer.removals, order]
    # One node alone, which may lie itself, takes no peer away from all others.
    blamed_by = {*peer.blamed_by, str(fetch.node_id)}
    if len(blamed_by) >= _BLAMERS:
        peer.distrusted_until = clock.now() + _DISTRUST
        log.warning("agent_distrusted", node=fetch.peer.name, blamed_by=sorted(blamed_by))
        blamed_by.clear()
    peer.blamed_by = sorted(blamed_by)
    peer.save(update_fields=["needs_packs", "removals", "blamed_by", "distrusted_until"])


def _fail_part(fetches: dict[UUID, PackFetch], fetch: PackFetch, reason: str) -> None:
    part = WarmPlanNode.objects.select_for_update().get(plan=fetch.plan, node=fetch.node)
    if part.state != "failed":
        states.check_transition(WARM_PLAN_NODE_STATES, part.state, "failed")
        part.state, part.error = "failed", _failure(fetch, reason)
        part.save()
    PackFetch.objects.filter(plan=fetch.plan, node=fetch.node).delete()
    for other in [row for row in fetches.values() if row.plan_id == fetch.plan_id]:
        del fetches[other.pk]


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


def _note_progress(fetches: dict[UUID, PackFetch], rows: list[dict[str, Any]]) -> None:
    counts = {
        fetch.pk: min(row["bytes"], fetch.size_bytes)
        for row in rows
        if (fetch := fetches.get(UUID(str(row["fetch"]))))
    }
    if counts:
        done = Case(*[When(pk=pk, then=Value(count)) for pk, count in counts.items()])
        PackFetch.objects.filter(pk__in=counts).update(bytes_done=done, heard_at=clock.now())


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
    if keys & ordered and agent.blamed_by:
        agent.blamed_by = []
        agent.save(update_fields=["blamed_by"])
    _drop_orders(agent, keys & ordered)


def _drop_orders(agent: NodeAgent, keys: set[tuple[str, str]]) -> None:
    kept = [order for order in agent.removals if (order["project"], order["pack"]) not in keys]
    if len(kept) != len(agent.removals):
        away = ordered_away(agent)
        count_bytes(agent, -sum(away[key] for key in keys & away.keys()))
        agent.removals = kept
        agent.save(update_fields=["removals", "disk"])


def _cancelled(fetches: dict[UUID, PackFetch], report: WorkReport) -> list[str]:
    """End the fetches of plans that ended; return them and those in progress that are unknown."""
    over = [fetch.pk for fetch in fetches.values() if fetch.plan.state != "running"]
    if over:
        PackFetch.objects.filter(pk__in=over).delete()
    for pk in over:
        del fetches[pk]
    unknown = {UUID(str(row["fetch"])) for row in report.progress} - fetches.keys()
    return sorted(str(pk) for pk in {*over, *unknown})
