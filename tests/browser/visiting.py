"""Goes from page to page as a link does: to load the portal again costs a second of processor."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

_STEP_MS = 50
_PATIENCE_MS = 30_000
# Before anything of the portal runs, so that it need not be loaded once more.
_PREFER = """localStorage.getItem('atom-language') ??
localStorage.setItem('atom-language', {language!r})"""


def visit(page: Page, address: str) -> None:
    """Open a page of the portal in a tab that shows another one."""
    page.evaluate("(address) => window.history.pushState({}, '', address)", address)


def prefer_language(page: Page, language: str) -> None:
    """Have a tab that shows nothing yet begin with a language, as a returning person's does."""
    page.add_init_script(_PREFER.format(language=language))


def await_true(page: Page, expression: str, *, arg: Any = None) -> None:
    """Wait until an expression is true in the page.

    Playwright's `wait_for_function` would have the page itself evaluate it, which it may not.
    """
    for _ in range(_PATIENCE_MS // _STEP_MS):
        if page.evaluate(expression, arg):
            return
        page.wait_for_timeout(_STEP_MS)
    raise AssertionError(f"never true: {expression}")
