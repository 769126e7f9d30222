"""Answers that are sent while they are made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

from asgiref.sync import sync_to_async

T = TypeVar("T")


async def streamed(pieces: Iterator[T]) -> AsyncIterator[T]:
    """Yield the pieces, each made in a thread when the one before it was taken.

    Under ASGI, Django collects all pieces of a plain iterator before it sends the first.
    """
    following = sync_to_async(lambda: next(pieces, None))
    while (piece := await following()) is not None:
        yield piece
