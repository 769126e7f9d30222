"""A labeler's page on a real stack: the next picture after Enter, and a picture of tiles.

Pictures are photographs by shape and noise, see `bench.label_pictures`; each has a middle of its
own colour, by which the page knows that it is painted.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any, Final

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page, Response, expect

from atom_sdk.client import Client
from bench.drawing import p95
from bench.harness import Result
from bench.label_pictures import photograph
from bench.shifts import cookies_of

PICTURES: Final = 60
_WIDTH, _HEIGHT = 1920, 1080
_LARGE = (12_500, 8_000)
_TILES_S = 60.0
_STABLE_MS = 1_000
_LABELS: Final = [{"id": 1, "name": "box", "hotkey": "1", "tools": ["box"]}]
# It ends a frame after the middle of the canvas has another colour.
_NEXT = """
window.nextPainted = [];
const middle = () => {
  const canvas = document.querySelector('[data-picture=ready] canvas');
  if (!canvas) return null;
  const at = [canvas.width >> 1, canvas.height >> 1, 1, 1];
  return canvas.getContext('2d').getImageData(...at).data.slice(0, 3);
};
const differs = (a, b) => a && b && a.some((value, at) => Math.abs(value - b[at]) > 6);
addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  const start = performance.now();
  const before = middle();
  const look = () => {
    if (!differs(before, middle())) return requestAnimationFrame(look);
    requestAnimationFrame(() => window.nextPainted.push(performance.now() - start));
  };
  requestAnimationFrame(look);
}, true);
"""
# When the canvas last changed since its tiles are known, on the clock of the machine.
_TILES = """
window.lastChange = 0;
let seen = '';
const small = new OffscreenCanvas(96, 96).getContext('2d', { willReadFrequently: true });
const look = () => {
  const canvas = document.querySelector('[data-picture=ready] canvas');
  if (canvas && canvas.width > 0) {
    small.drawImage(canvas, 0, 0, 96, 96);
    const data = small.getImageData(0, 0, 96, 96).data.join();
    if (data !== seen) { seen = data; window.lastChange = Date.now(); }
  }
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def run(browser: Browser, scratch: Path, client: Client, password: str) -> list[Result]:
    """Return how long the next picture and one of 100 megapixels take to be painted."""
    cookies = cookies_of(client.config.url, password)
    return _next_picture(browser, scratch, client, cookies) + _tiles(
        browser, scratch, client, cookies
    )


def _started(client: Client, folder: Path, name: str) -> str:
    client.datasets.push(folder, name)
    task = client.labelx.create(
        name=name,
        dataset=f"{name}@v1",
        labels=_LABELS,
        modality="image-objects",
        batch_size=20,
        audit_percent=0,
    )
    client.labelx.act(task["id"], "start")
    return f"{client.config.url}/labeling/{task['id']}/work"


def _page(browser: Browser, cookies: list[Any], script: str) -> Page:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies(cookies)
    context.add_init_script(script)
    return context.new_page()


def _next_picture(
    browser: Browser, scratch: Path, client: Client, cookies: list[Any]
) -> list[Result]:
    folder = scratch / "next"
    folder.mkdir(parents=True)
    photograph(folder / "base.jpg", _WIDTH, _HEIGHT)
    with Image.open(folder / "base.jpg") as base:
        for number in range(PICTURES):
            picture = base.copy()
            colour = (number * 37 % 256, number * 91 % 256, number * 151 % 256)
            ImageDraw.Draw(picture).rectangle((800, 400, 1120, 680), fill=colour)
            picture.save(folder / f"{number:03}.jpg", quality=92)
    (folder / "base.jpg").unlink()
    page = _page(browser, cookies, _NEXT)
    page.goto(_started(client, folder, "next-picture"))
    region = page.get_by_role("region", name=re.compile("^Picture "))
    for _ in range(PICTURES - 1):
        expect(page.locator("[data-picture=ready]")).to_be_visible()
        name = region.get_attribute("aria-label")
        canvas = page.get_by_role("application")
        canvas.focus()
        page.keyboard.press("b")
        box = canvas.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.35
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 60, y + 50, steps=4)
        page.mouse.up()
        page.keyboard.press("Enter")
        expect(region).not_to_have_attribute("aria-label", str(name))
        # A labeler looks at a picture for a while.
        page.wait_for_timeout(300)
    painted = page.evaluate("() => window.nextPainted")
    page.context.close()
    name = "labeling, next picture painted after Enter"
    median = sorted(painted)[len(painted) // 2]
    return [
        Result(f"{name}, median", round(median), "ms"),
        Result(f"{name}, p95", round(p95(painted)), "ms"),
    ]


def _tiles(browser: Browser, scratch: Path, client: Client, cookies: list[Any]) -> list[Result]:
    folder = scratch / "large"
    folder.mkdir(parents=True)
    photograph(folder / "large.jpg", *_LARGE)
    page = _page(browser, cookies, _TILES)
    asked: list[str] = []

    def note(response: Response) -> None:
        if re.search(r"/labelx/items/[^/]+/tiles/$", response.url):
            asked.append(response.url)

    page.on("response", note)
    page.goto(_started(client, folder, "large-picture"))
    until = time.monotonic() + _TILES_S
    while not asked and time.monotonic() < until:
        page.wait_for_timeout(20)
    path = asked[0].split("/api/v1/")[1]
    while client.http.get(path)["state"] != "ready":
        assert time.monotonic() < until, "the tiles were not made in time"
        page.wait_for_timeout(20)
    ready = time.time() * 1000
    page.wait_for_function(
        f"() => window.lastChange > 0 && Date.now() - window.lastChange > {_STABLE_MS}"
    )
    visible = page.evaluate("() => window.lastChange") - ready
    page.context.close()
    name = "labeling, 100 megapixels painted after the tiles were made"
    return [Result(name, round(visible), "ms")]
