import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from atom.web.portal import Portal


@pytest_asyncio.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Atom</title>")
    (tmp_path / "assets" / "main-Ab3_xY9z.js").write_text("console.log(1)")
    (tmp_path / "assets" / "main-Ab3_xY9z.js.br").write_bytes(b"brotli")
    (tmp_path / "logo.svg").write_text("<svg/>")
    transport = httpx.ASGITransport(app=Portal(tmp_path))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        yield client


async def test_each_page_has_a_nonce_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<style nonce="__ATOM_NONCE__"></style>')
    transport = httpx.ASGITransport(app=Portal(tmp_path))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        first, second = await client.get("/"), await client.get("/index.html")
    nonces = [re.search('nonce="([^"]+)"', answer.text) for answer in (first, second)]
    assert nonces[0] is not None
    assert nonces[1] is not None
    assert nonces[0][1] != nonces[1][1]
    policy = first.headers["content-security-policy"]
    assert f"script-src 'self' 'nonce-{nonces[0][1]}';" in policy
    # With a validator an older page would be shown under a newer policy.
    assert "etag" not in first.headers
    assert "last-modified" not in first.headers


@pytest.mark.parametrize("path", ["/", "/runs", "/datasets/digits/v3?tab=files"])
async def test_every_page_is_the_index_and_never_cached(
    client: httpx.AsyncClient, path: str
) -> None:
    answer = await client.get(path)
    assert answer.status_code == 200
    assert "<title>Atom</title>" in answer.text
    assert answer.headers["cache-control"] == "no-cache"


async def test_the_page_of_a_shared_run_is_indexed_by_nobody(client: httpx.AsyncClient) -> None:
    shared, other = await client.get("/shared-run"), await client.get("/runs")
    assert shared.headers["x-robots-tag"] == "noindex, nofollow"
    assert shared.headers["referrer-policy"] == "no-referrer"
    assert "x-robots-tag" not in other.headers


async def test_hashed_assets_are_immutable_and_compressed(client: httpx.AsyncClient) -> None:
    request = client.build_request("GET", "/assets/main-Ab3_xY9z.js")
    request.headers["accept-encoding"] = "br"
    answer = await client.send(request, stream=True)
    body = b"".join([chunk async for chunk in answer.aiter_raw()])
    assert (answer.headers["content-encoding"], body) == ("br", b"brotli")
    assert "immutable" in answer.headers["cache-control"]


async def test_a_missing_asset_is_an_error_not_the_index(client: httpx.AsyncClient) -> None:
    answer = await client.get("/assets/gone-00000000.js")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "not_found"


async def test_other_files_revalidate(client: httpx.AsyncClient) -> None:
    answer = await client.get("/logo.svg")
    assert answer.text == "<svg/>"
    assert "immutable" not in answer.headers["cache-control"]
    again = await client.get(
        "/logo.svg", headers={"if-modified-since": answer.headers["last-modified"]}
    )
    assert again.status_code == 304


async def test_paths_cannot_leave_the_folder(client: httpx.AsyncClient) -> None:
    answer = await client.get("/assets/..%2f..%2f..%2fetc%2fpasswd")
    assert "root:" not in answer.text


async def test_a_portal_that_is_not_built_says_what_to_do(tmp_path: Path) -> None:
    transport = httpx.ASGITransport(app=Portal(tmp_path / "none"))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        answer = await client.get("/")
    assert answer.status_code == 503
    assert "make install" in answer.text


@pytest.mark.parametrize("path", ["/docs", "/swagger/", "/openapi"])
async def test_names_of_an_api_page_lead_to_it(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert (answer.status_code, answer.headers["location"]) == (307, "/api/v1/docs/")
