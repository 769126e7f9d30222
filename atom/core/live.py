"""Live events: ids and offsets through the channel layer, never payloads.

A page that hears an event reads the thing again by HTTP, or resumes from the offset, so a
lost event costs a second of staleness and never data.
"""

from __future__ import annotations

from typing import Any

import redis
import structlog
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

log = structlog.get_logger(__name__)


def publish(group: str, event: dict[str, Any]) -> None:
    """Send `event` to everybody in `group` once the present transaction has committed.

    `event["type"]` is what the browser sees; consumers handle it in `live_event`.
    """
    transaction.on_commit(lambda: publish_now(group, event))


def publish_now(group: str, event: dict[str, Any]) -> None:
    """Send without waiting for a commit; a broken channel layer is logged, never raised."""
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        async_to_sync(layer.group_send)(group, {"type": "live.event", "event": event})
    except (OSError, redis.RedisError) as exc:
        log.warning("live_event_lost", group=group, error=str(exc))
