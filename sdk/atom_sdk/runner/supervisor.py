"""`supervise`: outlives the worker, follows a killed runner with a drain, is adopted by pid."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import processes
from .config import AttemptPaths, ConfigError, Job, load_job, write_json
from .ownership import dropper, hand_over

DRAIN_TRIES = 5
DRAIN_DELAY_S = 1.0
PIPE_BYTES = 1024 * 1024
F_SETPIPE_SZ = 1031
NOT_REPORTED, UNUSABLE = 3, 4


def supervise(root: Path, *, detach: bool) -> int:
    """Run the attempt to its exit report; with `detach` return once it is being supervised."""
    paths = AttemptPaths(root)
    try:
        job = load_job(paths)
    except ConfigError as error:
        print(f"runner: {error}", file=sys.stderr, flush=True)
        return UNUSABLE
    if not detach:
        announce(paths, job)
    elif not _detach(paths, job):
        return 0
    paths.make_folders()
    return Supervisor(job, paths).supervise()


class Supervisor:
    """Keeps one `run` alive, or its drain."""

    def __init__(self, job: Job, paths: AttemptPaths) -> None:
        """Make the command's pipes: their read ends live as long as this process."""
        self._paths = paths
        self._child: subprocess.Popen[bytes] | None = None
        self._pipes = (*os.pipe(), *os.pipe())
        self._in_pod = job.limits.pod_grace_s > 0
        self.terminated = False
        for pipe in self._pipes[::2]:
            _widen(pipe)
        self._before_exec: Callable[[], None] = processes.forbid_new_privileges
        if os.geteuid() == 0 and job.uid is not None and job.gid is not None:
            hand_over(paths, job.uid, job.gid)
            self._before_exec = dropper(job.uid, job.gid)

    def supervise(self) -> int:
        """Return the exit status of the runner that reported, or of the last that tried."""
        processes.become_subreaper()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._forward)
        read_ends = self._pipes[::2]
        status = self._start([], self._pipes, close=self._pipes[1::2])
        for tries in range(DRAIN_TRIES):
            # A process that outlived its runner must not go on unseen.
            processes.kill_descendants(os.getpid())
            if status in (0, UNUSABLE):
                break
            if self._in_pod and status == NOT_REPORTED:
                break  # the time for reports has passed
            if tries:
                time.sleep(DRAIN_DELAY_S * 2**tries)
            status = self._start(["--drain"], read_ends)
        return status

    def _start(self, options: list[str], pipes: Sequence[int], close: Sequence[int] = ()) -> int:
        numbers = ",".join(str(pipe) for pipe in pipes)
        program = [sys.executable, *_entry_point(), "run", str(self._paths.root)]
        if self._in_pod:
            # The child inherits the mask and takes it off when it is ready for the signal.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        self._child = subprocess.Popen(
            [*program, *options, f"--pipes={numbers}"],
            stdin=subprocess.DEVNULL,
            pass_fds=tuple(pipes),
            preexec_fn=self._before_exec,  # noqa: PLW1509 - this process has one thread
        )
        for pipe in close:
            os.close(pipe)
        if self._in_pod:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return processes.wait_and_reap(self._child)

    def _forward(self, number: int, _: Any) -> None:
        self.terminated = self.terminated or number == signal.SIGTERM
        if self._child and self._child.returncode is None:
            # Not by Popen: it would take the exit status away from the wait.
            processes.signal_all([self._child.pid], signal.Signals(number))


def announce(paths: AttemptPaths, job: Job) -> None:
    """Write the adoption data of this process."""
    pid = os.getpid()
    record = {
        "pid": pid,
        "started_at_ticks": processes.started_at_ticks(pid),
        "uid": job.uid if os.geteuid() == 0 and job.uid is not None else os.geteuid(),
    }
    write_json(paths.supervisor, record)


def _detach(paths: AttemptPaths, job: Job) -> bool:
    """Go on in a session of our own; return False in the first process, once the other is known."""
    ready, known = os.pipe()
    if os.fork():
        os.close(known)
        os.read(ready, 1)  # ends when the other process closes its end
        return False
    os.close(ready)
    os.setsid()
    _redirect(paths.root / "supervisor.log")
    announce(paths, job)
    os.close(known)
    return True


def _redirect(log: Path) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    out = os.open(str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640)
    for target, source in ((0, null), (1, out), (2, out)):
        os.dup2(source, target)


def _entry_point() -> list[str]:
    """Return the arguments that start this program again: the zipapp, or the package."""
    if zipfile.is_zipfile(sys.argv[0]):
        return [os.path.abspath(sys.argv[0])]
    return ["-m", __package__ or "atom_sdk.runner"]


def _widen(pipe: int) -> None:
    try:
        fcntl.fcntl(pipe, F_SETPIPE_SZ, PIPE_BYTES)
    except OSError:
        return  # over the user's share of pipe memory: a smaller pipe works as well
