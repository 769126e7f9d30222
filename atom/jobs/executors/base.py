"""The work of an executor: it starts an attempt somewhere, observes it and ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID


class LaunchFailedError(Exception):
    """The supervisor did not start; the message is its own, or says why there is none."""


@dataclass(frozen=True, slots=True)
class Observation:
    """An attempt's supervisor as its executor sees it."""

    launched: bool
    alive: bool
    pid: int | None = None
    start_ticks: int | None = None
    # Not validated: a command may have written it.
    exit_report: object = None


class Executor(Protocol):
    """Runs attempts in one place. Each method may be called again after it was cut off."""

    def launch(
        self,
        attempt_id: UUID,
        describe: Callable[[], tuple[dict[str, Any], str]],
        slot: int,
        api_url: str,
    ) -> Observation:
        """Start the attempt's supervisor, unless that was done before.

        `describe` returns the job and its token; only the caller that starts it calls it, as a
        second token takes away the first. Raises LaunchFailedError and what `describe` raises.
        """

    def observe(self, attempt_id: UUID | str) -> Observation:
        """Return whether the attempt's supervisor was started and lives, and its exit report."""

    def kill(self, attempt_id: UUID | str) -> None:
        """End the supervisor and everything that belongs to the attempt, at once."""

    def kill_leftovers(self, attempt_id: UUID | str) -> None:
        """End processes that outlived their supervisor."""

    def remove(self, attempt_id: UUID | str) -> None:
        """Delete what the attempt left behind; its logs and outputs are stored elsewhere."""
