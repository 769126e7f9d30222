"""A link to a run: made in the portal, opened by somebody without an account, ended."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.browser.accessibility import violations
from tests.browser.seed import Seed
from tests.browser.watching import watch

_OVERFLOW = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def test_a_run_is_shown_by_a_link_until_it_is_ended(
    signed_in_page: Page, seed: Seed, browser: Browser, browser_context_args: dict[str, Any]
) -> None:
    page = signed_in_page
    page.goto(f"/runs/{seed.trained_run}")
    page.get_by_role("button", name="Share…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Whom it is for").fill("Bo")
    dialog.get_by_role("checkbox", name="Show the log too").check()
    dialog.get_by_role("button", name="Make link").click()
    shown = dialog.get_by_role("region", name="Link to the run").inner_text()
    token = shown.strip().partition("#")[2].split()[0]
    assert token.startswith("atomshare_")
    dialog.get_by_role("button", name="Done").click()
    assert violations(page) == []

    phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "locale": "zh-CN"}
    outside = browser.new_context(**{**browser_context_args, **phone})
    visitor = outside.new_page()
    asked: list[str] = []
    visitor.on("request", lambda request: asked.append(request.url))
    watched = watch(visitor)
    visitor.goto(f"/shared-run#{token}")
    expect(visitor.get_by_role("heading", name="train shapes", level=1)).to_be_visible()
    expect(visitor.locator("main canvas").first).to_be_visible()
    expect(visitor.get_by_text("step 1 loss", exact=False).first).to_be_visible()
    expect(visitor.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    expect(visitor.get_by_role("heading", name="参数")).to_be_visible()
    assert violations(visitor) == []
    assert visitor.evaluate(_OVERFLOW) is False
    assert outside.cookies() == []
    # The part after the # stays in the browser: Playwright shows it, the server never gets it.
    assert [url for url in asked if token in url.partition("#")[0]] == []
    assert watched.problems() == []

    dialog.get_by_role("button", name="End Bo").click()
    dialog.get_by_role("button", name="End it").click()
    none = "No links: only members of the project see this run"
    expect(dialog.get_by_text(none, exact=True)).to_be_visible()
    visitor.reload()
    expect(visitor.get_by_text("此链接无效或已失效：请向发送者索取新链接")).to_be_visible()
    assert watched.problems(expected_status=404) == []
    outside.close()
