"""Environments as folders of Atom's own machines, built by a worker."""

from __future__ import annotations

from typing import Any

from atom.accounts.models import Project
from atom.jobs import states
from atom.jobs.executors.base import Environments
from atom.jobs.models import EnvironmentBuild, Run, Runtime
from atom.jobs.runtimes.actions import runtimes
from atom.jobs.runtimes.pipelines.runtime_build import is_ready


class LocalEnvironments(Environments):
    """Environments that workers build and share."""

    def find(self, requirements: str, image: str, project: Project) -> tuple[str, Runtime | None]:
        """Return the digest of an environment, and the environment if it is known."""
        return runtimes.find_runtime(requirements)

    def ensure(self, requirements: str, image: str, project: Project) -> Runtime:
        """Return the environment of these requirements."""
        return runtimes.ensure_runtime(requirements)

    def request(self, runtime: Runtime) -> None:
        """Have the environment built unless it is there."""
        runtimes.request_build(runtime)

    def is_ready(self, runtime: Runtime) -> bool:
        """Return whether this machine has the environment."""
        return runtime.state == states.READY and is_ready(runtimes.path_of(runtime))

    def nudge(self, run: Run, runtime: Runtime) -> None:
        """Have the environment built that no live worker builds."""
        runtimes.nudge_build(runtime)

    def advance(self, build: EnvironmentBuild) -> None:
        """Do nothing: no cluster builds for these machines."""
        return

    def start(self, build: EnvironmentBuild) -> None:
        """Do nothing: no cluster builds for these machines."""
        return

    def spec(self, build: EnvironmentBuild) -> dict[str, Any]:
        """Return nothing: no cluster builds for these machines."""
        return {}
