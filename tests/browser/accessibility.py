"""WCAG 2 A and AA, checked by axe-core in the page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from atom.settings.environment import BASE_DIR

AXE = BASE_DIR / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
_RUN = "(only) => axe.run(document, {runOnly: only, resultTypes: ['violations']})"
_ALL = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
_COLORS = ["color-contrast", "link-in-text-block"]
_OF_COLORS = {"type": "rule", "values": _COLORS}
# The rules that vitest cannot ask: of layout, of the document, and of the shell around a page.
_OF_LAYOUT = {
    "type": "rule",
    "values": [
        *(*_COLORS, "scrollable-region-focusable", "aria-hidden-focus", "duplicate-id-aria"),
        *("bypass", "document-title", "html-has-lang", "html-lang-valid", "meta-viewport"),
    ],
}


def violations(
    page: Page, *, only_of_colors: bool = False, only_of_layout: bool = False
) -> list[str]:
    """Return one sentence per violation, with the first elements that have it.

    Rules without colours need no second theme; most need no layout, so vitest can ask them.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    only = _OF_COLORS if only_of_colors else _OF_LAYOUT if only_of_layout else _ALL
    found: dict[str, Any] = page.evaluate(_RUN, only)
    return [_sentence(violation) for violation in found["violations"]]


def _sentence(violation: dict[str, Any]) -> str:
    nodes = [f"{node['target']} {node['failureSummary']}" for node in violation["nodes"][:3]]
    return f"{violation['id']} ({len(violation['nodes'])}): " + " | ".join(nodes)
