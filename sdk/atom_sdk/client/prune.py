"""Removes what a narrower pull leaves over; only when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path


def remove_others(folder: Path, keep: Collection[str]) -> int:
    """Remove the files and links below `folder` that are not in `keep`; returns how many.

    Links are never followed; those to folders stay. Folders that are empty then go as well.
    """
    removed = 0
    for root, _, files in os.walk(folder, topdown=False):
        base = Path(root)
        for path in (base / name for name in files):
            if path.relative_to(folder).as_posix() not in keep:
                path.unlink()
                removed += 1
        _remove_if_empty(base, folder)
    return removed


def _remove_if_empty(path: Path, top: Path) -> None:
    if path != top and not any(path.iterdir()):
        path.rmdir()
