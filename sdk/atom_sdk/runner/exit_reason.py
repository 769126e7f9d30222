"""Why a command ended, from everything that was seen."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Any

from . import evidence
from .command import NOT_FOUND_EXIT, Ended


@dataclass(frozen=True)
class Observed:
    """The runner's observations of one command."""

    ended: Ended
    stopped_for: (
        str  # "", "cancelled", "timeout", "preempted", "runner_lost": why the runner ended it
    )
    memory_exceeded: bool
    kernel_oom_kills: int
    peak_memory_bytes: int
    memory_limit_bytes: int
    timeout_s: float
    log_tail: bytes
    stderr_tail: bytes
    disk: str = ""  # why the disk of the attempt's folder took nothing at the end
    declared: dict[str, Any] | None = None  # the reason that the command itself left


def report(seen: Observed) -> dict[str, Any]:
    """Return the exit report without its counters."""
    reason, message = _reason(seen)
    more: dict[str, Any] = {"disk": seen.disk} if seen.disk else {}
    if seen.declared:
        more["declared"] = seen.declared
    return {
        "exit_code": seen.ended.exit_code,
        "signal": seen.ended.signal,
        "reason": reason,
        "evidence": {
            **evidence.describe(
                seen.log_tail,
                seen.stderr_tail,
                message,
                peak_memory_bytes=seen.peak_memory_bytes,
                memory_limit_bytes=seen.memory_limit_bytes,
            ),
            **more,
        },
    }


def _reason(seen: Observed) -> tuple[str, str]:
    if seen.memory_exceeded:
        used, limit = _gib(seen.peak_memory_bytes), _gib(seen.memory_limit_bytes)
        return "oom", f"The command used {used}, more than its {limit} of memory, and was ended."
    if seen.stopped_for == "timeout":
        return "timeout", f"The command ran longer than {seen.timeout_s:g} s and was ended."
    if seen.stopped_for == "cancelled":
        return "cancelled", "The run was cancelled."
    if seen.stopped_for == "preempted":
        return "preempted", "The cluster took the machine away, so the command was ended."
    if seen.stopped_for:
        return seen.stopped_for, "The runner was asked to stop, so the command was ended."
    return _own_end(seen)


def _own_end(seen: Observed) -> tuple[str, str]:
    code, number = seen.ended.exit_code, seen.ended.signal
    if code == 0:
        return "exited", "The command ended normally."
    killed = number == signal.SIGKILL or code == 128 + signal.SIGKILL
    if killed and seen.kernel_oom_kills:
        peak = _gib(seen.peak_memory_bytes)
        return "oom", f"The kernel ended the command because memory ran out (it used {peak})."
    if evidence.ran_out_of_memory(seen.stderr_tail):
        return "oom", "The command could not get the memory that it asked for."
    if code == NOT_FOUND_EXIT:
        return "not_found", "A command that the script calls was not found."
    if number is not None:
        return "exited", f"The command was ended by {signal.Signals(number).name}."
    return "exited", f"The command ended with exit code {code}."


def _gib(size_bytes: int) -> str:
    if size_bytes < 1024**3:
        return f"{size_bytes / 1024**2:.0f} MiB"
    return f"{size_bytes / 1024**3:.2f} GiB"
