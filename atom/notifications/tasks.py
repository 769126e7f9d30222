"""Celery shims of notifications. All are safe to repeat."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from celery import shared_task

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "notifications.tick": {"task": "notifications.tick", "schedule": 2.0},
    "notifications.mail_due": {"task": "notifications.mail_due", "schedule": 15.0},
    "notifications.forget_old": {
        "task": "notifications.forget_old",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
}


@shared_task(name="notifications.tick", soft_time_limit=50, time_limit=60)
def tick() -> None:
    """Tell people of new events."""
    from atom.notifications.actions import fan_out

    fan_out.tick()


@shared_task(name="notifications.mail_due", soft_time_limit=50, time_limit=60)
def mail_due() -> None:
    """Have what is due mailed."""
    from atom.notifications.actions import mailing

    mailing.mail_due()


@shared_task(name="notifications.mail_person", soft_time_limit=60, time_limit=90)
def mail_person(user_id: str) -> None:
    """Mail somebody what is due to them."""
    from atom.notifications.actions import mailing

    mailing.mail_person(UUID(user_id))


@shared_task(name="notifications.forget_old", soft_time_limit=290, time_limit=300)
def forget_old() -> None:
    """Delete old notifications."""
    from atom.notifications.actions import mailing

    mailing.forget_old()
