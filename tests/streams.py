"""Answers that are sent while they are made, read whole."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync


def bytes_of(answer: Any) -> bytes:
    """Return the bytes of an answer that is streamed asynchronously."""
    assert answer.is_async

    async def all_of() -> bytes:
        return b"".join([piece async for piece in answer.streaming_content])

    return async_to_sync(all_of)()
