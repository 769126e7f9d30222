"""The portal while it is offline or the server does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from atom_sdk.client import Client
from tests.browser.accessibility import violations
from tests.browser.relay import Relay
from tests.browser.seed import DATASET, Seed
from tests.browser.signing_in import sign_in
from tests.people import administrator
from tests.stack import Stack

BAR = "[data-connection]"


@pytest.fixture
def relay(stack: Stack) -> Iterator[Relay]:
    """A server that can be stopped, unlike the one of all tests."""
    relay = Relay(stack.ports["ATOM_WEB_PORT"])
    relay.open()
    yield relay
    relay.close()


@pytest.fixture
def page(
    browser: Browser, browser_context_args: dict[str, Any], stack: Stack, relay: Relay
) -> Iterator[Page]:
    """A page of the administrator that goes through the relay."""
    address = f"http://127.0.0.1:{relay.listening_on}"
    context = browser.new_context(**{**browser_context_args, "base_url": address})
    page = context.new_page()
    sign_in(page, stack, administrator(stack))
    yield page
    context.close()


# In the fast tier: a server that stops, below.
@pytest.mark.deep
def test_offline_the_page_stays_as_it_was_and_a_form_explains(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    page.goto("/datasets")
    expect(page.get_by_role("link", name=DATASET).first).to_be_visible()
    before = page.get_by_role("heading", level=1).bounding_box()
    page.context.set_offline(True)
    bar = page.locator(BAR)
    expect(bar).to_contain_text("You are offline. This page is from")
    expect(bar).to_contain_text("Trying again")
    assert page.get_by_role("heading", level=1).bounding_box() == before
    assert violations(page) == []

    page.keyboard.press("n")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill("kept")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(dialog.get_by_role("textbox", name="Name")).to_have_value("kept")
    page.keyboard.press("Escape")

    # Its files were never loaded: the page waits for them, and is not lost.
    page.get_by_role("link", name="Models").first.click()
    page.context.set_offline(False)
    expect(bar).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Datasets")
    missing = "[...document.querySelectorAll('link[rel=stylesheet]')].filter((one) => !one.sheet)"
    assert page.evaluate(f"{missing}.map((one) => one.href)") == []
    assert seed.trained_run


def test_a_stopped_server_is_told_and_what_changed_meanwhile_appears(
    page: Page, relay: Relay, atom: Client, seed: Seed
) -> None:
    assert seed.trained_run
    page.goto("/datasets")
    expect(page.get_by_role("link", name=DATASET).first).to_be_visible()
    relay.close()
    bar = page.locator(BAR)
    expect(bar).to_contain_text("The server does not answer.")
    expect(page.get_by_role("link", name=DATASET).first).to_be_visible()
    atom.datasets.get_or_create("made-meanwhile")
    relay.open()
    bar.get_by_role("button", name="Try now").click()
    expect(bar).to_have_count(0)
    expect(page.get_by_role("link", name="made-meanwhile")).to_be_visible()
