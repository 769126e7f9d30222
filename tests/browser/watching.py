"""Collects what a page complains about: console errors, exceptions, answers that failed."""

from __future__ import annotations

from dataclasses import dataclass, field

from playwright.sync_api import ConsoleMessage, Page, Response

FIRST_FAILURE = 400


@dataclass
class Watched:
    """What was seen since the last `clear`."""

    console: list[str] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    failures: list[tuple[int, str]] = field(default_factory=list)

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


def watch(page: Page) -> Watched:
    """Watch a page from now on."""
    seen = Watched()

    def on_console(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            seen.console.append(message.text)

    def on_response(response: Response) -> None:
        if response.status >= FIRST_FAILURE:
            seen.failures.append((response.status, response.url))

    page.on("console", on_console)
    page.on("response", on_response)
    page.on("pageerror", lambda error: seen.exceptions.append(str(error)))
    return seen


def _is_about_status(said: str) -> bool:
    """Whether the browser only repeats that an answer failed, which `failures` has with its URL."""
    return "Failed to load resource" in said
