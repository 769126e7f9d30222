"""Follows an attempt's log for a socket: waits on the stream without holding a thread."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

import redis.asyncio as aioredis
from django.conf import settings

from atom.jobs.pipelines.log_stream import Entry, parse_entry, stream_key

BLOCK_MS = 2000
# Longer than the longest wait, or a quiet log would look like a broken connection.
_SOCKET_TIMEOUT_S = 15
_ENTRIES = 32


class LogFollower:
    """One connection that waits for entries behind an offset."""

    def __init__(self) -> None:
        """Connect at the first read."""
        self._redis = aioredis.Redis.from_url(settings.REDIS_URL, socket_timeout=_SOCKET_TIMEOUT_S)

    async def wait(self, attempt_id: UUID, offset: int, block_ms: int = BLOCK_MS) -> list[Entry]:
        """Return the entries that end after `offset`; [] if none came in time."""
        streams: dict[Any, Any] = {stream_key(attempt_id): f"{offset}-0"}
        found = await self._redis.xread(streams, count=_ENTRIES, block=block_ms)
        # RESP3 answers with a mapping, RESP2 with pairs.
        pairs = found.items() if isinstance(found, dict) else found
        return [
            parse_entry(*item) for _, items in pairs for item in _flat(cast("list[Any]", items))
        ]

    async def close(self) -> None:
        """Give the connection back."""
        await self._redis.aclose()


def _flat(items: list[Any]) -> list[Any]:
    nested = len(items) == 1 and items[0] and isinstance(items[0][0], list | tuple)
    return cast("list[Any]", items[0] if nested else items)
