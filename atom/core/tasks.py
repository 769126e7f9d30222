"""Periodic cleanup of the tables of `core`."""

from __future__ import annotations

from typing import Any

from celery import shared_task

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "core.forget_answers": {
        "task": "core.forget_answers",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "core.forget_events": {
        "task": "core.forget_events",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
}


@shared_task(name="core.forget_answers", soft_time_limit=290, time_limit=300)
def forget_answers() -> None:
    """Forget the answers to Idempotency-Keys that are older than a day."""
    from atom.core.idempotency import forget_old

    forget_old()


@shared_task(name="core.forget_events", soft_time_limit=290, time_limit=300)
def forget_events() -> None:
    """Forget the events of the outbox that are older than three days."""
    from atom.core.outbox import forget_old

    forget_old()
