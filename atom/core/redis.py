"""The one connection pool to Valkey."""

from __future__ import annotations

from functools import lru_cache

import redis
from django.conf import settings


@lru_cache(maxsize=1)
def client() -> redis.Redis:
    """Return the process-wide client (bytes in, bytes out)."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=10, socket_connect_timeout=5)


def now_s() -> float:
    """Return Unix time by Valkey's clock, which all processes share and stream entries have."""
    seconds, microseconds = client().time()
    return seconds + microseconds / 1e6
