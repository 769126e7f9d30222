"""The built portal in Chromium: what it loads, and how it moves with a million rows.

Sizes are those of the build; the first paint is that of the overview, signed in, on a stack of the
benchmark's own. Grid, log and charts are the portal's components on a page of their own
(`frontend/tools/bench`), fed with generated rows: what is measured is the portal, not the server.
The drawing canvas is measured there too, see `bench.drawing`.
"""

from __future__ import annotations

import gzip
import http.server
import re
import statistics
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    CDPSession,
    Page,
    ViewportSize,
    sync_playwright,
)

from atom_sdk.client import Client
from bench import drawing, labeling_pages, shifts
from bench.harness import Result, say
from bench.logs import sign_in
from bench.preflight import browser_missing, find_browser

_FRONTEND = Path(__file__).parents[1] / "frontend"
_DIST = _FRONTEND / "dist"
_VIEWPORT: ViewportSize = {"width": 1440, "height": 900}
_PAINTS = 7
_WHEELS = 120
_WHEEL_PX = 240
_WHEEL_EVERY_MS = 16
_LOAD_MS = 120_000
# `buffered`: what was painted before anybody asked.
_PAINTED = """() => new Promise((resolve) => {
  let largest = 0;
  const told = () => {
    const [first] = performance.getEntriesByName('first-contentful-paint');
    if (first && largest) resolve([first.startTime, largest]);
  };
  // A busy browser may tell of the first paint after the largest one.
  new PerformanceObserver(told).observe({ type: 'paint', buffered: true });
  new PerformanceObserver((list) => {
    largest = list.getEntries().at(-1).startTime;
    told();
  }).observe({ type: 'largest-contentful-paint', buffered: true });
})"""


Part = Callable[[Page], list[Result]]


class NothingToMeasureError(Exception):
    """The portal is not built, or there is no browser."""


def run(scratch: Path, client: Client, password: str) -> list[Result]:
    """Return sizes, paints, shifts of layout, and the frames of grid, log and charts."""
    program = find_browser()
    if program is None:
        raise NothingToMeasureError(browser_missing())
    if not (_DIST / "index.html").exists():
        raise NothingToMeasureError("the portal is not built: run `make .make/portal`")
    results = sizes(_DIST)
    with sync_playwright() as driver, _page_of_parts(scratch) as address:
        # Exact heap sizes, and full frame rate in a hidden window.
        arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--enable-precise-memory-info"]
        browser = driver.chromium.launch(executable_path=program, args=arguments)
        try:
            results += _paints(browser, client.config.url, password)
            results += shifts.run(browser, scratch, client, password)
            results += labeling_pages.run(browser, scratch, client, password)
            for name, part in _PARTS.items():
                say(f"  portal: {name}")
                results += _in_new_page(browser, part, f"{address}?part={name}")
        finally:
            browser.close()
    return results


def sizes(dist: Path) -> list[Result]:
    """Return what the first page loads and the largest page that comes later, in KB of gzip."""
    html = (dist / "index.html").read_text()
    named = re.findall(r'(?:src|href)="/(assets/[^"]+\.(?:js|css|woff2))"', html)
    initial = {name: _gzipped_kb(dist / name) for name in dict.fromkeys(named)}

    def of(ending: str) -> float:
        return round(sum(kb for name, kb in initial.items() if name.endswith(ending)), 1)

    assets = sorted((dist / "assets").glob("*.js"))
    later = [_gzipped_kb(path) for path in assets if f"assets/{path.name}" not in initial]
    return [
        Result("portal, JavaScript of the first page", of(".js"), "KB gz"),
        Result("portal, styles of the first page", of(".css"), "KB gz"),
        # Fonts are compressed already.
        Result("portal, font of the first page", of(".woff2"), "KB gz"),
        Result(
            "portal, largest script of a later page", round(max(later, default=0.0), 1), "KB gz"
        ),
    ]


def _gzipped_kb(path: Path) -> float:
    content = path.read_bytes()
    return len(content if path.suffix == ".woff2" else gzip.compress(content, 9)) / 1024


@contextmanager
def _page_of_parts(scratch: Path) -> Iterator[str]:
    """Build the page of the components, and serve it."""
    built = scratch / "page"
    command = ["npx", "vite", "build", "--config", "tools/bench/vite.config.ts"]
    subprocess.run(
        [*command, "--outDir", str(built)], cwd=_FRONTEND, check=True, capture_output=True
    )
    serve = partial(_Quiet, directory=str(built))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/index.html"
    finally:
        server.shutdown()
        server.server_close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without logging."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def _paints(browser: Browser, url: str, password: str) -> list[Result]:
    """First and largest contentful paint of the overview, with an empty cache each time."""
    cookies: list[Any] = [
        {"name": name, "value": value, "url": url}
        for name, value in (pair.split("=", 1) for pair in sign_in(url, password).split("; "))
    ]
    found: list[list[float]] = []
    for _ in range(_PAINTS):
        context = browser.new_context(viewport=_VIEWPORT)
        context.add_cookies(cookies)
        page = context.new_page()
        page.goto(url, wait_until="networkidle")
        found.append(page.evaluate(_PAINTED))
        context.close()
    first, largest = (statistics.median(column) for column in zip(*found, strict=True))
    return [
        Result("portal, first contentful paint", round(first), "ms"),
        Result("portal, largest contentful paint", round(largest), "ms"),
    ]


def _in_new_page(browser: Browser, part: Part, address: str) -> list[Result]:
    context = browser.new_context(viewport=_VIEWPORT)
    page = context.new_page()
    page.set_default_timeout(_LOAD_MS)
    page.goto(address)
    page.wait_for_function("() => window.bench !== undefined")
    try:
        return part(page)
    finally:
        context.close()


def _grid(page: Page) -> list[Result]:
    page.wait_for_function("() => bench.grid.isReady()")
    page.mouse.move(_VIEWPORT["width"] / 2, _VIEWPORT["height"] / 2)
    page.evaluate("() => bench.grid.watch()")
    for _ in range(_WHEELS):
        page.mouse.wheel(0, _WHEEL_PX)
        page.wait_for_timeout(_WHEEL_EVERY_MS)
    gaps = page.evaluate("() => bench.grid.watched()")
    jumps = page.evaluate("() => bench.grid.jumps()")
    drag = page.evaluate("() => bench.grid.dragPast()")
    last = page.evaluate("() => bench.grid.last()")
    images = page.evaluate("() => bench.grid.images")
    name = f"grid of {images:,} images"
    if last != f"image-{images - 1}.png":
        raise NothingToMeasureError(f"the last image is not reached, but {last!r}")
    say(f"  while dragging past: {drag}")
    return [
        Result(f"{name}, wheel, p95 of frames", _p95(gaps), "ms"),
        Result(f"{name}, jump, median", round(statistics.median(jumps), 1), "ms"),
        Result(f"{name}, jump, slowest of {len(jumps)}", round(max(jumps), 1), "ms"),
        Result(f"{name}, fetches scrolled past that went on", drag["wentOn"], "fetches"),
    ]


def _log(page: Page) -> list[Result]:
    lines = page.evaluate("() => bench.log.lines")
    devtools = page.context.new_cdp_session(page)
    before = _heap_mb(devtools)
    load = page.evaluate("() => bench.log.load()")
    searches = page.evaluate("() => bench.log.search()")
    heap = _heap_mb(devtools) - before
    follow = page.evaluate("() => bench.log.follow()")
    if not follow:
        raise NothingToMeasureError("the view did not follow the log")
    name = f"log of {lines:,} lines"
    return [
        Result(f"{name}, to the last one on the screen", round(load), "ms"),
        Result(f"{name}, slowest of {len(searches)} searches", round(max(searches), 1), "ms"),
        Result(f"{name}, heap", round(heap), "MB"),
        Result(f"{name}, following 500 lines/s, p95 of frames", _p95(follow), "ms"),
    ]


def _heap_mb(devtools: CDPSession) -> float:
    devtools.send("HeapProfiler.collectGarbage")
    used: dict[str, float] = devtools.send("Runtime.getHeapUsage")
    # Typed arrays lie outside the heap proper.
    return (used["usedSize"] + used.get("backingStorageSize", 0.0)) / 1e6


def _charts(page: Page) -> list[Result]:
    gaps = page.evaluate("() => bench.charts.live()")
    points = page.evaluate("() => bench.charts.points")
    name = f"charts of {points:,} points, live"
    return [
        Result(f"{name}, median of frames", round(statistics.median(gaps), 1), "ms"),
        Result(f"{name}, p95 of frames", _p95(gaps), "ms"),
    ]


def _p95(values: list[float]) -> float:
    return round(sorted(values)[int(0.95 * (len(values) - 1))], 1)


_PARTS: dict[str, Part] = {"grid": _grid, "log": _log, "charts": _charts, "canvas": drawing.run}
