"""Celery shims of webhooks. All are safe to repeat."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from celery import shared_task

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "webhooks.tick": {"task": "webhooks.tick", "schedule": 2.0},
    "webhooks.forget_old": {
        "task": "webhooks.forget_old",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
}


@shared_task(name="webhooks.tick", soft_time_limit=50, time_limit=60)
def tick() -> None:
    """Take new events, and have what is due sent."""
    from atom.webhooks.actions import deliveries

    deliveries.tick()


@shared_task(name="webhooks.send_due", soft_time_limit=50, time_limit=60)
def send_due(webhook_id: str) -> None:
    """Send what is due to one webhook."""
    from atom.webhooks.actions import deliveries

    deliveries.send_due(UUID(webhook_id))


@shared_task(name="webhooks.forget_old", soft_time_limit=290, time_limit=300)
def forget_old() -> None:
    """Forget deliveries that ended long ago."""
    from atom.webhooks.actions import deliveries

    deliveries.forget_old()
