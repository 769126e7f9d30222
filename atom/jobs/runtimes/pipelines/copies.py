"""Copies of folders that are made only once, by the first worker that needs them."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

# What `shutil.ignore_patterns` returns.
Ignore = Callable[[str, list[str]], set[str]]


def copy_once(source: Path, target: Path, ignore: Ignore) -> None:
    """Copy a folder unless `target` is there, which appears whole; others wait. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            half = target.with_name(".half")
            shutil.rmtree(half, ignore_errors=True)
            shutil.copytree(source, half, symlinks=True, ignore=ignore)
            half.rename(target)
