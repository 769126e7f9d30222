"""How deliveries of webhooks are doing."""

from __future__ import annotations

from collections.abc import Iterator

from atom.core.health_checks import Finding, Gauge, counted
from atom.webhooks import states
from atom.webhooks.models import Delivery, Webhook


def gauges() -> Iterator[Gauge]:
    """Yield deliveries by state; those that are over are kept for a while only."""
    yield from counted("atom_webhook_deliveries", "Deliveries by state.", Delivery.objects.all())


def findings() -> list[Finding]:
    """Count the webhooks that were switched off because their receiver did not answer."""
    count = Webhook.objects.exclude(off_reason__in=["", states.BY_PERSON]).count()
    if not count:
        return []
    return [
        Finding(
            "webhooks_off",
            "warning",
            f"{count} webhooks are off because their receivers failed.",
            "Administrators of the projects see why in Settings, Webhooks, and switch them on.",
            {"total": count},
        )
    ]
