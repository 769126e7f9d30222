"""A real browser against the whole stack.

The fixtures of pytest-playwright are narrowed from the session to a module: while synchronous
Playwright is open its event loop counts as running, and later asyncio tests would fail.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserType, Page, Playwright, expect, sync_playwright

from atom_sdk.client import Client
from tests.browser.seed import Seed, seed_project
from tests.browser.signing_in import sign_in
from tests.people import administrator, client_of
from tests.stack import Stack

# Much longer than anything takes on an idle machine; a loaded one needs it.
PATIENCE_MS = 30_000
TEST_TIMEOUT_S = 600
expect.set_options(timeout=PATIENCE_MS)
VIEWPORT = {"width": 1440, "height": 900}
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses a page; without a browser it is skipped, which CI's script never lets be."""
    reason = "no Chromium: install it or set CHROMIUM to its path"
    for item in items:
        if "page" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(TEST_TIMEOUT_S))
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Debian's Chromium; it has no sandbox when started by root and little shared memory."""
    return {"executable_path": CHROMIUM, "args": ["--no-sandbox", "--disable-dev-shm-usage"]}


@pytest.fixture(scope="session")
def base_url(stack: Stack) -> str:
    """`page.goto("/runs")` opens a page of the running stack."""
    return stack.base_url


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    """One Playwright per module."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="module")
def browser_type(playwright: Playwright) -> BrowserType:
    """Chromium."""
    return playwright.chromium


@pytest.fixture(scope="module")
def launch_browser(
    browser_type: BrowserType, browser_type_launch_args: dict[str, Any]
) -> Callable[..., Browser]:
    """Return a function that launches the browser."""
    return lambda **options: browser_type.launch(**browser_type_launch_args, **options)


@pytest.fixture(scope="module")
def browser(launch_browser: Callable[..., Browser]) -> Iterator[Browser]:
    """One browser per module; every test has its own context."""
    running = launch_browser()
    yield running
    running.close()


@pytest.fixture(scope="module")
def browser_context_args(base_url: str) -> dict[str, Any]:
    """Every context: the stack's address, a laptop's window, English, no animations."""
    return {
        "base_url": base_url,
        "viewport": VIEWPORT,
        "locale": "en-GB",
        "reduced_motion": "reduce",
    }


@pytest.fixture(scope="session")
def seed(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Seed:
    """A project in which everything has happened once."""
    return seed_project(stack, tmp_path_factory.mktemp("shapes"))


@pytest.fixture(scope="session")
def atom(stack: Stack) -> Iterator[Client]:
    """The administrator's client."""
    with client_of(stack, administrator(stack)) as client:
        yield client


@pytest.fixture
def signed_in_page(page: Page, stack: Stack) -> Page:
    """A page whose session belongs to the administrator, signed in through the API."""
    sign_in(page, stack, administrator(stack))
    return page
