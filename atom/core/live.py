"""Live events: ids and offsets through the channel layer, never payloads.

A page that hears an event reads the thing again by HTTP, or resumes from the offset, so a
lost event costs a second of staleness and never data.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import redis
import structlog
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction
from redis.backoff import NoBackoff
from redis.retry import Retry

log = structlog.get_logger(__name__)

# The publisher has committed already, so its answer must not wait for long.
_TIMEOUT_S = 5.0


def publish(group: str, event: dict[str, Any]) -> None:
    """Send `event` to everybody in `group` once the present transaction has committed.

    `event["type"]` is what the browser sees; consumers handle it in `live_event`.
    """
    transaction.on_commit(lambda: publish_now(group, event))


def publish_now(group: str, event: dict[str, Any]) -> None:
    """Send without waiting for a commit; a broken channel layer is logged, never raised.

    The message has the channel layer's own format, but this thread sends it. The layer needs an
    event loop, and each thread of a task or a request would first make one, with a connection of
    its own.
    """
    layer = get_channel_layer()
    if layer is None:
        return
    message = layer.serialize({"type": "live.event", "event": event})
    try:
        _client().publish(_channel_of(group), message)
    except (OSError, redis.RedisError) as exc:
        log.warning("live_event_lost", group=group, error=str(exc))


def _channel_of(group: str) -> str:
    """Return where `channels_redis.pubsub` listens for a group."""
    return f"{settings.CHANNEL_LAYERS['default']['CONFIG']['prefix']}__group__{group}"


@lru_cache(maxsize=1)
def _client() -> redis.Redis:
    # Once more at once: a kept connection may have ended with the Valkey that it led to.
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=_TIMEOUT_S,
        socket_connect_timeout=_TIMEOUT_S,
        retry=Retry(NoBackoff(), 1),
    )
