"""Places where a test may kill the process, to see what a power cut there would leave behind.

Only the testing settings set `CRASH_POINT`; elsewhere it is "" and nothing ever happens.
"""

from __future__ import annotations

import os
import signal

from django.conf import settings


def reach(name: str) -> None:
    """Die here, as by a power cut, if this is the crash point of the present test."""
    if name == settings.CRASH_POINT:
        os.kill(os.getpid(), signal.SIGKILL)
