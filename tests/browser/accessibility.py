"""WCAG 2 A and AA, checked by axe-core in the page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from atom.settings.environment import BASE_DIR

AXE = BASE_DIR / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
_RUN = "(only) => axe.run(document, {runOnly: only, resultTypes: ['violations']})"
_ALL = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
_OF_COLORS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}


def violations(page: Page, *, only_of_colors: bool = False) -> list[str]:
    """Return one sentence per violation, with the first elements that have it.

    Checks that do not depend on colours need not be repeated in the other theme.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate(_RUN, _OF_COLORS if only_of_colors else _ALL)
    return [_sentence(violation) for violation in found["violations"]]


def _sentence(violation: dict[str, Any]) -> str:
    nodes = [f"{node['target']} {node['failureSummary']}" for node in violation["nodes"][:3]]
    return f"{violation['id']} ({len(violation['nodes'])}): " + " | ".join(nodes)
