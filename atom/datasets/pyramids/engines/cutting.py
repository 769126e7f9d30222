"""Cutting a picture into tiles beside this process, bounded in memory and time."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from atom.datasets.pyramids.engines.reasons import HEAVY, UNREADABLE

TIMEOUT_S: Final = 900.0
_ROOT = Path(__file__).parents[4]
# Two threads cut as fast as the disk takes tiles; more only take memory.
_ENVIRONMENT = {"VIPS_CONCURRENCY": "2", "MALLOC_ARENA_MAX": "2", "LANG": "C.UTF-8"}


@dataclass(frozen=True)
class Cut:
    """The facts of a pyramid, or the reason why there is none."""

    facts: dict[str, Any] | None
    reason: str = ""


def cut_picture(source: Path, target: Path, on_progress: Callable[[int], None]) -> Cut:
    """Write the pyramid of `source` as the zip file `target`; progress comes in per cent."""
    process = subprocess.Popen(
        [sys.executable, "-m", "atom.datasets.pyramids.engines.child", str(source), str(target)],
        cwd=_ROOT,
        env=_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    ending = threading.Timer(TIMEOUT_S, process.kill)
    ending.start()
    result = Cut(None, HEAVY)
    with process:
        try:
            for line in process.stdout or ():
                result = _step(json.loads(line), on_progress) or result
        finally:
            ending.cancel()
            process.kill()
    return result


def _step(step: dict[str, Any], on_progress: Callable[[int], None]) -> Cut | None:
    if "progress" in step:
        on_progress(int(step["progress"]))
        return None
    if "made" in step:
        return Cut(step["made"])
    return Cut(None, str(step.get("refused", UNREADABLE)))
