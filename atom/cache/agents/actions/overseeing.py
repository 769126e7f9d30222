"""Plans whose nodes are silent or gone, whose time is over, or whose version was deleted."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef

from atom.cache.agents.actions.choosing import best_agents, live_agents, locked
from atom.cache.agents.actions.plans import (
    announce,
    begin_part,
    end_plan,
    reason_of,
    refresh,
    settle,
)
from atom.cache.agents.actions.reports import SILENT_AFTER, is_live
from atom.cache.agents.actions.settings import replace_after
from atom.cache.errors import CacheTooSmall
from atom.cache.models import NodeAgent, PackFetch, WarmPlan, WarmPlanNode
from atom.cache.states import WARM_PLAN_NODE_STATES
from atom.cache.warming.actions.records import UNREADABLE
from atom.core import clock, states
from atom.datasets.catalog.reads import require_kept
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

_OPEN = ("waiting", "warming")


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


def end_settled() -> int:
    """End plans whose parts have all ended while their last answer was cut off; return how many."""
    open_parts = WarmPlanNode.objects.filter(plan=OuterRef("pk"), state__in=_OPEN)
    plans = WarmPlan.objects.filter(~Exists(open_parts), state="running")
    count = 0
    for plan in plans:
        with transaction.atomic():
            settle(plan)
        count += plan.state != "running"
    return count


def oversee_silent() -> int:
    """Replace nodes whose agents are silent for long, and let others wait; return how many.

    Only a plan with a number of copies gets another node: it has no names.
    """
    now = clock.now()
    silent = WarmPlanNode.objects.filter(plan__state="running", state__in=_OPEN).exclude(
        node__agent__reported_at__gt=now - SILENT_AFTER
    )
    count = 0
    for part in silent.select_related(
        "node__agent", "plan__cluster", "plan__version__dataset__project"
    ).order_by("pk"):
        is_long = _is_silent_for(part, now, replace_after(part.plan.cluster_id))
        if is_long and part.plan.copies is not None and _replace(part):
            count += 1
        else:
            count += _let_wait(part, _reason_to_wait(part, is_long=is_long))
    return count


def _is_silent_for(part: WarmPlanNode, now: datetime, limit: timedelta) -> bool:
    agent = getattr(part.node, "agent", None)
    reported_at = agent.reported_at if agent else None
    return reported_at is None or reported_at < now - limit


def _reason_to_wait(part: WarmPlanNode, *, is_long: bool) -> Sentence:
    node = part.node.name
    if is_long and part.plan.copies is None:
        return Sentence(
            "cache.agent_silent_named",
            "The agent of {node} does not report; its part waits, since the plan names the node.",
            node=node,
        )
    if is_long:
        return Sentence(
            "cache.no_other_node",
            "The agent of {node} does not report, and no other node can take its part; it waits.",
            node=node,
        )
    return Sentence(
        "cache.agent_silent", "The agent of {node} does not report; its part waits.", node=node
    )


def _let_wait(part: WarmPlanNode, error: Sentence) -> int:
    """Set a part to wait with its reason; return 1 if that changed it."""
    if (part.state, part.error) == ("waiting", error):
        return 0
    rows = WarmPlanNode.objects.filter(pk=part.pk, state__in=_OPEN, plan__state="running")
    if rows.update(state="waiting", error=error, updated_at=clock.now()):
        announce(part.plan)
        return 1
    return 0


def _replace(part: WarmPlanNode) -> bool:
    """Give a silent node's part to the next best node; return False if there is none."""
    plan = part.plan
    taken = set(plan.parts.values_list("node_id", flat=True))
    free = [agent for agent in live_agents(plan.cluster) if agent.node_id not in taken]
    if not free:
        return False
    (best,) = best_agents(plan.version, free, 1)
    try:
        with transaction.atomic():
            return _hand_over(part, best)
    except CacheTooSmall:
        return False
    except UNREADABLE:
        # The next tick ends the plan with its reason.
        return False


def _hand_over(part: WarmPlanNode, best: NodeAgent) -> bool:
    # The silent agent is locked, too: it may come back at this moment.
    agents = {
        agent.node_id: agent
        for agent in locked([best, *NodeAgent.objects.filter(node=part.node_id)])
    }
    plan = WarmPlan.objects.select_for_update().get(pk=part.plan_id)
    row = WarmPlanNode.objects.select_for_update().get(pk=part.pk)
    back = agents.get(part.node_id)
    is_back = back is not None and is_live(back, clock.now())
    if plan.state != "running" or row.state not in _OPEN or is_back:
        return False
    plan.version = part.plan.version
    begin_part(plan, agents[best.node_id])
    states.check_transition(WARM_PLAN_NODE_STATES, row.state, "replaced")
    row.state, row.replaced_by = "replaced", best.node
    row.error = Sentence(
        "cache.agent_replaced",
        "The agent of {node} did not report; {other} took its part.",
        node=part.node.name,
        other=best.node.name,
    )
    row.save(update_fields=["state", "replaced_by", "error", "updated_at"])
    PackFetch.objects.filter(plan=plan, node=part.node_id).delete()
    log.warning("warm_node_replaced", node=part.node.name, other=best.node.name)
    refresh(plan)
    return True


def oversee_vanished() -> int:
    """Take notice of nodes that left their cluster; return how many plans changed.

    A plan with a number of copies gets another node, as far as there is one.
    """
    count = 0
    running = WarmPlan.objects.filter(state="running").select_related(
        "cluster", "version__dataset__project"
    )
    for plan in running.prefetch_related("parts__node"):
        parts = [part for part in plan.parts.all() if part.state != "replaced"]
        lost = len(plan.named_nodes) if plan.copies is None else plan.copies
        lost -= len(parts)
        if lost > 0:
            count += _note_lost(plan, {part.node.name for part in parts}, lost)
    return count


def _note_lost(plan: WarmPlan, names: set[str], lost: int) -> int:
    taken = set(plan.parts.values_list("node_id", flat=True))
    free = [agent for agent in live_agents(plan.cluster) if agent.node_id not in taken]
    error = _reason_of_loss(plan, names, lost)
    with transaction.atomic():
        chosen = best_agents(plan.version, free, lost) if plan.copies is not None else []
        agents = locked(chosen)
        row = WarmPlan.objects.select_for_update().get(pk=plan.pk)
        if row.state != "running":
            return 0
        row.version = plan.version
        is_changed = row.error != error or bool(agents)
        row.error = "" if len(agents) == lost else error
        row.save(update_fields=["error", "updated_at"])
        for agent in agents:
            try:
                with transaction.atomic():
                    begin_part(row, agent)
            except CacheTooSmall as refusal:
                WarmPlan.objects.filter(pk=row.pk).update(error=refusal.detail)
        refresh(row)
    return int(is_changed)


def _reason_of_loss(plan: WarmPlan, names: set[str], lost: int) -> Sentence:
    if plan.copies is None:
        return Sentence(
            "cache.named_nodes_left",
            "These nodes left the cluster, and no other takes their part: {nodes}.",
            nodes=", ".join(sorted(set(plan.named_nodes) - names)),
        )
    return Sentence(
        "cache.nodes_left",
        "{count} nodes of the plan left the cluster, and no other can take their part.",
        count=lost,
    )


def oversee() -> None:
    """Do all of this, as the beat does."""
    end_unreadable()
    end_overdue()
    oversee_silent()
    oversee_vanished()
    end_settled()
