"""The proxy against a real upstream: uvicorn in a thread, on a real socket."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from atom.dev.ports import find_free
from atom.web.media_proxy import MediaProxy
from tests.datasets.gateways import served

BODY = bytes(range(256)) * 4096


async def _upstream(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers ranges of BODY and repeats the request's path."""
    if scope["type"] != "http":
        return
    headers = dict(scope["headers"])
    status, body = 200, BODY
    if b"range" in headers:
        first, last = headers[b"range"].decode().removeprefix("bytes=").split("-")
        status, body = 206, BODY[int(first) : int(last) + 1]
    answer = [
        (b"content-type", b"image/png"),
        (b"content-length", str(len(body)).encode()),
        (b"etag", b'"digest"'),
        (b"x-path", scope["raw_path"] + b"?" + scope["query_string"]),
    ]
    await send({"type": "http.response.start", "status": status, "headers": answer})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def upstream_url() -> Iterator[str]:
    with served(_upstream) as url:
        yield url


@pytest_asyncio.fixture
async def client(upstream_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async for client in _client_of(upstream_url):
        yield client


async def _client_of(gateway_url: str) -> AsyncIterator[httpx.AsyncClient]:
    proxy = MediaProxy(gateway_url)
    transport = httpx.ASGITransport(app=proxy)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        yield client
    await proxy.aclose()


async def test_bytes_and_headers_pass_unchanged(client: httpx.AsyncClient) -> None:
    answer = await client.get("/media/token/a%20b.png?w=64")
    assert answer.content == BODY
    assert answer.headers["etag"] == '"digest"'
    assert answer.headers["x-path"] == "/media/token/a%20b.png?w=64"


async def test_ranges_are_passed_on(client: httpx.AsyncClient) -> None:
    answer = await client.get("/media/token/x", headers={"range": "bytes=10-19"})
    assert answer.status_code == 206
    assert answer.content == BODY[10:20]


async def test_a_gateway_that_is_down_is_a_502_with_advice() -> None:
    async for client in _client_of(f"http://127.0.0.1:{find_free(1, start=7000)}"):
        answer = await client.get("/media/token/x")
        assert answer.status_code == 502
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "gateway_unreachable"


async def test_a_client_that_goes_away_in_the_middle_of_its_body_is_no_error(
    upstream_url: str,
) -> None:
    messages = iter(
        [
            {"type": "http.request", "body": b"half", "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    scope = {
        "type": "http",
        "method": "PUT",
        "path": "/media/token/x",
        "raw_path": b"/media/token/x",
        "query_string": b"",
        "headers": [(b"host", b"testserver"), (b"content-length", b"8")],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    proxy = MediaProxy(upstream_url)
    await proxy(scope, receive, send)  # type: ignore[arg-type]
    await proxy.aclose()
    assert sent == []
