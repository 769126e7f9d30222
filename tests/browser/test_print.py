"""Pages that are printed as reports: everything at once, on white, without controls."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.seed import MODEL, Seed
from tests.browser.visiting import await_true

# A browser without a window prints nothing; what it would print is there until `afterprint`.
_NOT_ON_PAPER = "window.print = () => { window.printed = true; };"
_DARK = "localStorage.setItem('mantine-color-scheme-value', 'dark')"


def show_report(page: Page, address: str) -> None:
    """Press the button, and show what the printer will get."""
    page.add_init_script(_NOT_ON_PAPER + _DARK)
    page.goto(address)
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    page.get_by_role("button", name="Print report").click()
    await_true(page, "() => window.printed")
    page.emulate_media(media="print")
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "light")
    expect(page.get_by_role("banner")).to_be_hidden()
    expect(page.get_by_role("main").get_by_role("button", name="Print report")).to_be_hidden()
    expect(page.get_by_role("main")).to_contain_text("printed")


def print_it(page: Page) -> None:
    """Print to a file, which ends the report as a printer's dialog does."""
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    page.emulate_media(media="screen")
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    expect(page.get_by_role("button", name="Print report")).to_be_enabled()


def test_a_run_is_printed_with_result_parameters_and_curves(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    show_report(page, f"/runs/{seed.trained_run}")
    main = page.get_by_role("main")
    for words in ("Result", "train/loss", "Parameters", "Command", "Curves", "Events"):
        expect(main).to_contain_text(words)
    # Names of controls and hints for a mouse are not for paper.
    for words in ("Smoothing", "Drag to zoom"):
        expect(main.get_by_text(words)).to_be_hidden()
    charts = page.locator("main canvas")
    assert charts.count() >= 2
    assert max(charts.evaluate_all("(all) => all.map((canvas) => canvas.clientWidth)")) <= 702
    page.emulate_media(media="print")
    assert " ago" not in main.inner_text()
    when = page.locator("main time").first
    assert when.evaluate("(time) => getComputedStyle(time, '::after').content") == (
        f'"{when.get_attribute("data-at")}"'
    )
    page.emulate_media(media="screen")
    print_it(page)
    expect(page.get_by_role("tab", name="Files")).to_be_visible()


# In the fast tier: a run's report, above.
@pytest.mark.deep
@pytest.mark.parametrize(
    ("address", "words"),
    [
        (f"/models/{MODEL}/versions/1", ("SHA-256", "square", "train shapes")),
        ("/runs/compare?runs=1,2", ("train shapes", "broken settings")),
    ],
    ids=["model version", "comparison"],
)
def test_a_report_has_what_tabs_would_hide(
    signed_in_page: Page, seed: Seed, address: str, words: tuple[str, ...]
) -> None:
    assert seed.trained_run
    show_report(signed_in_page, address)
    for each in words:
        expect(signed_in_page.get_by_role("main")).to_contain_text(each)
    print_it(signed_in_page)
