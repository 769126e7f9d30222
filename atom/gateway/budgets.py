"""A limit for the bytes of originals that a process holds at once, over all requests."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ByteBudget:
    """Lends bytes in the order in which they were asked for. For one event loop."""

    def __init__(self, limit_bytes: int) -> None:
        """Requests above the limit wait until no other request holds any bytes."""
        self._limit_bytes = limit_bytes
        self._lent_bytes = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def lent(self, size_bytes: int) -> AsyncIterator[None]:
        """Hold so many bytes during the block, after waiting for them."""
        size_bytes = min(size_bytes, self._limit_bytes)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((size_bytes, turn))
        self._lend()
        try:
            await turn
            yield
        finally:
            # A request that left the queue early holds no bytes to give back.
            if turn.done() and not turn.cancelled():
                self._lent_bytes -= size_bytes
            self._lend()

    def _lend(self) -> None:
        while self._waiting:
            size_bytes, turn = self._waiting[0]
            if not turn.done() and self._lent_bytes + size_bytes > self._limit_bytes:
                return
            self._waiting.popleft()
            if not turn.done():
                self._lent_bytes += size_bytes
                turn.set_result(None)
