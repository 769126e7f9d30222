"""Access tokens: made, shown once, revoked."""

from __future__ import annotations

import httpx
from playwright.sync_api import Page, expect

from tests.browser.seed import wait_for
from tests.people import administrator, token_of
from tests.stack import Stack


def status_for(stack: Stack, secret: str) -> int:
    headers = {"Authorization": f"Bearer {secret}"}
    return httpx.get(f"{stack.base_url}/api/v1/users/me/", headers=headers).status_code


def test_a_token_is_shown_once_works_and_is_worthless_when_revoked(
    signed_in_page: Page, stack: Stack
) -> None:
    token_of(stack, administrator(stack), "kept")
    page = signed_in_page
    page.goto("/settings/tokens")
    page.get_by_role("button", name="New token").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill("nightly")
    dialog.get_by_role("button", name="Create token").click()
    secret = dialog.get_by_role("region", name="Token").inner_text().strip()
    assert secret.startswith("atom_")
    assert status_for(stack, secret) == 200
    dialog.get_by_role("button", name="I have copied it").click()
    expect(page.get_by_text(secret)).to_have_count(0)

    page.get_by_role("button", name="Revoke nightly").click()
    expect(page.get_by_role("cell", name="nightly")).to_have_count(0)
    # Leaving the page does at once what the notice offers to undo.
    page.goto("/")
    wait_for(lambda: status_for(stack, secret) == 401)
    page.goto("/settings/tokens")
    expect(page.get_by_role("button", name="Revoke kept")).to_be_visible()
    expect(page.get_by_role("button", name="Revoke nightly")).to_have_count(0)


def test_a_revocation_can_be_undone(signed_in_page: Page, stack: Stack) -> None:
    secret = token_of(stack, administrator(stack), "undone")
    page = signed_in_page
    page.goto("/settings/tokens")
    page.get_by_role("button", name="Revoke undone").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Revoke undone")).to_be_visible()
    assert status_for(stack, secret) == 200
