"""`python -m demo.pictures`: take the pictures of README and docs again, of the demo that runs.

It needs what `make dev` installs, and a Chromium. Light theme, English, 1280 × 800 pixels.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from atom.settings.environment import BASE_DIR
from bench.preflight import browser_missing, find_browser
from demo.__main__ import load_installation
from demo.labeling import TASK
from demo.people import LABELER, PROJECT, Installation, client_of, password_of
from demo.street_labeling import task_in_the_middle
from demo.training import MODEL

FOLDER = BASE_DIR / "docs" / "images"
MOST_BYTES = 300_000
_QUIET_MS = 4000
_LOAD_MS = 120_000
# Pages that listen for news are never idle: nothing stands for what is still to come.
_IS_DRAWN = """() => !document.querySelector('.mantine-Skeleton-root')
  && [...document.images].every((image) => image.complete && image.naturalWidth > 0)"""


def main() -> int:
    """Take all pictures; returns 1 if the demo does not run, or a picture is too large."""
    program = find_browser()
    if program is None:
        print(browser_missing())
        return 1
    installation = load_installation()
    pages = _pages(installation)
    task = task_in_the_middle(installation)
    labeler = (LABELER, password_of(installation, LABELER))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        as_admin = _signed_in(browser, installation, installation.admin, installation.password)
        sizes = [_take(as_admin.new_page(), name, address) for name, address in pages.items()]
        sizes.append(_take(as_admin.new_page(), "audit", f"/labeling/{task}/audit"))
        as_labeler = _signed_in(browser, installation, *labeler)
        sizes.append(_take(as_labeler.new_page(), "sent-back", f"/labeling/{task}/work"))
        browser.close()
    return 1 if max(sizes) > MOST_BYTES else 0


def _pages(installation: Installation) -> dict[str, str]:
    """Return the address of each picture, by its name."""
    client = client_of(installation, installation.admin, installation.password)
    version = next(iter(client.models.versions(MODEL)))
    task = next(row for row in client.labelx.list() if row["name"] == TASK)
    return {
        "overview": f"/?project={PROJECT}",
        "dataset": f"/datasets/digits?project={PROJECT}",
        "diff": f"/datasets/digits/diff?from=v1&to=v2&project={PROJECT}",
        "labeling": f"/labeling/{task['id']}?project={PROJECT}",
        "run": f"/runs/{version['run']['id']}?tab=curves",
        "runs": f"/runs?project={PROJECT}",
        "model": f"/models/{MODEL}/versions/{version['number']}?tab=lineage&project={PROJECT}",
    }


def _signed_in(
    browser: Browser, installation: Installation, username: str, password: str
) -> BrowserContext:
    context = browser.new_context(
        base_url=installation.url,
        viewport={"width": 1280, "height": 800},
        locale="en-GB",
        color_scheme="light",
        reduced_motion="reduce",
    )
    context.request.get("/api/v1/auth/session/")
    cookies = {cookie["name"]: cookie["value"] for cookie in context.cookies()}
    answer = context.request.post(
        "/api/v1/auth/login/",
        data={"username": username, "password": password},
        headers={"X-CSRFToken": cookies["csrftoken"], "Referer": installation.url},
    )
    assert answer.ok, answer.text()
    return context


def _take(page: Page, name: str, address: str) -> int:
    """Take one picture; returns its bytes."""
    path = Path(FOLDER / f"{name}.png")
    page.goto(address)
    page.get_by_role("main").wait_for()
    page.wait_for_timeout(_QUIET_MS)
    page.wait_for_function(_IS_DRAWN, timeout=_LOAD_MS)
    page.wait_for_timeout(_QUIET_MS)
    page.screenshot(path=path)
    page.close()
    print(f"{path.relative_to(BASE_DIR)}: {path.stat().st_size:,} bytes")
    return path.stat().st_size


if __name__ == "__main__":
    sys.exit(main())
