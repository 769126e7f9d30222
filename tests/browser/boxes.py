"""Where things are on a page."""

from __future__ import annotations

from playwright.sync_api import FloatRect, Locator


def box_of(locator: Locator) -> FloatRect:
    """Return where something visible is, in CSS pixels."""
    box = locator.bounding_box()
    assert box is not None
    return box
