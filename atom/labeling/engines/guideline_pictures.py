"""Making a guideline's picture beside this process, bounded in memory and time."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from atom.labeling.engines.guideline_child import BROKEN

TIMEOUT_S: Final = 40.0
HEAVY: Final = "heavy"
BUSY: Final = "busy"
# Pictures at once in one server process; others wait for a moment.
_AT_ONCE: Final = 2
_WAIT_S: Final = 20.0
_slots = threading.BoundedSemaphore(_AT_ONCE)
_ROOT = Path(__file__).parents[3]
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "1", "LANG": "C.UTF-8"}


@dataclass(frozen=True)
class MadePicture:
    """A picture to store; with a `reason` there is none. Width and height are in pixels."""

    data: bytes = b""
    media_type: str = ""
    width: int = 0
    height: int = 0
    reason: str = ""


def make_picture(data: bytes) -> MadePicture:
    """Return the picture of untrusted bytes, upright, scaled down and without EXIF."""
    if not _slots.acquire(timeout=_WAIT_S):
        return MadePicture(reason=BUSY)
    try:
        return _made_in_child(data)
    finally:
        _slots.release()


def _made_in_child(data: bytes) -> MadePicture:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "atom.labeling.engines.guideline_child"],
            cwd=_ROOT,
            env=_ENVIRONMENT,
            input=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return MadePicture(reason=HEAVY)
    line, _, picture = done.stdout.partition(b"\n")
    # A limit ends the process without an answer.
    if not line:
        return MadePicture(reason=HEAVY)
    answer = json.loads(line)
    if "made" not in answer:
        return MadePicture(reason=str(answer.get("refused", BROKEN)))
    return MadePicture(picture, **answer["made"])
