"""Counters that several web processes share: each of them answers /metrics for all.

They use the files of prometheus_client's multiprocess mode, named after a process's place and not
its pid: a restarted process goes on with its old counts, and files do not pile up.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

FOLDER_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"


def share_counters(folder: Path, number: int, processes: int) -> None:
    """Count in `folder` from now on, as one of so many processes; before anything is counted."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {_name(place) for place in range(1, processes + 1)}
    for path in folder.glob("*.db"):
        kind, _, name = path.stem.rpartition("_")
        # Gauges of requests under way and of open sockets ended with their process.
        is_past = name == _name(number) and kind.startswith("gauge")
        if is_past or name not in known:
            path.unlink(missing_ok=True)
    os.environ[FOLDER_VARIABLE] = str(folder)
    # Looks at the variable when it is imported.
    from prometheus_client import values

    values.ValueClass = values.MultiProcessValue(lambda: _name(number))  # type: ignore[no-untyped-call]


def _name(number: int) -> str:
    return f"web-{number}"
