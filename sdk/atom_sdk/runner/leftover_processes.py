"""Processes that outlive the command: waited for, then ended, and named with their pid."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from .command import Command, Leftover

# Helpers of a program end within moments of it: nobody needs to hear of them.
UNTOLD_S = 1.0
_SHOWN = 20
_POLL_S = 0.05


def settle(
    command: Command, wait_s: float, must_stop: Callable[[], bool], say: Callable[[str], None]
) -> dict[str, Any] | None:
    """Wait for what the command left, then end it; return what was ended, for the exit report.

    `wait_s` bounds the wait after `UNTOLD_S`; 0 ends what is left at once. `say` writes to the log.
    """
    _wait(command, UNTOLD_S, must_stop)
    left = command.leftovers()
    if left and wait_s and not must_stop():
        say(_waiting(left, wait_s))
        _wait(command, wait_s, must_stop)
        left = command.leftovers()
    command.end_leftovers()
    if not left:
        return None
    say(f"Ended {_processes(left)} that outlived the command: {_names(left)}.")
    ended = [{"pid": one.pid, "name": one.name} for one in left[:_SHOWN]]
    return {"count": len(left), "processes": ended}


def _wait(command: Command, wait_s: float, must_stop: Callable[[], bool]) -> None:
    ends_at_s = time.monotonic() + wait_s
    while command.leftovers() and not must_stop() and time.monotonic() < ends_at_s:
        time.sleep(_POLL_S)


def _waiting(left: Sequence[Leftover], wait_s: float) -> str:
    run, has = ("runs", "It has") if len(left) == 1 else ("run", "They have")
    of_it = f"{_processes(left)} of it still {run}: {_names(left)}."
    return f"The command has ended. {of_it} {has} {wait_s:g} s."


def _processes(left: Sequence[Leftover]) -> str:
    return "1 process" if len(left) == 1 else f"{len(left)} processes"


def _names(left: Sequence[Leftover]) -> str:
    shown = ", ".join(f"{one.name} (pid {one.pid})" for one in left[:_SHOWN])
    return shown if len(left) <= _SHOWN else f"{shown} and {len(left) - _SHOWN} more"
