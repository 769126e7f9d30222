"""Ways of running an attempt: `local` starts a detached supervisor on this machine."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from atom.jobs.executors.local import LocalExecutor


def local_executor() -> LocalExecutor:
    """Return the executor of this machine; it keeps everything below ATOM_HOME."""
    return LocalExecutor(Path(settings.ATOM_HOME))
