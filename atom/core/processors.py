"""How many processors this process may use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_CGROUP: Final = Path("/sys/fs/cgroup/cpu.max")


def processor_count() -> int:
    """Return the number of cores, within the limits of affinity and of the control group."""
    return quota_of(_quota(), len(os.sched_getaffinity(0)))


def quota_of(cpu_max: str, available: int) -> int:
    """Return how many cores `cpu_max` (quota and period in µs, of a control group) leaves, or 1."""
    quota, _, period = cpu_max.partition(" ")
    if quota.isdecimal() and period.isdecimal():
        available = min(available, max(1, int(quota) // int(period)))
    return available


def _quota() -> str:
    try:
        return _CGROUP.read_text(encoding="ascii").strip()
    except OSError:
        return ""
