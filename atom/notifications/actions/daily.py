"""When somebody's daily mail comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models.functions import Now

from atom.accounts.models import User
from atom.core.clock import now
from atom.notifications.engines.timing import DailyTime, next_daily_mail
from atom.notifications.models import MailTime, Notification


def daily_time_of(user: User) -> DailyTime:
    """Return when the user's daily mail comes."""
    row = MailTime.objects.filter(user=user).first()
    return row.daily if row else DailyTime()


def change_daily_time(user: User, change: Mapping[str, Any]) -> None:
    """Keep `time_zone`, `hour` or both, and have what waits for the daily mail come then.

    The caller holds the lock of the user's row.
    """
    before = daily_time_of(user)
    new = DailyTime(
        change.get("time_zone", before.time_zone),
        change.get("hour", before.hour),
    )
    if new == before:
        return
    MailTime.objects.update_or_create(
        user=user, defaults={"time_zone": new.time_zone, "hour": new.hour}
    )
    # Mails that are due or were tried stay: at a new time they would come late or twice.
    at = now()
    waiting = Notification.objects.filter(user=user, mail_at__gt=at, mail_tries=0)
    waiting.update(mail_at=next_daily_mail(at, new), updated_at=Now())
