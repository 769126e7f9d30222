"""Blocking work beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


async def run_in(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """Run `work` in a thread of the pool."""
    return await asyncio.get_running_loop().run_in_executor(pool, work)


async def begun(pool: ThreadPoolExecutor, chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Read the first piece at once, so that a missing object is an error and not a cut body."""
    first = await run_in(pool, lambda: next(chunks, b""))

    async def rest() -> AsyncIterator[bytes]:
        piece = first
        while piece:
            yield piece
            piece = await run_in(pool, lambda: next(chunks, b""))

    return rest()
