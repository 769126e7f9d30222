"""Which process a remembered pid means: a pid alone may belong to another process by now."""

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

POLL_S = 0.05


@dataclass(frozen=True)
class ProcessIdentity:
    """A pid and the clock ticks since boot at which that process started."""

    pid: int
    started_at_ticks: int

    @classmethod
    def of(cls, pid: int) -> "ProcessIdentity | None":
        """Return the identity of a running process, or None."""
        ticks = start_ticks(pid)
        return None if ticks is None else cls(pid, ticks)

    def is_alive(self) -> bool:
        """Whether this very process still runs (a zombie does not)."""
        return start_ticks(self.pid) == self.started_at_ticks


def start_ticks(pid: int) -> int | None:
    """Return field 22 of /proc/<pid>/stat, or None when there is no such running process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name in parentheses may hold spaces; state is the first field after it.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else int(fields[19])


def signal_group(pid: int, sig: signal.Signals) -> None:
    """Signal a process group, or the lone process when it leads none."""
    try:
        os.killpg(pid, sig)
    except ProcessLookupError:
        signal_process(pid, sig)


def signal_process(pid: int, sig: signal.Signals) -> None:
    """Signal a process if it still exists."""
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        return


def wait_until_gone(
    processes: Iterable[ProcessIdentity], timeout_s: float
) -> list[ProcessIdentity]:
    """Wait for the processes to end; return those that still run after the timeout."""
    deadline = time.monotonic() + timeout_s
    alive = [process for process in processes if process.is_alive()]
    while alive and time.monotonic() < deadline:
        time.sleep(POLL_S)
        alive = [process for process in alive if process.is_alive()]
    return alive
