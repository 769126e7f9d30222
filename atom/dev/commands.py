"""The launcher's commands: up, start, down and status."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from atom.dev.cleanup import end_processes, job_supervisors, leftover_processes
from atom.dev.config import Installation
from atom.dev.identity import signal_process, wait_until_gone
from atom.dev.launcher import Launcher
from atom.dev.output import Terminal
from atom.dev.ports import PortBusyError
from atom.dev.process import StartFailedError
from atom.dev.release import fingerprint
from atom.dev.state import (
    READY,
    AlreadyRunningError,
    StackState,
    forget_state,
    is_locked,
    load_state,
)
from atom.settings.environment import BASE_DIR

# Each process has a limit of its own; a machine with other work takes minutes to migrate.
START_TIMEOUT_S = 600.0
STOP_TIMEOUT_S = 8.0
FIRST_STATE_TIMEOUT_S = 2.0
NOT_RUNNING_CODE = 3
TAIL_LINES = 25


def up(installation: Installation, *, is_in_background: bool = False) -> int:
    """Run the stack until Ctrl+C or SIGTERM; in the foreground with what its processes print."""
    launcher = Launcher(installation, Terminal(), is_in_background=is_in_background)
    try:
        asyncio.run(launcher.run())
    except (AlreadyRunningError, PortBusyError, StartFailedError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def start(installation: Installation) -> int:
    """Run the stack in the background; return when it is ready. Fine if it already is.

    One that runs an older program is started again; its running jobs go on in a new attempt.
    """
    state = running_state(installation)
    if state is not None and state.phase == READY:
        if state.program == fingerprint():
            print(f"Atom already runs at {state.url} (pid {state.launcher.pid}).")
            return 0
        print("Atom has changed since it was started: starting it again.")
        _stop_launcher(state)
    installation.create_folders()
    log_path = installation.logs_dir / "launcher.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "atom.dev", "up", "--background"],
            cwd=BASE_DIR,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return _wait_until_ready(installation, process, log_path)


def down(installation: Installation) -> int:
    """Stop the stack and what earlier ones left; return when nothing of it runs."""
    running = _await_state_of_starting_launcher(installation)
    state = load_state(installation.run_dir)
    if running is not None:
        _stop_launcher(running)
    launcher = [running.launcher] if running is not None else []
    ended = end_processes(
        [*launcher, *leftover_processes(state), *job_supervisors(installation.home)]
    )
    forget_state(installation.run_dir)
    print("Atom is stopped." if running or ended else "Atom was not running.")
    return 0


def _stop_launcher(state: StackState) -> None:
    signal_process(state.launcher.pid, signal.SIGTERM)
    wait_until_gone([state.launcher], STOP_TIMEOUT_S)


def status(installation: Installation, *, as_json: bool) -> int:
    """Print what runs; exit code 0 when everything is ready, 3 when not."""
    state = running_state(installation)
    if as_json:
        print(json.dumps(_describe(state), indent=2))
    elif state is None:
        print(f"Atom does not run in {installation.home}.")
    else:
        _print_table(state)
    return 0 if state is not None and _is_all_ready(state) else NOT_RUNNING_CODE


def _is_all_ready(state: StackState) -> bool:
    """Whether it has started, and no process is being started again."""
    return state.phase == READY and all(one.phase == READY for one in state.processes.values())


def running_state(installation: Installation) -> StackState | None:
    """Return the state of the launcher that runs now, or None."""
    state = load_state(installation.run_dir)
    return state if state is not None and state.launcher.is_alive() else None


def _await_state_of_starting_launcher(installation: Installation) -> StackState | None:
    """Return the running launcher's state, waiting for one that has only just taken the lock."""
    deadline = time.monotonic() + FIRST_STATE_TIMEOUT_S
    state = running_state(installation)
    while state is None and is_locked(installation.run_dir) and time.monotonic() < deadline:
        time.sleep(0.05)
        state = running_state(installation)
    return state


def _wait_until_ready(
    installation: Installation, process: subprocess.Popen[bytes], log_path: Path
) -> int:
    deadline = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        state = running_state(installation)
        if state is not None and state.launcher.pid == process.pid and state.phase == READY:
            print(f"Atom runs at {state.url} (pid {process.pid}).")
            return 0
        time.sleep(0.1)
    tail = log_path.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
    print("\n".join([*tail, f"Atom did not start; the whole log is {log_path}"]), file=sys.stderr)
    return 1


def _describe(state: StackState | None) -> dict[str, object]:
    if state is None:
        return {"phase": "stopped", "processes": []}
    processes = [
        {
            "name": entry.name,
            "phase": entry.phase,
            "pid": entry.identity.pid if entry.identity else None,
            "restarts": entry.restarts,
            "rss_bytes": _rss_bytes(entry.identity.pid) if entry.identity else 0,
        }
        for entry in state.processes.values()
    ]
    launcher = {
        "name": "launcher",
        "phase": state.phase,
        "pid": state.launcher.pid,
        "restarts": 0,
        "rss_bytes": psutil.Process(state.launcher.pid).memory_info().rss,
    }
    return {"phase": state.phase, "url": state.url, "processes": [launcher, *processes]}


def _rss_bytes(pid: int) -> int:
    """Return the resident memory of a process and its children, shared pages counted once each."""
    total = 0
    try:
        parent = psutil.Process(pid)
        for process in (parent, *parent.children(recursive=True)):
            total += process.memory_full_info().pss
    except psutil.NoSuchProcess:
        return total
    return total


def _print_table(state: StackState) -> None:
    described = _describe(state)
    rows = described["processes"]
    print(f"{state.url}  {state.phase}")
    print(f"{'process':<10}{'state':<10}{'pid':>8}{'restarts':>10}{'memory':>10}")
    total = 0
    for row in rows if isinstance(rows, list) else []:
        total += row["rss_bytes"]
        memory = f"{row['rss_bytes'] / 2**20:.0f} MB"
        pid = row["pid"] or "-"
        print(f"{row['name']:<10}{row['phase']:<10}{pid:>8}{row['restarts']:>10}{memory:>10}")
    print(f"{'':<38}{total / 2**20:>7.0f} MB")
