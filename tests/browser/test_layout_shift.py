"""Pages do not jump while their data come, in whichever order they come."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from bench.shifts import WATCH
from tests.browser.seed import DATASET, Seed

# A twentieth of the window, weighted by how far it moves; people notice a tenth.
_MOST = 0.05
# Long enough for an answer to be drawn before the next one comes.
_DRAWN_MS = 80
_QUIET_STEPS = 12
_PAGES = {
    "dataset": f"/datasets/{DATASET}",
    "branches": f"/datasets/{DATASET}/refs",
    "retention": f"/datasets/{DATASET}/keeping",
    "copied run": "/runs/new?clone={run}&step=1",
    "runs": "/runs",
    "account": "/settings/account",
    "tokens": "/settings/tokens",
}


def open_answer_by_answer(page: Page, address: str, *, newest_first: bool) -> None:
    """Open a page whose questions are answered one at a time, each answer drawn by itself."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/v1/**", hold)
    page.goto(address, wait_until="load")
    quiet = 0
    while quiet < _QUIET_STEPS:
        quiet = 0 if held else quiet + 1
        if held:
            held.pop(-1 if newest_first else 0).continue_()
        page.wait_for_timeout(_DRAWN_MS)
    page.unroute("**/api/v1/**")


# The narrow page moves most, and most of all if the last question is answered first.
@pytest.mark.parametrize(
    ("width", "newest_first"),
    [
        pytest.param(390, True, id="390-newest first"),
        *(
            pytest.param(*one, id=name, marks=pytest.mark.deep)
            for one, name in {
                (390, False): "390-in order",
                (1280, True): "1280-newest first",
                (1280, False): "1280-in order",
            }.items()
        ),
    ],
)
def test_nothing_that_is_read_moves_while_a_page_loads(
    signed_in_page: Page, seed: Seed, width: int, newest_first: bool
) -> None:
    page = signed_in_page
    page.set_viewport_size({"width": width, "height": 844})
    page.add_init_script(WATCH)
    jumped = {}
    for name, address in _PAGES.items():
        open_answer_by_answer(page, address.format(run=seed.trained_run), newest_first=newest_first)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator("main [aria-busy=true]")).to_have_count(0)
        shifts = page.evaluate("() => window.layoutShifts")
        if sum(shift["score"] for shift in shifts) >= _MOST:
            jumped[name] = shifts
    assert jumped == {}
