"""The service under load, on a whole stack of its own: points, viewers, requests, rows, warm-up."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from atom_sdk.client import Client
from bench import mixed, points, rewarming, rows, viewers
from bench.harness import Result, failed, say


def run(
    scratch: Path, home: Path, client: Client, password: str, folder: Path, most_rows: int
) -> list[Result]:
    """Return all measures; the tables grow last, since all others are of a young installation."""
    parts: dict[str, Callable[[Path], list[Result]]] = {
        "points": lambda own: points.run(own, home, client),
        "rewarming": lambda own: rewarming.run(own, client),
        "viewers": lambda own: viewers.run(home, client, password),
        "mixed": lambda own: mixed.run(home, client),
        "rows": lambda own: rows.run(own, home, client, folder, most_rows),
    }
    found: list[Result] = []
    for name, part in parts.items():
        own = scratch / name
        own.mkdir()
        # A disk that still writes what the part before left holds up each commit of this one.
        os.sync()
        started = time.monotonic()
        found += _tried(name, part, own)
        say(f"service, {name} took {time.monotonic() - started:,.0f} s")
    return found


def _tried(name: str, part: Callable[[Path], list[Result]], own: Path) -> list[Result]:
    try:
        return part(own)
    # Whatever went wrong with one part: the others are measured.
    except Exception as error:
        return [failed(f"service, {name}", f"{type(error).__name__}: {error}".splitlines()[0])]
