"""The pages of the main job without a mouse: Tab goes everywhere, is seen, and gets out again."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.seed import DATASET, MODEL, Seed
from tests.browser.visiting import visit
from tests.browser.watching import await_quiet, watch

# More than any of these pages has.
_MOST_TABS = 150
# Finds the element with the focus, and whether that can be seen. Inputs show it by their frames or
# labels.
_FOCUS = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  window.tabStops ??= [];
  const known = window.tabStops.indexOf(at);
  if (known < 0) window.tabStops.push(at);
  const style = getComputedStyle(at);
  const box = at.getBoundingClientRect();
  const drawn = at.matches('input, textarea, select');
  return {
    name: (at.getAttribute('aria-label') ?? at.textContent ?? '').trim() || at.outerHTML,
    again: known >= 0,
    shown: drawn || style.outlineStyle !== 'none' || style.boxShadow !== 'none',
    onScreen: drawn || (box.width > 0 && box.bottom > 0 && box.top < innerHeight),
  };
}"""


def walk(page: Page) -> list[dict[str, Any]]:
    """Press Tab from the top of the page until the browser has been everywhere."""
    page.evaluate("() => { document.activeElement.blur(); window.tabStops = []; }")
    stops: list[dict[str, Any]] = []
    for _ in range(_MOST_TABS):
        page.keyboard.press("Tab")
        stop = page.evaluate(_FOCUS)
        if stop is None or stop["again"]:
            break
        stops.append(stop)
    return stops


def test_tab_reaches_everything_of_the_main_job_visibly_and_is_never_caught(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    seen = watch(page)
    page.goto("/")
    pages = {
        "/": ("Overview", "New run"),
        "/datasets": ("Datasets", "New dataset"),
        f"/datasets/{DATASET}": (DATASET, "More"),
        "/labeling": ("Labeling", "New task"),
        f"/runs/{seed.trained_run}": ("train shapes", "Print report"),
        # Whole: the run's title has the model's name in it, and its page has that control too.
        f"/models/{MODEL}/versions/1": (f"{MODEL} version 1", "Print report"),
    }
    for address, (title, control) in pages.items():
        visit(page, address)
        # Two of them have a control of the same name: the title says whose page is there.
        expect(page.get_by_role("heading", level=1)).to_contain_text(title)
        main = page.get_by_role("main")
        button = main.get_by_role("button", name=control).or_(
            main.get_by_role("link", name=control)
        )
        expect(button.first).to_be_visible()
        # A page that comes later takes the focus, as after a click on a link.
        await_quiet(page, seen)
        stops = walk(page)
        names = [stop["name"] for stop in stops]
        assert len(stops) < _MOST_TABS, (address, names)
        assert any(control in name for name in names), (address, names)
        lost = [stop["name"] for stop in stops if not (stop["shown"] and stop["onScreen"])]
        assert lost == [], address


def test_a_menu_and_its_dialog_are_used_by_keys_and_give_the_focus_back(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    page.goto(f"/datasets/{DATASET}")
    more = page.get_by_role("main").get_by_role("button", name="More", exact=True)
    more.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitem").nth(1)).to_be_focused()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()

    # The same entry of the closed menu, by its name.
    page.keyboard.press("Control+k")
    expect(page.locator("[role=dialog] input")).to_be_focused()
    page.keyboard.type("take paths")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Take paths")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(more).to_be_focused()
    assert seed.trained_run
