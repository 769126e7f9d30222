"""Symbolic links of a version in the portal: pictures with a badge, tiles, and the drawer."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from atom_sdk.client import Client
from tests.browser.accessibility import violations
from tests.browser.visiting import prefer_language
from tests.datasets.pushing import png


def test_links_are_shown_as_what_they_lead_to(
    signed_in_page: Page, atom: Client, tmp_path: Path
) -> None:
    page, root = signed_in_page, tmp_path / "icons"
    (root / "cat").mkdir(parents=True)
    (root / "cat" / "a.png").write_bytes(png(1, 64))
    for name, target in {
        "b.png": "cat/a.png",
        "broken.png": "nothing.png",
        "outside": "/etc/hostname",
        "pets": "cat",
        "round": "round",
    }.items():
        (root / name).symlink_to(target)
    atom.datasets.push(root, "linked-icons")

    page.goto("/datasets/linked-icons")
    expect(page.get_by_text("1 file · 5 links")).to_be_visible()
    expect(page.get_by_text("6 files and links")).to_be_visible()
    link = page.get_by_role("gridcell", name="Link to cat/a.png")
    # The picture of the file, which is 64 pixels wide.
    expect(link.locator("img")).to_have_js_property("naturalWidth", 64)
    for words in (
        "Broken link to nothing.png",
        "Link out of the version to /etc/hostname",
        "Link to the folder cat",
        "Link in a circle to round",
    ):
        expect(page.get_by_role("gridcell", name=words)).to_be_visible()
    assert violations(page) == []

    page.get_by_role("gridcell", name="Broken link").focus()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_text("This version has nothing at nothing.png.")).to_be_visible()
    page.keyboard.press("Escape")
    link.click()
    expect(drawer.get_by_role("img", name="b.png")).to_be_visible()
    expect(drawer.get_by_role("link", name="Open cat/a.png")).to_be_visible()

    prefer_language(page, "zh")
    page.goto("/datasets/linked-icons")
    expect(page.get_by_role("gridcell", name="失效链接")).to_be_visible()
    expect(page.get_by_text("1 个文件 · 5 个链接")).to_be_visible()
