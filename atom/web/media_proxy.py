"""Passes `/media/` on to the gateway process, so that the browser sees one origin.

Bytes are streamed both ways and never held whole; ranges and conditions pass through untouched.
"""

from collections.abc import AsyncIterator

import httpx
import structlog
from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope

from atom.web.answers import Header, send_problem

log = structlog.get_logger(__name__)

# Headers of a single connection (RFC 9110, 7.6.1); the server and httpx set their own.
_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"host",
    }
)
_TIMEOUT = httpx.Timeout(60.0, connect=2.0)
_LIMITS = httpx.Limits(max_connections=200, max_keepalive_connections=50)


class MediaProxy:
    """An ASGI application that forwards requests to the gateway."""

    def __init__(self, gateway_url: str) -> None:
        self._client = httpx.AsyncClient(
            base_url=gateway_url, timeout=_TIMEOUT, limits=_LIMITS, trust_env=False
        )

    async def aclose(self) -> None:
        """Close the connections to the gateway."""
        await self._client.aclose()

    async def __call__(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Answer one request."""
        try:
            upstream = await self._client.send(self._request(scope, receive), stream=True)
        except _ClientGoneError:
            log.info("client_gone", path=scope["path"])
            return
        except httpx.TransportError as error:
            log.warning("gateway_unreachable", error=type(error).__name__)
            await _send_unreachable(send)
            return
        try:
            await _relay(upstream, send)
        finally:
            await upstream.aclose()

    def _request(self, scope: HTTPScope, receive: ASGIReceiveCallable) -> httpx.Request:
        query = scope["query_string"]
        url = httpx.URL(
            str(self._client.base_url).rstrip("/"),
            raw_path=(scope["raw_path"] or scope["path"].encode())
            + (b"?" + query if query else b""),
        )
        headers = [pair for pair in scope["headers"] if pair[0] not in _HOP_BY_HOP]
        has_body = scope["method"] not in {"GET", "HEAD"}
        return self._client.build_request(
            scope["method"], url, headers=headers, content=_body(receive) if has_body else None
        )


class _ClientGoneError(Exception):
    """The client went away in the middle of its body: there is nobody to answer."""


async def _body(receive: ASGIReceiveCallable) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _ClientGoneError
        yield message["body"]
        if not message["more_body"]:
            return


async def _relay(upstream: httpx.Response, send: ASGISendCallable) -> None:
    headers: list[Header] = [
        (name.lower(), value)
        for name, value in upstream.headers.raw
        if name.lower() not in _HOP_BY_HOP
    ]
    await send(
        {
            "type": "http.response.start",
            "status": upstream.status_code,
            "headers": headers,
            "trailers": False,
        }
    )
    # Raw: an encoded body keeps its encoding and its length.
    async for chunk in upstream.aiter_raw():
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_unreachable(send: ASGISendCallable) -> None:
    await send_problem(
        send,
        status=502,
        code="gateway_unreachable",
        title="The media gateway does not answer",
        detail="Images and files cannot be shown because the gateway process is not running.",
        action="Try again in a few seconds; if it stays, look at the gateway's log.",
    )
