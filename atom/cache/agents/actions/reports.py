"""Reports of agents: the node's disk, cards and packs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from atom.cache.agents.actions.coverage import projects_on, replace_packs
from atom.cache.agents.actions.evicting import make_room, ordered_away, remove_unnamed
from atom.cache.models import NodeAgent, PackFetch
from atom.core import clock

# An agent that reports every 15 s and was silent for this long counts as away.
SILENT_AFTER: Final = timedelta(seconds=45)
_XID_EVENTS_KEPT = 20


@dataclass(frozen=True, slots=True)
class AgentReport:
    """A report: `packs` by project id, or None for a report without them; see `NodeAgent`."""

    sequence: int
    disk: dict[str, Any]
    packs: dict[str, list[str]] | None
    gpus: list[dict[str, Any]]
    xid_events: list[dict[str, Any]]


def note_report(agent: NodeAgent, report: AgentReport) -> bool:
    """Store a report, and make room on a node that is nearly full.

    Returns whether the next report is to bring all packs: after a join, a silence, or where
    packs that no version names may be in the way.
    """
    with transaction.atomic():
        row = NodeAgent.objects.select_for_update().get(pk=agent.pk)
        row.node = agent.node
        now = clock.now()
        if row.reported_at is not None and not is_live(row, now):
            row.needs_packs = True
        row.reported_at = now
        if report.sequence >= row.sequence:
            row.sequence = report.sequence
            row.disk, row.gpus = report.disk, report.gpus
            row.xid_events = _merged(report.xid_events, row.xid_events)
            if report.packs is not None:
                row.needs_packs = False
                _note_inventory(row, report.packs)
            make_room(row)
        row.save()
    return row.needs_packs


def _note_inventory(agent: NodeAgent, packs: dict[str, list[str]]) -> None:
    away = ordered_away(agent)
    for project_id in projects_on(agent.node) | {UUID(project) for project in packs}:
        here = set(packs.get(str(project_id), ()))
        # The agent lists what it is yet to remove.
        here -= {pack for project, pack in away if project == str(project_id)}
        named = replace_packs(agent.node, project_id, here)
        remove_unnamed(agent, project_id, here - named)


def _merged(new: list[dict[str, Any]], known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the newest events, each once: an agent may send them again."""
    events = {(row["gpu"], row["xid"], row["at"]): row for row in [*known, *new]}
    return sorted(events.values(), key=lambda row: str(row["at"]), reverse=True)[:_XID_EVENTS_KEPT]


def is_live(agent: NodeAgent, now: datetime) -> bool:
    """Return whether the agent reported a short time ago."""
    return agent.reported_at is not None and agent.reported_at > now - SILENT_AFTER


def release_silent() -> int:
    """End the fetches of agents that are silent, so that other nodes go on; return how many."""
    limit = clock.now() - SILENT_AFTER
    silent = PackFetch.objects.exclude(node__agent__reported_at__gt=limit)
    count, _ = silent.filter(heard_at__lt=limit).delete()
    return count
