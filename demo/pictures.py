"""`python -m demo.pictures`: take the README's pictures of the demo that runs here, again.

It needs what `make dev` installs, and a Chromium. Light theme, English, 1280 × 800 pixels.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, sync_playwright

from atom.settings.environment import BASE_DIR
from bench.preflight import browser_missing, find_browser
from demo.__main__ import load_installation
from demo.labeling import TASK
from demo.people import PROJECT, Installation, client_of
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
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        context = browser.new_context(
            base_url=installation.url,
            viewport={"width": 1280, "height": 800},
            locale="en-GB",
            color_scheme="light",
            reduced_motion="reduce",
        )
        _sign_in(context, installation)
        sizes = [_take(context.new_page(), name, address) for name, address in pages.items()]
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


def _sign_in(context: BrowserContext, installation: Installation) -> None:
    context.request.get("/api/v1/auth/session/")
    cookies = {cookie["name"]: cookie["value"] for cookie in context.cookies()}
    answer = context.request.post(
        "/api/v1/auth/login/",
        data={"username": installation.admin, "password": installation.password},
        headers={"X-CSRFToken": cookies["csrftoken"], "Referer": installation.url},
    )
    assert answer.ok, answer.text()


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
