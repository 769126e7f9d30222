"""Parts of uploads from browsers: PUT to a signed path, passed on to the store as they come.

Browsers see one origin; the store need not be reachable for them, and knows nothing of origins.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import structlog

from atom.core import storage
from atom.gateway.errors import Overloaded, PartNotStored, PartSizeDiffers
from atom.gateway.links import PartLink
from atom.gateway.responses import Answer, Receive
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

_AT_ONCE = 64
_ANSWER_S = 120.0
_TIMEOUT = httpx.Timeout(_ANSWER_S, connect=5.0)


class ClientGone(Exception):
    """The browser left before it had sent the part, so no answer is needed."""


class PartServer:
    """Takes parts. One per process."""

    def __init__(self) -> None:
        """No connection is opened before the first part comes."""
        limits = httpx.Limits(max_connections=_AT_ONCE, max_keepalive_connections=8)
        self._client = httpx.AsyncClient(timeout=_TIMEOUT, limits=limits, trust_env=False)
        self._in_progress = 0

    async def take(self, link: PartLink, announced: str, receive: Receive) -> Answer:
        """Pass a part on and answer with its etag. Raises one of the gateway's errors."""
        if announced != str(link.size_bytes):
            raise PartSizeDiffers(
                Sentence(
                    "gateway.part_has_other_size",
                    "The part has {size_bytes} bytes, not {sent_bytes}.",
                    size_bytes=link.size_bytes,
                    sent_bytes=announced or "?",
                )
            )
        if self._in_progress >= _AT_ONCE:
            raise Overloaded(headers={"Retry-After": "1"})
        self._in_progress += 1
        try:
            etag = await self._pass_on(link, receive)
        finally:
            self._in_progress -= 1
        return Answer(200, {"etag": etag, "cache-control": "no-store"})

    async def aclose(self) -> None:
        """Close the connections to the store."""
        await self._client.aclose()

    async def _pass_on(self, link: PartLink, receive: Receive) -> str:
        address = storage.objects().part_address(link.key, link.upload_id, link.number)
        # With a length, so that the store takes nothing that was cut on its way.
        headers = {"content-length": str(link.size_bytes)}
        try:
            async with asyncio.timeout(None) as limit:
                body = _body(receive, link.size_bytes, limit)
                stored = await self._client.put(address, content=body, headers=headers)
        except (httpx.HTTPError, TimeoutError) as error:
            log.warning("part_not_stored", error=type(error).__name__, number=link.number)
            raise PartNotStored from error
        if stored.status_code != httpx.codes.OK:
            log.warning("part_not_stored", status=stored.status_code, number=link.number)
            raise PartNotStored(
                Sentence(
                    "gateway.store_answered",
                    "The store answered {status_code}.",
                    status_code=stored.status_code,
                )
            )
        return stored.headers["etag"]


async def _body(receive: Receive, size_bytes: int, limit: asyncio.Timeout) -> AsyncIterator[bytes]:
    """Yield what arrives; from its end on the store's whole answer is waited for until `limit`."""
    arrived, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        piece, more = message.get("body", b""), message.get("more_body", False)
        arrived += len(piece)
        if arrived > size_bytes or (arrived < size_bytes and not more):
            raise PartSizeDiffers(
                Sentence(
                    "gateway.part_has_other_size",
                    "The part has {size_bytes} bytes, not {sent_bytes}.",
                    size_bytes=size_bytes,
                    sent_bytes=arrived,
                )
            )
        if piece:
            yield piece
    limit.reschedule(asyncio.get_running_loop().time() + _ANSWER_S)
