"""The real times of an attempt and its real cost, beside what its placement assumed."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from atom.jobs.event_kinds import EventKind
from atom.jobs.executors import executor_in
from atom.jobs.models import Attempt, Placement, PlacementDecision, RunEvent

Json = dict[str, Any]
_HOUR_S = 3600


def kept_row(stored: PlacementDecision, attempt: Attempt | None) -> Json:
    """Return a kept decision as the API shows it, with what came; None of the attempt: it waits."""
    return {
        "decided_at": stored.decided_at,
        "chosen": stored.chosen or None,
        "by": stored.decided_by,
        "why": stored.why,
        "assumptions": stored.assumptions,
        "candidates": stored.candidates,
        "assumed": stored.assumed,
        "came": came_of(stored, attempt),
    }


def came_of(stored: PlacementDecision, attempt: Attempt | None) -> Json:
    """Return the real times in seconds since the decision, and the cost; None until known."""
    absent = dict.fromkeys(("start_s", "queue_s", "data_s", "image_s", "run_s", "cost"))
    if attempt is None:
        return absent
    parts: Json = {
        "queue_s": stored.queue_s,
        "data_s": stored.data_s,
        "image_s": stored.image_s,
    }
    if attempt.finished_at is None:
        parts = part_times(stored.decided_at, attempt)
    run_s = _seconds(attempt.started_at, attempt.finished_at)
    return {
        "start_s": _seconds(stored.decided_at, attempt.started_at),
        **parts,
        "run_s": run_s,
        "cost": _cost(stored.assumed, run_s),
    }


def part_times(decided_at: datetime, attempt: Attempt) -> Json:
    """Return the parts of the start in seconds, None where nothing tells them.

    On own machines the wait ends at the placement, and the data is there when the warm-up ends. In
    a registered cluster the wait ends when it has a node for each pod.
    """
    if attempt.placed_in_id is None:
        warmed = RunEvent.objects.filter(attempt=attempt, kind=EventKind.WARMED).first()
        return {
            "queue_s": _seconds(decided_at, attempt.created_at),
            "data_s": _seconds(attempt.created_at, warmed.at) if warmed else None,
            "image_s": 0.0 if attempt.started_at else None,
        }
    # A page reads the attempt without the long observation.
    placement = Placement.objects.select_related("cluster").get(pk=attempt.placed_in_id)
    times = executor_in(placement.cluster).start_times(placement)
    return {
        "queue_s": _seconds(decided_at, times.scheduled_at),
        "data_s": None,
        "image_s": _seconds(times.scheduled_at, times.pulled_at),
    }


def _seconds(since: datetime | None, until: datetime | None) -> float | None:
    """Return the time between two clocks' moments, at least 0; None if one is unknown."""
    if since is None or until is None:
        return None
    return round(max(0.0, (until - since).total_seconds()), 1)


def _cost(assumed: Json | None, run_s: float | None) -> str | None:
    """Return the cost of the real run time at the price of the decision, with its egress."""
    if run_s is None or assumed is None or assumed["cost"] is None:
        return None
    per_hour = Decimal(assumed["per_hour"] or 0)
    egress = Decimal(assumed["egress"] or 0)
    return f"{per_hour * Decimal(run_s) / _HOUR_S + egress:.2f}"
