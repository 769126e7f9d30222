"""Celery shims of the cache."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from atom.cache.agents.actions import overseeing, reports, schedules
from atom.cache.warming.actions import warming, watermarks


@shared_task(name="cache.warm", time_limit=1800)
def warm(record_id: str) -> None:
    """Bring one version to this node."""
    warming.run_warm(record_id)


@shared_task(name="cache.recover", soft_time_limit=55, time_limit=60)
def recover() -> None:
    """Go on with warm-ups whose worker died."""
    warming.recover()


@shared_task(name="cache.make_room", soft_time_limit=290, time_limit=300)
def make_room() -> None:
    """Evict what nobody needs once the cache is nearly full."""
    watermarks.make_room()


@shared_task(name="cache.watch_agents", soft_time_limit=55, time_limit=60)
def watch_agents() -> None:
    """Free what silent agents fetch, give parts to other nodes, and end plans that cannot go on."""
    reports.release_silent()
    overseeing.oversee()


@shared_task(name="cache.start_schedules", soft_time_limit=290, time_limit=300)
def start_schedules() -> None:
    """Start the warm-up plans whose time has come."""
    schedules.start_due()


BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "cache.recover": {"task": "cache.recover", "schedule": 5.0},
    "cache.watch_agents": {"task": "cache.watch_agents", "schedule": 10.0},
    "cache.start_schedules": {"task": "cache.start_schedules", "schedule": 15.0},
    "cache.make_room": {"task": "cache.make_room", "schedule": 60.0},
}
