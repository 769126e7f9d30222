"""Points of curves and the progress, as lines of a file that the runner reads."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Mapping
from typing import SupportsFloat

MAX_TEXT = 200
_steps = itertools.count()


def log(values: Mapping[str, SupportsFloat], step: int | None = None) -> None:
    """Record values at a step; without one, steps count the calls of this process.

    Anything that `float()` takes is a value, a tensor with one element too; NaN and infinity are
    kept.
    """
    at = next(_steps) if step is None else int(step)
    numbers = {str(key): float(value) for key, value in values.items()}
    if not _append({"step": at, "ts_ms": time.time_ns() // 1_000_000, "values": numbers}):
        shown = ", ".join(f"{key}={value:.5g}" for key, value in numbers.items())
        print(f"[atom] step {at}: {shown}", flush=True)


def progress(fraction: float, text: str = "") -> None:
    """Say how far the run is, from 0 to 1, with a few words such as "epoch 2/5"."""
    done = min(1.0, max(0.0, float(fraction)))
    if not _append({"progress": done, "text": str(text)[:MAX_TEXT]}):
        print(f"[atom] {done:.0%} {text}".rstrip(), flush=True)


def _append(row: dict[str, object]) -> bool:
    """Write one line; return False outside a run."""
    path = os.environ.get("ATOM_METRICS_FILE")
    if not path:
        return False
    line = json.dumps(row).encode() + b"\n"
    # One write to a file opened for appending: threads and processes never mix their lines.
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)
    return True
