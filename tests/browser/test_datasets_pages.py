"""Browsing a dataset: folders, thumbnails through the gateway, versions and differences."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Response, expect

from tests.browser.seed import DATASET, Seed

_SHOWN_THUMBNAILS = """[...document.images].filter(
  (image) => image.src.includes('/media/') && image.naturalWidth > 0
).length > 5"""


def test_browsing_shows_real_thumbnails_and_one_image(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    media: list[Response] = []

    def keep(answer: Response) -> None:
        media.append(answer)

    page.on("response", keep)
    page.goto(f"/datasets/{DATASET}?ref=v1&path=circle/")
    expect(page.get_by_text("002.png")).to_be_visible()
    page.wait_for_function(_SHOWN_THUMBNAILS)
    thumbnails = [answer for answer in media if "/media/" in answer.url]
    assert thumbnails
    assert all(answer.status == 200 for answer in thumbnails)
    assert all("immutable" in answer.headers["cache-control"] for answer in thumbnails)
    page.get_by_text("002.png").click()
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("002.png")
    expect(page).to_have_url(re.compile("item="))
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    assert seed.trained_run


def test_folders_filters_and_versions_are_chosen_with_the_mouse(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    page.goto(f"/datasets/{DATASET}?ref=v1")
    page.get_by_role("tree").or_(page.get_by_role("navigation")).get_by_text("square").first.click()
    expect(page).to_have_url(re.compile("path=square"))
    expect(page.get_by_text("001.png")).to_be_visible()
    page.goto(f"/datasets/{DATASET}/versions")
    for message in ("first sixty", "a few changes"):
        expect(page.get_by_text(message)).to_be_visible()
    assert seed.published_task


def test_a_difference_names_what_was_added_removed_changed_and_renamed(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    page.goto(f"/datasets/{DATASET}/diff?from=v1&to=v2")
    for path in ("circle/002.png", "square/001.png", "renamed.png"):
        expect(page.get_by_text(re.compile(re.escape(path))).first).to_be_visible()
    assert seed.published_task
