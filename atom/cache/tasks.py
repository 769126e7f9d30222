"""Celery shims of the cache."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import structlog
from celery import shared_task
from django.utils import timezone

from atom.cache import watermarks
from atom.cache.actions import run_warm
from atom.cache.models import CacheRecord
from atom.core.background import enqueue

log = structlog.get_logger(__name__)

STUCK_AFTER = timedelta(minutes=2)


@shared_task(name="cache.warm", time_limit=1800)
def warm(record_id: str, selector: dict[str, Any]) -> None:
    """Bring one version to this node."""
    run_warm(record_id, selector)


@shared_task(name="cache.recover", soft_time_limit=55, time_limit=60)
def recover() -> None:
    """Go on with warm-ups whose worker died; their progress stands still."""
    stuck = CacheRecord.objects.filter(state="warming", updated_at__lt=timezone.now() - STUCK_AFTER)
    for pk in stuck.values_list("pk", flat=True)[:100]:
        log.warning("warm_recovered", record_id=str(pk))
        enqueue(warm, str(pk), {})
    stuck.update(updated_at=timezone.now())


@shared_task(name="cache.make_room", soft_time_limit=290, time_limit=300)
def make_room() -> None:
    """Evict what nobody needs once the cache is nearly full."""
    watermarks.make_room()


BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "cache.recover": {"task": "cache.recover", "schedule": 30.0},
    "cache.make_room": {"task": "cache.make_room", "schedule": 60.0},
}
