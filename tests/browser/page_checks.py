"""The checks of one page: its requests, its words, and its accessibility in both themes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations
from tests.browser.page_words import english_words, raw_keys
from tests.browser.visiting import await_true, visit
from tests.browser.watching import Watched, await_quiet

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# Some controls of Mantine change their colours slowly, whatever a person prefers.
COLORS_STAND = "document.getAnimations().every((one) => !(one instanceof CSSTransition))"
# Elements that reach beyond the window, without those that scroll by themselves.
_BEYOND = """() => document.documentElement.scrollWidth <= window.innerWidth ? [] :
  [...document.querySelectorAll('main *')]
    .filter((one) => one.getBoundingClientRect().right > window.innerWidth + 1)
    .slice(0, 3).map((one) => one.outerHTML.slice(0, 120))"""


def problems_at(page: Page, watched: Watched, address: str, language: str) -> list[str]:
    """Visit a page; return its errors, and the words that it should not show."""
    watched.clear()
    visit(page, address)
    settle(page, watched)
    return [
        *watched.problems(),
        *raw_keys(page),
        *(english_words(page) if language == "zh" else []),
    ]


def violations_in_themes(
    page: Page, name: str, language: str, *, only_of_layout: bool = False
) -> list[str]:
    """Return what axe says of the shown page in both themes; keep a picture of each."""
    problems: list[str] = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", theme)
        await_true(page, COLORS_STAND)
        found = violations(page, only_of_colors=theme != THEMES[0], only_of_layout=only_of_layout)
        problems += [f"{name}, {theme}: {said}" for said in found]
        keep_picture(page, f"{name}-{theme}-{language}")
    return problems


def beyond_the_window(page: Page) -> list[str]:
    """Return the first elements that make the page scroll sideways; none where it does not."""
    found: list[str] = page.evaluate(_BEYOND)
    return found


def settle(page: Page, watched: Watched) -> None:
    """Wait until the page shows something and no longer loads."""
    await_quiet(page, watched)
    expect(page.locator("h1, h2, [role=alert]").first).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def keep_picture(page: Page, name: str) -> None:
    """Write a picture when ATOM_PICTURES names a folder."""
    folder = os.environ.get("ATOM_PICTURES")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"))
