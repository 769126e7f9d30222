"""The command's process tree, from /proc."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterable

PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def become_subreaper() -> None:
    """Inherit orphans, so that a command's daemons stay in the tree. Linux only, else nothing."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        return


def forbid_new_privileges() -> None:
    """Let no program that this process or its children start gain rights, by setuid for example.

    Cannot be undone. Raises OSError where the kernel refuses; nothing on other systems than Linux.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "prctl"):
        return
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS) failed")


def name_of(pid: int) -> str:
    """Return the name of a process's program, up to 15 characters; "" when it is gone."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().rstrip("\n")
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    """Return the children of a process, [] when it is gone."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                found.extend(int(child) for child in file.read().split())
    except OSError:
        pass
    return found


def descendants(pid: int) -> list[int]:
    """Return all processes below `pid`, parents first."""
    found: list[int] = []
    todo = children(pid)
    while todo:
        child = todo.pop()
        found.append(child)
        todo.extend(children(child))
    return found


def stat_fields(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat after the name, [] when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[-1].decode("ascii").split()
    except OSError:
        return []


def started_at_ticks(pid: int) -> int:
    """Return when a process started, in clock ticks since boot; 0 when it is gone."""
    fields = stat_fields(pid)
    return int(fields[19]) if fields else 0


def rss_bytes(pids: Iterable[int]) -> int:
    """Return the resident memory of processes; what they share counts more than once."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm") as file:
                total += int(file.read().split()[1]) * PAGE_BYTES
        except (OSError, IndexError):
            continue
    return total


def pss_bytes(pids: Iterable[int]) -> int:
    """Return the resident memory of processes; what they share counts once. Slower than RSS."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                pss = next(line for line in file if line.startswith("Pss:"))
            total += int(pss.split()[1]) * 1024
        except (OSError, StopIteration):
            total += rss_bytes([pid])
    return total


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return the CPU time of processes and of the children that they waited for."""
    ticks = 0
    for pid in pids:
        fields = stat_fields(pid)
        ticks += sum(int(value) for value in fields[11:15])
    return ticks / TICKS_PER_S


def kernel_oom_kills() -> int:
    """Return how many processes the kernel has killed for memory since boot."""
    try:
        with open("/proc/vmstat") as file:
            line = next(line for line in file if line.startswith("oom_kill "))
        return int(line.split()[1])
    except (OSError, StopIteration):
        return 0


def signal_all(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to processes that are still there."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def reap() -> None:
    """Take the exit status of every child that has ended, orphans among them."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def wait_and_reap(child: subprocess.Popen[bytes]) -> int:
    """Wait for a child and reap every orphan meanwhile; return its status as Popen does."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child.pid:
            ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            child.returncode = -ended_by if ended_by else os.WEXITSTATUS(status)
            return child.returncode


def kill_descendants(pid: int, patience_s: float = 5.0) -> None:
    """SIGKILL everything below `pid` until nothing is left; orphans come to the subreaper."""
    ends_at_s = time.monotonic() + patience_s
    while time.monotonic() < ends_at_s:
        reap()
        below = descendants(pid)
        if not below:
            return
        # Stop first: a process that is stopped cannot fork faster than we kill.
        signal_all(below, signal.SIGSTOP)
        signal_all(below, signal.SIGKILL)
        time.sleep(0.01)
