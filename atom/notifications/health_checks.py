"""How telling people is doing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models.functions import Now

from atom.core.health_checks import Finding, Gauge
from atom.notifications.models import Notification

_LATE = timedelta(minutes=30)


def gauges() -> Iterator[Gauge]:
    """Yield how many mails wait."""
    waiting = Notification.objects.filter(mail_at__lte=Now()).count()
    yield Gauge("atom_notifications_to_mail", "Notifications whose mail is due.", waiting)


def findings() -> list[Finding]:
    """Say that the mail server takes nothing."""
    failing = Notification.objects.filter(mail_at__isnull=False, mail_tries__gt=2)
    count = failing.filter(at__lt=Now() - _LATE).count()
    if not count:
        return []
    return [
        Finding(
            "notifications_unmailed",
            "warning",
            f"{count} notifications could not be mailed for half an hour.",
            "See whether the mail server of ATOM_EMAIL_URL answers; the worker's log says more.",
            {"total": count},
        )
    ]
