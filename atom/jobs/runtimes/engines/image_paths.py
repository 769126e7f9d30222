"""Paths of an environment and of the runner, in pods and in images, without the first slash."""

from __future__ import annotations

from typing import Final

# Scripts of an environment name its path.
ENVIRONMENT: Final = "atom/env"
RUNNER: Final = "atom/runner/runner.pyz"
