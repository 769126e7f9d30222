"""Environments of jobs for tests that start runs without a stack.

To build one costs many seconds of pip, for each of the few that the tests ask for and in each
worker. tests/jobs/runtimes/test_runtimes.py builds real ones in folders of its own, and every stack
of the run builds those of its jobs.
"""

from __future__ import annotations

import sys

from atom.jobs.runtimes.actions import runtimes
from atom.jobs.runtimes.pipelines.runtime_build import MARKER
from atom.jobs.workflows.actions.workflows import BUILT_IN


def prepare_environments() -> None:
    """Let the environments of plain runs and built-in workflows be there: that of the tests."""
    files = BUILT_IN.glob("*/requirements.txt")
    for requirements in ("", *(file.read_text() for file in files)):
        digest, _ = runtimes.digest_of(requirements)
        path = runtimes.folder() / digest[:32]
        (path / "bin").mkdir(parents=True, exist_ok=True)
        if not (path / MARKER).exists():
            # A link would be another environment: Python looks for its packages beside it.
            python = path / "bin" / "python"
            python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
            python.chmod(0o755)
            (path / MARKER).touch()
