"""The whole way through an honest provider in a real browser, to which it is another site."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from playwright.sync_api import sync_playwright

from atom.accounts.models import Session, User
from atom.settings.oidc import OidcSettings
from atom_sdk.client.transport.polling import pauses, sleep_until
from tests.browser.conftest import CHROMIUM, PATIENCE_MS

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: install it or set CHROMIUM"),
]
MIA = (
    '{"sub": "7", "preferred_username": "mia", "name": "Mia", "email": "mia@example.org", '
    '"email_verified": true}'
)


@pytest.fixture
def provider() -> Iterator[str]:
    """`oidc-provider-mock`, at another host name than ours: another site to a browser."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ("--port", str(port), "--require-nonce", "true", "--user-claims", MIA)
    process = subprocess.Popen(
        [sys.executable, "-m", "oidc_provider_mock", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    issuer = f"http://localhost:{port}"
    try:
        for _ in sleep_until(60, pauses()):
            try:
                httpx.get(f"{issuer}/.well-known/openid-configuration")
            except httpx.TransportError:
                continue
            break
        yield issuer
    finally:
        process.terminate()
        process.wait(timeout=30)


def _visit(start: str, end: str) -> list[str]:
    """Press the provider's button; returns the names of the cookies that the browser has then."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        # The page only looks nicer with what it asks of another site.
        page.route("**/*.css", lambda route: route.abort())
        page.goto(start)
        page.get_by_placeholder("sub").fill("7")
        page.get_by_role("button", name="Authorize").click()
        page.wait_for_url(end)
        names = [str(cookie["name"]) for cookie in page.context.cookies()]
        browser.close()
    return names


def test_a_browser_goes_to_the_provider_and_comes_back_signed_in(
    live_server: Any, provider: str, settings: Any
) -> None:
    settings.ATOM_PUBLIC_URL = live_server.url.replace("localhost", "127.0.0.1")
    settings.ATOM_OIDC = OidcSettings(
        issuer=provider, client_id="atom", client_secret="s", newcomers="everybody"
    )
    base = settings.ATOM_PUBLIC_URL
    # In a thread of its own: the loop of the driver would count as running here too.
    with ThreadPoolExecutor(1) as pool:
        start = f"{base}/api/v1/auth/oidc/start/?next=/readyz"
        cookies = pool.submit(_visit, start, f"{base}/readyz").result()
    assert "atom_session" in cookies
    assert "atom_oidc" not in cookies
    assert Session.objects.get(user=User.objects.get(username="mia")) is not None
