"""Signing in and out."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.seed import Seed
from tests.browser.signing_in import sign_in
from tests.people import administrator
from tests.stack import Stack


def fill_in(page: Page, username: str, password: str) -> None:
    page.get_by_label("Username").fill(username)
    page.get_by_role("textbox", name="Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_a_wrong_password_is_told_and_the_right_one_leads_back_to_the_page_asked_for(
    page: Page, stack: Stack
) -> None:
    page.goto("/runs?state=failed")
    expect(page).to_have_url(re.compile(r"/login\?next="))
    fill_in(page, stack.admin_username, "not the password")
    expect(page.get_by_role("alert")).to_contain_text("The username or the password is wrong.")
    fill_in(page, stack.admin_username, stack.admin_password)
    expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/runs\?.*state=failed"))


def test_the_api_documentation_is_reached_through_the_sign_in_page(
    page: Page, stack: Stack
) -> None:
    page.goto("/api/v1/docs/")
    expect(page).to_have_url(re.compile(r"/login\?next="))
    fill_in(page, stack.admin_username, stack.admin_password)
    expect(page).to_have_url(re.compile(r"/api/v1/docs/$"))
    expect(page.get_by_role("heading", name="Atom")).to_be_visible()


def test_who_is_signed_in_is_led_on_from_the_sign_in_page(page: Page, stack: Stack) -> None:
    sign_in(page, stack, administrator(stack))
    page.goto("/login?next=/runs?state=failed")
    expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/runs\?.*state=failed"))
    page.goto("/login")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def test_nothing_is_sent_while_a_field_is_empty(page: Page) -> None:
    page.goto("/login")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Fill this in")).to_have_count(2)


def test_another_site_cannot_be_reached_through_the_sign_in_page(page: Page, stack: Stack) -> None:
    page.goto("/login?next=//example.org/")
    fill_in(page, stack.admin_username, stack.admin_password)
    expect(page.get_by_role("link", name="Datasets").first).to_be_visible()
    assert page.url.startswith(stack.base_url)


def test_signing_out_ends_the_session(page: Page, stack: Stack) -> None:
    sign_in(page, stack, administrator(stack))
    page.goto("/")
    page.get_by_role("button", name="Account of").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_label("Username")).to_be_visible()
    page.goto("/datasets")
    expect(page.get_by_label("Username")).to_be_visible()


def test_a_session_that_ended_elsewhere_is_explained(page: Page, stack: Stack) -> None:
    sign_in(page, stack, administrator(stack))
    page.goto("/datasets")
    expect(page.get_by_role("heading", name="Datasets", level=1)).to_be_visible()
    page.context.clear_cookies()
    # Unless the page has asked the server meanwhile, and this link is gone.
    page.evaluate("""document.querySelector('a[href^="/models"]')?.click()""")
    expect(page.get_by_text("Your session has ended.")).to_be_visible()


def test_a_labeler_sees_no_way_to_start_runs(page: Page, stack: Stack, seed: Seed) -> None:
    sign_in(page, stack, seed.labeler)
    page.goto("/runs/new")
    expect(page.get_by_text("needs the role “researcher”")).to_be_visible()
    for entry in ("Project settings", "Administration", "Audit log"):
        expect(page.get_by_role("link", name=entry)).to_have_count(0)
    assert seed.labeler != administrator(stack)
