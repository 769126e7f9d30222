"""The launcher's description of one process."""

import re
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


def _nothing() -> None:
    """Prepare nothing."""


def _at_once() -> bool:
    """Be ready as soon as started, and able to work."""
    return True


@dataclass(frozen=True)
class ProcessSpec:
    """One long-running process.

    `prepare` runs before each start, `is_ready` is asked until it answers True; both may block.
    `death_signal` is what the kernel sends it when the launcher is killed (the stop signal unless
    given). A line of its output in which `complaint` is found says that it cannot work any more: it
    is ended, to be started again, if `can_work` (which may block) says that a new one could.
    `as_namespaced_user` runs it in a user namespace when we are root (PostgreSQL refuses root).
    """

    name: str
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[], None] = _nothing
    is_ready: Callable[[], bool] = _at_once
    ready_timeout_s: float = 60.0
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals | None = None
    complaint: re.Pattern[str] | None = None
    can_work: Callable[[], bool] = _at_once
    as_namespaced_user: bool = False
