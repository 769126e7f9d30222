"""Goes from page to page as a link does: to load the portal again costs a second of processor."""

from __future__ import annotations

from playwright.sync_api import Page

# Before anything of the portal runs, so that it need not be loaded once more.
_PREFER = """localStorage.getItem('atom-language') ??
localStorage.setItem('atom-language', {language!r})"""


def visit(page: Page, address: str) -> None:
    """Open a page of the portal in a tab that shows another one."""
    page.evaluate("(address) => window.history.pushState({}, '', address)", address)


def prefer_language(page: Page, language: str) -> None:
    """Have a tab that shows nothing yet begin with a language, as a returning person's does."""
    page.add_init_script(_PREFER.format(language=language))
