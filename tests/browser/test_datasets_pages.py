"""Browsing a dataset: folders, thumbnails through the gateway, versions and differences."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, Response, expect

from atom_sdk.client import Client
from atom_sdk.client.push.push import PushOptions
from tests.browser.boxes import box_of
from tests.browser.conftest import VIEWPORT
from tests.browser.seed import DATASET, Seed, draw_shapes
from tests.browser.visiting import await_true

_SHOWN_THUMBNAILS = """[...document.images].filter(
  (image) => image.src.includes('/media/') && image.naturalWidth > 0
).length > 5"""
_FITS = "(badge) => [...badge.children].every((part) => part.scrollWidth <= part.clientWidth)"


def test_browsing_shows_real_thumbnails_and_one_image(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    media: list[Response] = []

    def keep(answer: Response) -> None:
        media.append(answer)

    page.on("response", keep)
    page.goto(f"/datasets/{DATASET}?ref=v1&path=circle/")
    expect(page.get_by_text("002.png")).to_be_visible()
    await_true(page, _SHOWN_THUMBNAILS)
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


def test_one_very_long_name_leaves_the_other_columns_where_they_can_be_read(
    signed_in_page: Page, atom: Client, seed: Seed, tmp_path: Path
) -> None:
    draw_shapes(tmp_path, 3)
    long = "a" * 200 + "-042.png"
    (tmp_path / "unlabelled" / "000.png").rename(tmp_path / long)
    atom.datasets.push(tmp_path, "longnames", PushOptions("", "folder", ("unlabelled",)))
    page = signed_in_page
    page.goto("/datasets/longnames?ref=v1&layout=list")
    name = page.get_by_title(long)
    expect(name).to_be_visible()
    assert name.inner_text() == long
    last = box_of(page.get_by_role("columnheader", name="Digest"))
    assert last["x"] + last["width"] <= VIEWPORT["width"]
    label = page.get_by_role("row").filter(has_text="001.png").get_by_title("square")
    assert label.evaluate(_FITS)
    row = page.get_by_role("row").filter(has=name)
    height = box_of(row)["height"]
    page.get_by_role("link").filter(has=name).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    # With the focus on it the whole name can be read.
    assert box_of(row)["height"] > height
    assert seed.admin
