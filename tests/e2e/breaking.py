"""Breaks a running stack and its jobs, by pid, and reads what is left of them."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import psutil

from atom.jobs.metrics.engines.points import decode
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, NetworkError
from atom_sdk.client.runs import TERMINAL
from tests.stack import Stack

# Much longer than anything takes on an idle machine; a loaded one that also builds the jobs'
# environment meanwhile needs it.
PATIENCE_S = 120.0
# How often is asked what lasts; each question costs the stack under test some milliseconds.
EVERY_S = 0.2
# How often is asked what may be over in a moment.
MOMENT_S = 0.05
T = TypeVar("T")


def wait_for(
    found: Callable[[], T | None],
    what: str,
    timeout_s: float = PATIENCE_S,
    every_s: float = EVERY_S,
) -> T:
    """Return the first true answer; a server that is away is asked again.

    Raises AssertionError in time.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        with contextlib.suppress(NetworkError, ApiError):
            if answer := found():
                return answer
        assert time.monotonic() < deadline, f"not within {timeout_s:g} s: {what}"
        time.sleep(every_s)


def wait_for_row(stack: Stack, statement: str, what: str) -> None:
    """Wait until the statement finds a row in the stack's database, through one connection."""
    with stack.connect() as connection:
        connection.autocommit = True
        wait_for(lambda: connection.execute(statement).fetchone(), what, every_s=MOMENT_S)


def settled(read: Callable[[], T], quiet_s: float = 0.7) -> T:
    """Return what is read once it stays the same: a request may outlive its client for a moment."""
    before = read()
    while True:
        time.sleep(quiet_s)
        if (now := read()) == before:
            return now
        before = now


def kill(stack: Stack, *names: str) -> None:
    """End processes of the launcher's with SIGKILL, all at the same moment."""
    pids = {name: stack.pid_of(name) for name in names}
    for name, pid in pids.items():
        assert pid is not None, f"{name} does not run"
        os.kill(pid, signal.SIGKILL)


def kill_with_children(stack: Stack, name: str) -> None:
    """End a process and its children at the same moment: nobody finishes what they were at."""
    pid = stack.pid_of(name)
    assert pid is not None, f"{name} does not run"
    children = psutil.Process(pid).children(recursive=True)
    for process in (psutil.Process(pid), *children):
        process.kill()


def kill_and_await_return(stack: Stack, *names: str) -> None:
    """Kill processes and wait until the launcher has each of them running again."""
    before = {name: stack.restarts_of(name) for name in names}
    kill(stack, *names)
    wait_for(lambda: all(stack.restarts_of(name) > before[name] for name in names), "the end")
    await_all(stack)


def await_all(stack: Stack) -> None:
    """Wait until every process of the stack is ready."""
    wait_for(lambda: all(stack.is_up(name) for name in stack.process_names()), "all are ready")


def start_script(client: Client, name: str, script: str, **body: Any) -> str:
    """Start `python -c script` and return the run's id."""
    command = ["python", "-c", script]
    return str(client.runs.create(name=name, command=command, **body)["id"])


def log_of(client: Client, run: str, attempt: int | None = None) -> list[str]:
    """Return the lines of an attempt's log; the last attempt's if none is named."""
    return "".join(client.runs.log(run, attempt=attempt)).splitlines()


def numbers_in(lines: list[str]) -> list[int]:
    """Return n of each line `line n`, in the order of the log."""
    return [int(line.split()[1]) for line in lines if line.startswith("line ")]


def await_line(client: Client, run: str, line: str) -> None:
    """Wait until the server has acknowledged a line of the last attempt."""
    wait_for(lambda: line in log_of(client, run), f"{line!r} in the log of {run}")


def steps_of(client: Client, run: str, key: str) -> list[int]:
    """Return the steps of a curve in their order, each once."""
    answer = client.http.get(f"runs/{run}/metrics/series/", key=key, points=100_000)
    return [int(step) for series in answer["series"] for step in series["steps"]]


def stored_steps_of(stack: Stack, attempt: dict[str, Any], key: str) -> list[int]:
    """Return the steps of an attempt's points as they are stored, with any that came twice."""
    chunks = stack.query(
        "SELECT c.data FROM jobs_metricchunk c JOIN jobs_metricseries s ON s.id = c.series_id "
        f"WHERE s.attempt_id = '{attempt['id']}' AND s.key = '{key}' ORDER BY c.seq"
    )
    return [int(step) for (data,) in chunks for step in decode(bytes(data)).steps]


def await_end(client: Client, run: str, timeout_s: float = PATIENCE_S) -> dict[str, Any]:
    """Return the run once it is over."""

    def ended() -> dict[str, Any] | None:
        found = client.runs.get(run)
        return found if found["state"] in TERMINAL else None

    return wait_for(ended, f"the end of {run}", timeout_s)


def attempts_of(client: Client, run: str) -> list[dict[str, Any]]:
    """Return the attempts, oldest first."""
    return sorted(client.runs.get(run)["attempts"], key=lambda one: int(one["number"]))


def folder_of(stack: Stack, attempt: dict[str, Any]) -> Path:
    """Return the attempt's folder."""
    return stack.home / "attempts" / str(attempt["id"])


def supervisor_of(stack: Stack, attempt: dict[str, Any]) -> psutil.Process:
    """Return the attempt's supervisor."""
    for process in processes_of(stack, attempt):
        if "supervise" in process.cmdline():
            return process
    raise AssertionError("the attempt has no supervisor")


def runner_of(stack: Stack, attempt: dict[str, Any]) -> psutil.Process:
    """Return the attempt's runner: the process that started the command."""
    for process in processes_of(stack, attempt):
        words = process.cmdline()
        if "run" in words and "supervise" not in words:
            return process
    raise AssertionError("the attempt has no runner")


def processes_of(stack: Stack, attempt: dict[str, Any]) -> list[psutil.Process]:
    """Return what runs of an attempt: its supervisor and runner, and what has its environment."""
    return [one for one in psutil.process_iter() if _belongs(one, folder_of(stack, attempt))]


def _belongs(process: psutil.Process, folder: Path) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        words = process.cmdline()
        return str(folder) in words or process.environ().get("ATOM_RUN_DIR") == str(folder)
    except psutil.Error:
        return False


def await_no_process(stack: Stack, client: Client, run: str) -> None:
    """Wait until no process of any attempt of the run is left."""
    attempts = attempts_of(client, run)
    wait_for(lambda: not any(processes_of(stack, one) for one in attempts), f"{run} is gone", 20)


def write_files(folder: Path, count: int, size_bytes: int, seed: int) -> None:
    """Write files of random bytes, the same ones for the same seed."""
    folder.mkdir(parents=True)
    bits = random.Random(seed)
    for number in range(count):
        (folder / f"{number:04d}.bin").write_bytes(bits.randbytes(size_bytes))


def content_of(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder by their paths."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
