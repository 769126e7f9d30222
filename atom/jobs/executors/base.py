"""The work of an executor: it starts attempts in one cluster, observes them and ends them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from atom.clusters.models import Node
from atom.jobs.models import Attempt


class LaunchFailedError(Exception):
    """The supervisor did not start; the message is its own, or says why there is none."""


class NothingHeldError(Exception):
    """The attempt holds nothing in the cluster any more: it ended meanwhile."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A rank begins with its job and the token of its runner."""

    job: dict[str, Any]
    token: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Variables and data that a job finds where it runs.

    The run's own variables override `environment`; `devices` override them all.
    """

    environment: dict[str, str] = field(default_factory=dict)
    devices: dict[str, str] = field(default_factory=dict)
    # One for each input, as `job.json` describes it.
    datasets: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RankObservation:
    """A rank's supervisor as its executor sees it."""

    alive: bool
    # The executor knows the rank again by it.
    identity: Mapping[str, Any] = field(default_factory=dict)
    # Not validated: a command may have written it.
    exit_report: object = None


@dataclass(frozen=True, slots=True)
class Observation:
    """An attempt as its executor sees it: its ranks by their number, none if it was not started."""

    ranks: Mapping[int, RankObservation] = field(default_factory=dict)

    @property
    def launched(self) -> bool:
        """Whether the attempt was started."""
        return bool(self.ranks)

    @property
    def alive(self) -> bool:
        """Whether any rank's supervisor lives."""
        return any(rank.alive for rank in self.ranks.values())


class Executor(Protocol):
    """Runs attempts in one cluster. Each method may be called again after it was cut off."""

    @property
    def api_url(self) -> str:
        """Atom's address as jobs reach it."""

    def reaches(self, node: Node | None) -> bool:
        """Return whether this process can look after what runs on the node."""

    def surroundings(self, attempt: Attempt) -> Surroundings:
        """Return what the attempt's job finds where it runs."""

    def start(self, attempt: Attempt, admit: Callable[[int], Admitted]) -> Observation:
        """Start the attempt, unless that was done before.

        `admit` is given the number of a rank. Only the caller that starts it calls it, as a second
        token takes away the first. Raises NothingHeldError, LaunchFailedError, what keeps the
        attempt's data away (SelectionEmpty, MountError, OSError), and what `admit` raises.
        """

    def observe(self, attempt_id: UUID | str) -> Observation:
        """Return whether the attempt was started, which ranks live, and their exit reports."""

    def logs(self, attempt_id: UUID | str, rank: int) -> str:
        """Return the end of what a rank's supervisor itself wrote, for one that never reported."""

    def kill(self, attempt_id: UUID | str) -> None:
        """End all ranks and everything that belongs to the attempt, at once."""

    def kill_leftovers(self, attempt_id: UUID | str) -> None:
        """End processes that outlived their supervisor."""

    def remove(self, attempt_id: UUID | str) -> None:
        """Delete what the attempt left behind; its logs and outputs are stored elsewhere."""
