"""Collects what a page complains about: console errors, exceptions, answers that failed."""

from __future__ import annotations

from dataclasses import dataclass, field

from playwright.sync_api import ConsoleMessage, Page, Request, Response

FIRST_FAILURE = 400
# As long as a browser must ask for nothing to count as idle; Playwright's own `networkidle` is
# about a document, and says nothing of what a page asks for later.
_QUIET_MS = 300
_STEP_MS = 50
_PATIENCE_MS = 30_000


@dataclass
class Watched:
    """Events since the last `clear`."""

    console: list[str] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    failures: list[tuple[int, str]] = field(default_factory=list)
    requests: int = 0
    under_way: set[Request] = field(default_factory=set)

    def clear(self) -> None:
        """Forget what was seen."""
        self.console.clear()
        self.exceptions.clear()
        self.failures.clear()

    def problems(self, expected_status: int | None = None) -> list[str]:
        """Return everything that is wrong; answers with `expected_status` are not."""
        return [
            *(f"exception {said}" for said in self.exceptions),
            *(f"console {said}" for said in self.console if not _is_about_status(said)),
            *(f"{status} {url}" for status, url in self.failures if status != expected_status),
        ]


def await_quiet(page: Page, seen: Watched) -> None:
    """Wait until the page has asked for nothing, and has all it asked for, for a moment."""
    quiet_ms = waited_ms = 0
    while quiet_ms < _QUIET_MS:
        assert waited_ms < _PATIENCE_MS, [request.url for request in seen.under_way]
        before = seen.requests
        page.wait_for_timeout(_STEP_MS)
        waited_ms += _STEP_MS
        quiet_ms = 0 if seen.under_way or seen.requests != before else quiet_ms + _STEP_MS


def watch(page: Page) -> Watched:
    """Watch a page from now on."""
    seen = Watched()

    def on_request(request: Request) -> None:
        seen.requests += 1
        seen.under_way.add(request)

    def on_end(request: Request) -> None:
        seen.under_way.discard(request)

    def on_console(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            seen.console.append(message.text)

    def on_response(response: Response) -> None:
        if response.status >= FIRST_FAILURE:
            seen.failures.append((response.status, response.url))

    page.on("request", on_request)
    page.on("requestfinished", on_end)
    page.on("requestfailed", on_end)
    page.on("console", on_console)
    page.on("response", on_response)
    page.on("pageerror", lambda error: seen.exceptions.append(str(error)))
    return seen


def _is_about_status(said: str) -> bool:
    """Whether the browser only repeats that an answer failed, which `failures` has with its URL."""
    return "Failed to load resource" in said
