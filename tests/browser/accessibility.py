"""WCAG 2 A and AA, checked by axe-core in the page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from atom.settings.environment import BASE_DIR

AXE = BASE_DIR / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """() => axe.run(document, {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'],
  resultTypes: ['violations'],
})"""


def violations(page: Page) -> list[str]:
    """Return one sentence per violation, with the first elements that have it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate(_RUN)
    return [_sentence(violation) for violation in found["violations"]]


def _sentence(violation: dict[str, Any]) -> str:
    nodes = [f"{node['target']} {node['failureSummary']}" for node in violation["nodes"][:3]]
    return f"{violation['id']} ({len(violation['nodes'])}): " + " | ".join(nodes)
