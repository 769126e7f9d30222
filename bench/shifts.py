"""How far the portal's pages jump while they load over a slow network.

Each page is opened with an empty cache. The score is the sum of all layout shifts that no input
caused, not that of the worst second. With a fixed delay and rate it is a matter of geometry: a
faster processor changes when things move, not how far.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page
from playwright.sync_api import TimeoutError as NotQuietError

from atom_sdk.client import Client
from bench.corpus import write_files
from bench.harness import Result, say
from bench.logs import sign_in

WIDTHS: Mapping[int, int] = {1280: 800, 390: 844}
NAME = "portal over a slow network, worst layout shift of a page"
LATENCY_MS = 400
BYTES_PER_S = 1_600_000 // 8
_IMAGES = 60
_QUIET_MS = 1_500
_STEP_MS = 100
_LOAD_MS = 40_000
_RUN_S = 300.0
# An element that appears moves nothing; only what was painted and then stands elsewhere counts.
WATCH = """
window.layoutShifts = [];
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) {
    if (shift.hadRecentInput) continue;
    const moved = shift.sources.map(({ node, previousRect: a, currentRect: b }) => {
      const text = (node?.textContent || '').slice(0, 40);
      const size = `height ${a.height}→${b.height}`;
      return `${node?.nodeName} "${text}" y ${a.y}→${b.y} x ${a.x}→${b.x} ${size}`;
    });
    window.layoutShifts.push({ score: shift.value, at: Math.round(shift.startTime), moved });
  }
}).observe({ type: 'layout-shift', buffered: true });
"""


@dataclass(frozen=True)
class Shift:
    """The score of one page at one width, and each move behind it."""

    page: str
    width: int
    score: float
    moves: list[dict[str, Any]]


def run(browser: Browser, scratch: Path, client: Client, password: str) -> list[Result]:
    """Return the score of the page that jumps most."""
    if next(iter(client.models.list()), None) is None:
        _fill(scratch, client)
    cookies = cookies_of(client.config.url, password)
    found = list(measure(browser, client.config.url, cookies, addresses(client)))
    worst = max(found, key=lambda shift: shift.score)
    unit = f"{worst.page} at {worst.width} px"
    return [Result(NAME, round(worst.score, 3), unit)]


def cookies_of(url: str, password: str) -> list[Any]:
    """Return the administrator's session as a browser takes it."""
    pairs = (pair.split("=", 1) for pair in sign_in(url, password).split("; "))
    return [{"name": name, "value": value, "url": url} for name, value in pairs]


def addresses(client: Client) -> dict[str, str]:
    """Return the main pages and where they are, for what the project has."""
    http, project = client.http, client.project
    dataset = http.get(f"projects/{project}/datasets/")["results"][0]["name"]
    task = next(iter(client.labelx.list()))["id"]
    ended = list(islice(client.runs.list(state="succeeded"), 3))
    run = ended[0]["id"]
    model = next(iter(client.models.list()))["name"]
    return {
        "overview": "/",
        "datasets": "/datasets",
        "dataset": f"/datasets/{dataset}",
        "versions": f"/datasets/{dataset}/versions",
        "branches": f"/datasets/{dataset}/refs",
        "compare versions": f"/datasets/{dataset}/diff?from=v1&to=v2",
        "activity": f"/datasets/{dataset}/activity",
        "retention": f"/datasets/{dataset}/keeping",
        "upload": "/uploads",
        "label tasks": "/labeling",
        "label task": f"/labeling/{task}",
        "runs": "/runs",
        "run": f"/runs/{run}",
        "new run": "/runs/new",
        "new run, parameters": f"/runs/new?clone={run}&step=1",
        "new run, resources": f"/runs/new?clone={run}&step=2",
        "new run, review": f"/runs/new?clone={run}",
        "compare runs": "/runs/compare?runs=" + ",".join(str(each["id"]) for each in ended),
        "queue": "/runs/queue",
        "run retention": "/runs/retention",
        "models": "/models",
        "model": f"/models/{model}",
        "model version": f"/models/{model}/versions/1",
        "members": "/settings/members",
        "units": "/settings/units",
        "people": "/settings/people",
        "machines": "/settings/machines",
        "health": "/settings/health",
        "account": "/settings/account",
        "tokens": "/settings/tokens",
        "S3 keys": "/settings/s3-keys",
        "secrets": "/settings/secrets",
        "webhooks": "/settings/webhooks",
        "audit log": "/settings/audit",
        "storage cleanup": "/settings/garbage",
        "notifications": "/notifications",
        "notification settings": "/settings/notifications",
    }


def measure(
    browser: Browser,
    url: str,
    cookies: list[Any],
    pages: Mapping[str, str],
    widths: Iterable[int] = WIDTHS,
) -> Iterable[Shift]:
    """Yield the score of each page at each width."""
    for width in widths:
        for name, address in pages.items():
            found = _opened(browser, url, cookies, name, address, width)
            say(f"  shift of {name} at {width} px: {found.score:.3f}")
            yield found


def _opened(
    browser: Browser, url: str, cookies: list[Any], name: str, address: str, width: int
) -> Shift:
    context = browser.new_context(viewport={"width": width, "height": WIDTHS[width]})
    try:
        context.add_cookies(cookies)
        page = context.new_page()
        page.add_init_script(WATCH)
        context.new_cdp_session(page).send(
            "Network.emulateNetworkConditions",
            {
                "offline": False,
                "latency": LATENCY_MS,
                "downloadThroughput": BYTES_PER_S,
                "uploadThroughput": BYTES_PER_S,
            },
        )
        _load(page, f"{url}{address}")
        moves: list[dict[str, Any]] = page.evaluate("() => window.layoutShifts")
    finally:
        context.close()
    return Shift(name, width, sum(float(move["score"]) for move in moves), moves)


def _load(page: Page, address: str) -> None:
    """Open the page and wait until it asks for nothing for a while; some pages always ask."""
    last = [time.monotonic()]

    def note(_: Any) -> None:
        last[0] = time.monotonic()

    page.on("request", note)
    page.on("requestfinished", note)
    page.on("requestfailed", note)
    page.goto(address, wait_until="load", timeout=_LOAD_MS)
    # A page that does not come does not move either.
    page.get_by_role("heading", level=1).first.wait_for(timeout=_LOAD_MS)
    try:
        page.wait_for_load_state("networkidle", timeout=_LOAD_MS // 2)
    except NotQuietError:
        return
    until = time.monotonic() + _LOAD_MS / 2_000
    while time.monotonic() < min(last[0] + _QUIET_MS / 1_000, until):
        page.wait_for_timeout(_STEP_MS)


_TRAIN = """
from atom_sdk import run
for step in range(1, 41):
    run.log({"train/loss": 1 / step, "train/accuracy": 1 - 1 / step}, step=step)
    print(f"step {step} loss {1 / step:.4f}", flush=True)
run.save_model({"weights.bin": bytes(1000)}, framework="bench", metrics={"loss": 1 / 40})
"""


def _fill(scratch: Path, client: Client) -> None:
    """Give the project two versions, a label task, a run that makes a model, and one that fails."""
    for count in (_IMAGES, _IMAGES + 6):
        folder = scratch / f"pictures-{count}"
        write_files(folder, count)
        client.datasets.push(folder, "pictures")
    task = client.labelx.create(
        name="Name the pictures",
        dataset="pictures@v1",
        labels=[{"id": 0, "name": "cat", "hotkey": "1", "color": "#1c7ed6"}],
        batch_size=8,
    )
    client.labelx.act(task["id"], "start")
    named = {"register_model": "pictures"}
    for code, parameters in ((_TRAIN, named), (_TRAIN, {}), ("raise SystemExit(1)", {})):
        run = client.runs.create(
            command=["python", "-c", code],
            parameters=parameters,
            datasets={"dataset": "pictures@v1"},
        )
        client.runs.wait(run["id"], _RUN_S)
