"""Headers that browsers get with every answer of the web process."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from atom.asgi import application
from atom.web.security_headers import SecurityHeaders

pytestmark = pytest.mark.django_db(transaction=True)


async def answer_of(app: Any, path: str, **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        return await client.get(path, headers=headers)


@pytest.mark.parametrize(
    "path",
    ["/", "/api/v1/auth/session/", "/api/v1/nothing/", "/admin/", "/static/none", "/media/a/b"],
)
async def test_every_answer_is_guarded(path: str) -> None:
    headers = (await answer_of(application, path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
    assert "unsafe-inline" not in policy.split("style-src")[0]
    assert "access-control-allow-origin" not in headers


async def test_only_the_administration_evaluates_text() -> None:
    for path in ("/", "/api/v1/docs/", "/api/v1/auth/session/", "/assets/none.js"):
        policy = (await answer_of(application, path)).headers["content-security-policy"]
        assert "'unsafe-eval'" not in policy
        assert "'unsafe-inline'" not in policy


async def test_what_says_something_stricter_keeps_it() -> None:
    async def strict(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"Content-Security-Policy", b"sandbox")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    answer = await answer_of(SecurityHeaders(strict), "/media/a/b")
    assert answer.headers.get_list("content-security-policy") == ["sandbox"]


async def test_transport_security_is_told_to_who_came_by_tls() -> None:
    async def empty(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    guarded = SecurityHeaders(empty, "max-age=60")
    name = "strict-transport-security"
    assert name not in (await answer_of(guarded, "/")).headers
    by_tls = {"X-Forwarded-Proto": "https"}
    assert (await answer_of(guarded, "/", **by_tls)).headers[name] == "max-age=60"
