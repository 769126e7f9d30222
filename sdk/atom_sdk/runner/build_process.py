"""Runs the commands of a build, and passes their lines on."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .api import ApiError, RevokedError, UnreachableError
from .evidence import storable
from .join import say

TAIL_LINES = 200
_SEND_EVERY_S = 1.0
_LONGEST_LINE = 2000


class BuildError(Exception):
    """A command of the build failed; its lines say why."""


class BuildOutput:
    """The last lines of a build; `send` takes them as one text, at most once a second."""

    def __init__(self, send: Callable[[str], object]) -> None:
        """Send to the server by `send`, which may raise ApiError and UnreachableError."""
        self._send = send
        self._lines: deque[str] = deque(maxlen=TAIL_LINES)
        self._sent_at_s = float("-inf")

    def line(self, text: str) -> None:
        """Take one line. Raises RevokedError once the server does not want the build any more."""
        self._lines.append(storable(text[:_LONGEST_LINE]))
        say(text)
        if time.monotonic() - self._sent_at_s >= _SEND_EVERY_S:
            self.send()

    def tail(self) -> str:
        """Return the last lines."""
        return "\n".join(self._lines)

    def send(self) -> None:
        """Send the last lines now. Raises RevokedError."""
        self._sent_at_s = time.monotonic()
        try:
            self._send(self.tail())
        except RevokedError:
            raise
        except (ApiError, UnreachableError) as error:
            # The log is for people: the build does not need it.
            say(f"The log was not sent: {error}")


def run_command(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, output: BuildOutput
) -> None:
    """Run a command to its end, whatever ends it. Raises BuildError, RevokedError."""
    process = subprocess.Popen(
        list(command),
        env=dict(environment),
        cwd=str(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
        start_new_session=True,
    )
    try:
        for line in process.stdout or ():
            output.line(line.rstrip())
        process.wait()
    finally:
        # A child that outlives its command would write to the environment while it is packed.
        _kill_group(process.pid)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if process.returncode != 0:
        raise BuildError(f"The command ended with exit code {process.returncode}.")


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
