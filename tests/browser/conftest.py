"""A real browser against the whole stack.

The fixtures of pytest-playwright are narrowed from the session to this folder: while synchronous
Playwright is open its event loop counts as running, and later asyncio tests would fail.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    BrowserType,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

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
# First the shell without an interface of its own: drawing that takes half of the whole browser's
# time, though nobody sees it.
_PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _PROGRAMS)), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses a page; without a browser it is skipped, which CI's script never lets be."""
    reason = "no Chromium: install it or set CHROMIUM to its path"
    for item in items:
        if {"page", "signed_in_page", "labeler_page"} & set(getattr(item, "fixturenames", ())):
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


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """One Playwright for all pages."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="package")
def browser_type(playwright: Playwright) -> BrowserType:
    """Chromium."""
    return playwright.chromium


@pytest.fixture(scope="package")
def launch_browser(
    browser_type: BrowserType, browser_type_launch_args: dict[str, Any]
) -> Callable[..., Browser]:
    """Return a function that launches the browser."""
    return lambda **options: browser_type.launch(**browser_type_launch_args, **options)


@pytest.fixture(scope="package")
def browser(launch_browser: Callable[..., Browser]) -> Iterator[Browser]:
    """One browser for all pages; `page` has a context of its own."""
    running = launch_browser()
    yield running
    running.close()


@pytest.fixture(scope="package")
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


@pytest.fixture(scope="package")
def administrators_context(
    browser: Browser, browser_context_args: dict[str, Any], stack: Stack
) -> Iterator[BrowserContext]:
    """A session of the administrator, who need not load the portal anew in every test."""
    context = browser.new_context(**browser_context_args)
    page = context.new_page()
    sign_in(page, stack, administrator(stack))
    page.close()
    yield context
    context.close()


@pytest.fixture
def signed_in_page(administrators_context: BrowserContext) -> Iterator[Page]:
    """A new page in the administrator's session; what it chose is forgotten after the test."""
    page = administrators_context.new_page()
    yield page
    administrators_context.set_offline(False)
    if page.url.startswith("http"):
        page.evaluate("window.localStorage.clear()")
    page.close()
