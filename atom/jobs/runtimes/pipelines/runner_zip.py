"""The runner as one program, built once for each state of its sources."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from atom_sdk.runner.build import build_runner


@lru_cache(maxsize=1)
def runner_zip() -> tuple[Path, str]:
    """Return the runner that pods run, and its SHA-256 (hex)."""
    path = build_runner(Path(settings.ATOM_HOME) / "runner")
    return path, hashlib.sha256(path.read_bytes()).hexdigest()
