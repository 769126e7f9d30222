"""Ends what a launcher that was killed has left, and the detached supervisors of jobs."""

import json
import signal
from pathlib import Path

import psutil

from atom.dev.identity import ProcessIdentity, signal_group, wait_until_gone
from atom.dev.state import StackState

ASK_TIMEOUT_S = 2.5
KILL_TIMEOUT_S = 1.0


def end_processes(processes: list[ProcessIdentity]) -> int:
    """End the processes' groups and all their descendants; return how many had to be ended."""
    alive = [process for process in processes if process.is_alive()]
    # Taken before the parents die: orphans can no longer be found through them.
    family = [member for process in alive for member in _descendants(process)]
    for process in alive:
        signal_group(process.pid, signal.SIGTERM)
    for process in wait_until_gone(alive, ASK_TIMEOUT_S):
        signal_group(process.pid, signal.SIGKILL)
    for process in wait_until_gone(family, 0.0):
        signal_group(process.pid, signal.SIGKILL)
    wait_until_gone([*alive, *family], KILL_TIMEOUT_S)
    return len(alive)


def leftover_processes(state: StackState | None) -> list[ProcessIdentity]:
    """Return the managed processes of an earlier launcher that still run."""
    if state is None:
        return []
    known = [entry.identity for entry in state.processes.values()]
    return [identity for identity in known if identity and identity.is_alive()]


def job_supervisors(home: Path) -> list[ProcessIdentity]:
    """Return the supervisors of job attempts that run now."""
    found = []
    for path in home.glob("attempts/*/supervisor.json"):
        identity = _read_identity(path)
        if identity is not None and identity.is_alive():
            found.append(identity)
    return found


def _read_identity(path: Path) -> ProcessIdentity | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return ProcessIdentity(int(data["pid"]), int(data["started_at_ticks"]))
    except (OSError, ValueError, KeyError, TypeError):
        # Half written by a supervisor that died: then nothing of it runs either.
        return None


def _descendants(process: ProcessIdentity) -> list[ProcessIdentity]:
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    known = [ProcessIdentity.of(child.pid) for child in children]
    return [identity for identity in known if identity is not None]
