"""Follows logs of ranks for sockets: waits on the streams without holding a thread.

Sockets of a process that watch the same log share one connection that waits. New entries are
read once and handed to each. A socket that is behind, since it came later or its client is slow,
reads on its own until it has caught up.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any, ClassVar, cast
from weakref import WeakKeyDictionary

import redis.asyncio as aioredis
from django.conf import settings
from redis.exceptions import RedisError

from atom.jobs.logs.pipelines.log_stream import Entry, parse_entry, stream_key

BLOCK_MS = 2000
# Longer than the longest wait, or a quiet log would look like a broken connection.
_SOCKET_TIMEOUT_S = 15
_ENTRIES = 32


class LogFollower:
    """One socket's place among those that watch; it follows one log at a time."""

    def __init__(self) -> None:
        """Connect at the first read."""
        self._feed: _Feed | None = None
        self._hub: _Hub | None = None

    async def present(self, name: str, offset: int) -> list[Entry]:
        """Return the entries that end after `offset` and are there now."""
        return await self._joined().read(name, offset)

    async def wait(self, name: str, offset: int) -> list[Entry]:
        """Return entries that end after `offset`; [] if none came within `BLOCK_MS`.

        They may begin before it, with what the socket has already.
        """
        hub = self._joined()
        if self._feed is None or self._feed.is_over:
            self._feed = hub.feed(name, offset)
        if offset < self._feed.tail:
            return await hub.read(name, offset)
        return await self._feed.following()

    def when_it_went_on(self, name: str) -> float:
        """Return when one of the sockets last found that the log had not ended (monotonic, s)."""
        return self._joined().went_on.get(name, -math.inf)

    def note_that_it_goes_on(self, name: str, looked_s: float) -> None:
        """Record for the other sockets that the log had not ended then."""
        self._joined().went_on[name] = looked_s

    async def close(self) -> None:
        """Leave; the last one closes the connections."""
        feed, hub, self._feed, self._hub = self._feed, self._hub, None, None
        if hub is not None:
            await hub.leave(feed)

    def _joined(self) -> _Hub:
        if self._hub is None:
            self._hub = _Hub.of_loop()
            self._hub.followers += 1
        return self._hub


class _Hub:
    """The feeds of one event loop, and the connection for those that are behind."""

    _of_loops: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, _Hub]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self.followers = 0
        self.went_on: dict[str, float] = {}
        self._redis = _connect()
        self._reads: set[asyncio.Task[list[Entry]]] = set()
        self._feeds: dict[str, _Feed] = {}

    @classmethod
    def of_loop(cls) -> _Hub:
        loop = asyncio.get_running_loop()
        if loop not in cls._of_loops:
            cls._of_loops[loop] = cls()
        return cls._of_loops[loop]

    async def read(self, name: str, offset: int) -> list[Entry]:
        # A socket that closes must end only its own wait: all sockets share the connection.
        task = asyncio.create_task(_read(self._redis, name, offset, None))
        self._reads.add(task)
        task.add_done_callback(self._reads.discard)
        return await asyncio.shield(task)

    def feed(self, name: str, offset: int) -> _Feed:
        feed = self._feeds.get(name)
        if feed is None or feed.is_over:
            feed = self._feeds[name] = _Feed(name, offset)
        feed.followers += 1
        return feed

    async def leave(self, feed: _Feed | None) -> None:
        self.followers -= 1
        if not self.followers:
            self._of_loops.pop(asyncio.get_running_loop(), None)
        try:
            if feed is not None:
                await self._leave_feed(feed)
        finally:
            # Also where the socket closes while this is under way.
            if not self.followers:
                await asyncio.gather(*self._reads, return_exceptions=True)
                await self._redis.aclose()

    async def _leave_feed(self, feed: _Feed) -> None:
        feed.followers -= 1
        if not feed.followers:
            if self._feeds.get(feed.name) is feed:
                del self._feeds[feed.name]
                self.went_on.pop(feed.name, None)
            await feed.close()


class _Feed:
    """Waits for new entries of one log; `tail` is the offset up to which it passed them on."""

    def __init__(self, name: str, offset: int) -> None:
        self.name = name
        self.tail = offset
        self.followers = 0
        self.is_over = False
        self._is_closing = False
        self._following: asyncio.Future[list[Entry] | Exception] = _future()
        self._task = asyncio.create_task(self._run())

    async def following(self) -> list[Entry]:
        """Return what comes next; [] if nothing does for `BLOCK_MS`. Raises what ended the feed."""
        following = self._following
        await asyncio.wait({following}, timeout=BLOCK_MS / 1000)
        if not following.done():
            return []
        told = following.result()
        if isinstance(told, Exception):
            raise told
        return told

    async def close(self) -> None:
        """End the waiting.

        The client loses a cancellation that comes just when it is answered: it would read on.
        """
        self._is_closing = True
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        client = _connect()
        # To cancel a connection that is being made would leave it open.
        opening = asyncio.ensure_future(client.ping())
        try:
            await asyncio.shield(opening)
            while not self._is_closing:
                entries = await _read(client, self.name, self.tail, BLOCK_MS)
                if entries:
                    self.tail = entries[-1].end
                    self._notify(entries)
        except (OSError, RedisError) as error:
            self._notify(error)
        finally:
            self.is_over = True
            await asyncio.gather(opening, return_exceptions=True)
            await client.aclose()

    def _notify(self, what: list[Entry] | Exception) -> None:
        following, self._following = self._following, _future()
        following.set_result(what)


def _future() -> asyncio.Future[list[Entry] | Exception]:
    return asyncio.get_running_loop().create_future()


def _connect() -> aioredis.Redis:
    return aioredis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_SOCKET_TIMEOUT_S, single_connection_client=True
    )


async def _read(
    client: aioredis.Redis, name: str, offset: int, block_ms: int | None
) -> list[Entry]:
    streams: dict[Any, Any] = {stream_key(name): f"{offset}-0"}
    found = await client.xread(streams, count=_ENTRIES, block=block_ms)
    # RESP3 answers with a mapping, RESP2 with pairs.
    pairs = found.items() if isinstance(found, dict) else found or []
    return [parse_entry(*item) for _, items in pairs for item in _flat(cast("list[Any]", items))]


def _flat(items: list[Any]) -> list[Any]:
    nested = len(items) == 1 and items[0] and isinstance(items[0][0], list | tuple)
    return cast("list[Any]", items[0] if nested else items)
