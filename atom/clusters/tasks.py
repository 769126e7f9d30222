"""Celery shims of clusters. All are safe to repeat."""

from __future__ import annotations

from typing import Any

from celery import shared_task

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "clusters.tick": {"task": "clusters.tick", "schedule": 15.0},
}


@shared_task(name="clusters.tick", soft_time_limit=290, time_limit=300)
def tick() -> None:
    """Ask registered clusters whether they are there, and what they offer."""
    from atom.clusters.registration.actions import registering

    registering.tick()
