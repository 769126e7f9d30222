"""Processes that outlived the command, as an exit report lists them.

The job's user may have written the report, so every value in it is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MAX_SHOWN = 20
_MAX_NAME = 40


@dataclass(frozen=True, slots=True)
class Leftovers:
    """How many processes the runner ended, and the first of them as `name (pid 7)`."""

    count: int
    names: list[str]

    @property
    def sentence(self) -> str:
        """Return the sentence of the timeline."""
        processes = "1 process" if self.count == 1 else f"{self.count} processes"
        return f"Ended {processes} that outlived the command: {', '.join(self.names)}."


def leftovers_of(evidence: Mapping[str, Any]) -> Leftovers | None:
    """Return the processes that were ended, None if there are none or the report is unreadable."""
    stated = evidence.get("leftovers")
    processes = stated.get("processes") if isinstance(stated, dict) else None
    if not isinstance(processes, list):
        return None
    names = [_name(one) for one in processes[:_MAX_SHOWN] if isinstance(one, dict)]
    count = stated.get("count") if isinstance(stated, dict) else None
    if not names or not isinstance(count, int) or not len(names) <= count < 1 << 31:
        return None
    return Leftovers(count, names)


def _name(process: Mapping[str, Any]) -> str:
    pid = process.get("pid")
    shown = pid if isinstance(pid, int) and 0 < pid < 1 << 31 else 0
    return f"{str(process.get('name') or '?')[:_MAX_NAME]} (pid {shown})"
