"""Starts the user's command and waits for its end, whatever ends it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import processes

NOT_FOUND_EXIT = 127
NOT_EXECUTABLE_EXIT = 126
LEFTOVER_GRACE_S = 2.0


@dataclass(frozen=True)
class Leftover:
    """A process that the command started and that outlived it."""

    pid: int
    name: str


class CommandNotFoundError(Exception):
    """There is nothing to start; the message is a sentence for people."""

    def __init__(self, sentence: str, exit_code: int) -> None:
        """Keep the exit code that a shell would have given."""
        super().__init__(sentence)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Ended:
    """How the command's first process ended: one of the two is None."""

    exit_code: int | None
    signal: int | None


class Command:
    """The command in a process group of its own. Only one thread may call `poll`."""

    def __init__(
        self, arguments: Sequence[str], env: Mapping[str, str], folder: Path, pipes: Sequence[int]
    ) -> None:
        """Start it with (stdout, stderr) on the write ends, closed here. CommandNotFoundError."""
        self._killed_at_s: float | None = None
        self.kernel_kills_before = processes.kernel_oom_kills()
        try:
            program = _find(arguments[0], env, folder)
            self._process = subprocess.Popen(
                [program, *arguments[1:]],
                env=dict(env),
                cwd=str(folder),
                stdin=subprocess.DEVNULL,
                stdout=pipes[0],
                stderr=pipes[1],
                start_new_session=True,
            )
        except OSError as error:
            raise CommandNotFoundError(
                f"{arguments[0]!r} cannot be started: {error.strerror}.", NOT_EXECUTABLE_EXIT
            ) from error
        finally:
            for pipe in pipes:
                os.close(pipe)
        self.pid = self._process.pid

    def poll(self) -> Ended | None:
        """Reap whatever ended; return how the command ended once it has."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return None
            if pid == 0:
                return None
            if pid == self.pid:
                # Popen must not wait for it again.
                self._process.returncode = status
                return _ended(status)

    def terminate(self, grace_s: float) -> None:
        """Ask the whole group to end; `enforce` kills it after the grace."""
        if self._killed_at_s is None:
            self._killed_at_s = time.monotonic() + grace_s
            self._signal_group(signal.SIGTERM)

    def kill(self) -> None:
        """End everything at once."""
        self._killed_at_s = time.monotonic()
        self._signal_group(signal.SIGKILL)
        processes.signal_all(processes.descendants(os.getpid()), signal.SIGKILL)

    def enforce(self) -> None:
        """Kill what has outlived its grace."""
        if self._killed_at_s is not None and time.monotonic() >= self._killed_at_s:
            self.kill()

    def leftovers(self) -> list[Leftover]:
        """Return the processes of the command that still run."""
        self.poll()
        running = ((pid, processes.name_of(pid)) for pid in processes.descendants(os.getpid()))
        return [Leftover(pid, name) for pid, name in running if name]

    def end_leftovers(self) -> None:
        """End what the command left behind, politely first."""
        left = processes.descendants(os.getpid())
        processes.signal_all(left, signal.SIGTERM)
        ends_at_s = time.monotonic() + LEFTOVER_GRACE_S
        while processes.descendants(os.getpid()) and time.monotonic() < ends_at_s:
            self.poll()
            time.sleep(0.01)
        processes.kill_descendants(os.getpid())
        self.poll()

    def _signal_group(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return


def _find(name: str, env: Mapping[str, str], folder: Path) -> str:
    if "/" in name:
        path = folder / name
        if not path.exists():
            raise CommandNotFoundError(
                f"The file {name!r} does not exist in the working folder.", NOT_FOUND_EXIT
            )
        if path.is_dir() or not os.access(str(path), os.X_OK):
            raise CommandNotFoundError(f"{name!r} is not an executable file.", NOT_EXECUTABLE_EXIT)
        return str(path)
    found = shutil.which(name, path=env.get("PATH", os.defpath))
    if not found:
        raise CommandNotFoundError(
            f"The command {name!r} was not found on the job's PATH.", NOT_FOUND_EXIT
        )
    return found


def _ended(status: int) -> Ended:
    if os.WIFSIGNALED(status):
        return Ended(None, os.WTERMSIG(status))
    return Ended(os.WEXITSTATUS(status), None)
