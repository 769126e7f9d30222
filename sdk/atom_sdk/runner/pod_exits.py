"""Exit codes of the verb `pod`, by which Kubernetes counts its end.

A pod failure policy counts 137 and 143 as disruptions, so only a runner that received SIGTERM
ends with 143. 0 means success, so only an exit report that the server accepted gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SUCCESS = 0
FAILED = 1
# The server refused this pod, or the configuration is not usable: another try changes nothing.
REFUSED = 78
# The attempt belongs to another pod or has ended: its token was revoked, or the answer was `stop`.
NO_LONGER_OURS = 79
# The server has no exit report of this runner, or one of a runner that was lost.
NOT_REPORTED = 80
TERMINATED = 143

# SIGKILL and SIGTERM as shells write them: a pod failure policy reads them as disruptions.
_DISRUPTIONS = frozenset({137, TERMINATED})


def exit_code_of(report: Mapping[str, Any] | None, *, delivered: bool, terminated: bool) -> int:
    """Return the pod's exit code.

    `report` is the exit report, None without one; `delivered` tells whether the runner ended
    normally, `terminated` whether it received SIGTERM.
    """
    if terminated:
        return TERMINATED
    if not delivered:
        return NOT_REPORTED
    if report is None or not report.get("reported"):
        return NO_LONGER_OURS
    return _of_command(report)


def _of_command(report: Mapping[str, Any]) -> int:
    code, number = report.get("exit_code"), report.get("signal")
    if code is None and number is None:
        return NOT_REPORTED
    code = 128 + int(number or 0) if code is None else int(code)
    if code in _DISRUPTIONS:
        return FAILED
    if code == SUCCESS and report.get("reason") != "exited":
        return FAILED
    return code
