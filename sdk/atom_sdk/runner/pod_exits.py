"""Exit codes of a runner that is a pod's own process; a cluster's failure policy counts on them.

143 and 137 mean that the pod was ended from outside. A program cannot claim that: its own 143 or
137 becomes 1. A runner that got SIGTERM never ends with 0, since a cluster reads 0 as success even
of a pod that it evicted.
"""

from __future__ import annotations

import signal
from typing import Any

OK = 0
FAILED = 1
# The pod is no rank of this run: nothing was started.
NOT_ACCEPTED = 78
# The run is over, or goes on elsewhere.
NOT_OURS = 79
# The server does not have the exit report.
NOT_REPORTED = 80
TERMINATED = 128 + signal.SIGTERM
_KILLED = 128 + signal.SIGKILL
_LARGEST = 255


def pod_exit(report: dict[str, Any] | None, terminated: bool) -> int:
    """Return the pod's exit code; `report` is the attempt's exit report, if there is one."""
    if terminated:
        return TERMINATED
    if report is None or not report.get("reported"):
        return NOT_REPORTED
    code = _code_of(report)
    if code in (TERMINATED, _KILLED):
        return FAILED
    return code


def _code_of(report: dict[str, Any]) -> int:
    code, number = report.get("exit_code"), report.get("signal")
    if isinstance(number, int) and number:
        return min(128 + number, _LARGEST)
    if not isinstance(code, int):
        return FAILED
    if code == OK and report.get("reason") != "exited":
        return FAILED
    return code if 0 <= code <= _LARGEST else FAILED
