"""The frame around every page: keyboard, history, deep links, the state of the connection."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route, expect

from tests.browser.seed import DATASET, EMPTY_PROJECT, Seed
from tests.browser.visiting import visit


def heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()


def test_the_keyboard_alone_reaches_pages_actions_and_help(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    page.goto("/")
    heading(page, "Overview")
    page.keyboard.press("g")
    page.keyboard.press("d")
    heading(page, "Datasets")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Keyboard shortcuts")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Control+k")
    # The palette itself is loaded at its first opening.
    expect(page.locator("[role=dialog] input")).to_be_focused()
    page.keyboard.type("models")
    page.keyboard.press("Enter")
    heading(page, "Models")
    page.keyboard.press("Control+k")
    page.keyboard.type("dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    assert seed.trained_run


def test_on_a_phone_the_header_fits_and_opens_the_palette(signed_in_page: Page) -> None:
    page = signed_in_page
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/runs")
    heading(page, "Runs")
    account = page.get_by_role("button", name="Account of").bounding_box()
    assert account is not None
    assert account["x"] + account["width"] <= 390
    page.get_by_role("button", name="Open the command palette").click()
    expect(page.locator("[role=dialog] input")).to_be_focused()


def test_the_first_tab_stop_skips_to_the_content(signed_in_page: Page) -> None:
    page = signed_in_page
    page.goto("/datasets")
    heading(page, "Datasets")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_back_returns_to_the_list_as_it_was(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    page.goto("/runs")
    page.get_by_role("textbox", name="Search runs").fill("broken")
    expect(page.get_by_role("link", name="train shapes")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"q=broken"))
    page.get_by_role("link", name="broken settings").first.click()
    heading(page, "broken settings")
    page.go_back()
    heading(page, "Runs")
    expect(page.get_by_role("textbox", name="Search runs")).to_have_value("broken")
    expect(page.get_by_role("link", name="train shapes")).to_have_count(0)
    link = page.get_by_role("link", name="broken settings").first
    expect(link).to_have_attribute("href", re.compile(seed.failed_run))


def test_a_link_restores_tab_version_filter_and_line(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    page.goto(f"/runs/{seed.trained_run}?tab=files")
    expect(page.get_by_role("tab", name="Files")).to_have_attribute("aria-selected", "true")
    page.goto(f"/runs/{seed.trained_run}?line=30")
    expect(page.locator("[data-marked=true]")).to_contain_text("step 30 loss")
    page.goto(f"/datasets/{DATASET}?ref=v1&label=circle")
    expect(page.get_by_text("circle", exact=True).first).to_be_visible()
    expect(page.get_by_text("002.png")).to_be_visible()
    expect(page.get_by_text("001.png")).to_have_count(0)


def test_the_language_changes_at_once_and_stays(signed_in_page: Page) -> None:
    page = signed_in_page
    page.goto("/")
    page.get_by_role("button", name="Language").click()
    page.get_by_role("menuitem", name="中文").click()
    expect(page.get_by_role("link", name="数据集").first).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.reload()
    expect(page.get_by_role("link", name="数据集").first).to_be_visible()


def test_a_project_with_nothing_says_what_to_do_next(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    page.goto(f"/?project={EMPTY_PROJECT}")
    for path, words in (
        ("datasets", "No datasets yet"),
        ("labeling", "No labeling tasks yet"),
        ("runs", "No runs yet"),
        ("models", "No models yet"),
    ):
        visit(page, f"/{path}?project={EMPTY_PROJECT}")
        expect(page.get_by_text(words)).to_be_visible()
    assert seed.admin.username


def test_an_error_is_shown_with_its_request_and_can_be_tried_again(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    broken = re.compile(r"/api/v1/projects/demo/datasets/\?")

    def refuse(route: Route) -> None:
        body = '{"title":"Out of order","status":503,"code":"out_of_order","request_id":"req-7"}'
        route.fulfill(status=503, content_type="application/problem+json", body=body)

    page.route(broken, refuse)
    page.goto("/datasets")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Out of order")
    expect(alert).to_contain_text("req-7")
    page.unroute(broken)
    page.get_by_role("button", name=re.compile("again|retry", re.I)).first.click()
    expect(page.get_by_role("link", name=DATASET).first).to_be_visible()
    assert seed.trained_run


def test_an_unknown_page_leads_back(signed_in_page: Page) -> None:
    page = signed_in_page
    page.goto("/no/such/page")
    page.get_by_role("link", name=re.compile("overview", re.I)).last.click()
    heading(page, "Overview")
