"""SIGTERM in a pod: everything must end before the kubelet kills the pod."""

from __future__ import annotations

import threading
import time

from .reporting import Reporting

# Kept free at the end of the grace for the exit report itself.
REPORT_S = 2.0
# How long the question whether the run was cancelled may hold back the command's signal.
ASK_S = 0.5
# The largest part of the grace that the command may use: the rest is for what it wrote.
COMMAND_PART = 0.75


class Preemption:
    """The time that is left after SIGTERM. `grace_s` is the time until the kubelet's SIGKILL."""

    def __init__(self, grace_s: float) -> None:
        """Take the grace in seconds."""
        self._grace_s = grace_s

    def begin(self, reporting: Reporting) -> None:
        """Bound all sending by the grace, the newest checkpoint first."""
        reporting.finish_by(time.monotonic() + max(0.0, self._grace_s - REPORT_S))
        reporting.outputs.hurry()

    def command_grace_s(self, wanted_s: float) -> float:
        """Return the seconds that the command has between its SIGTERM and its SIGKILL."""
        return min(wanted_s, self._grace_s * COMMAND_PART)

    def reason(self, reporting: Reporting) -> str:
        """Return `cancelled` if the server asked for it, otherwise `preempted`."""
        heartbeat = reporting.heartbeat
        # In a thread: a server that hangs must not hold back the command's signal.
        asking = threading.Thread(target=heartbeat.ask_now, args=(ASK_S,), daemon=True)
        asking.start()
        asking.join(ASK_S)
        return "cancelled" if heartbeat.cancel else "preempted"
