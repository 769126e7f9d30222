"""`run` and `run --drain`: one attempt from its preparation to its exit report."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import evidence, leftover_processes, processes
from .api import Api, ApiError, UnreachableError
from .command import Command, CommandNotFoundError, Ended
from .config import AttemptPaths, ConfigError, Job, load_job
from .declared_failure import declared_failure
from .disk import refusal_of
from .environment import build_environment
from .exit_reason import Observed, report
from .memory import MemoryWatch
from .preemption import Preemption
from .preparation import PreparationError, prepare
from .pump import LogPump
from .reporting import Reporting, earlier_report
from .system import SystemSampler

LAST_WORDS_S = 5.0
# How long the exit report waits for the report of the start, which a busy server may be at.
STARTED_S = 10.0
OK, NOT_REPORTED, UNUSABLE = 0, 3, 4


def run(root: Path, inherited_pipes: Sequence[int]) -> int:
    """Run the attempt's command and report. `inherited_pipes` are read, write, read, write ends."""
    os.umask(0o077)
    processes.become_subreaper()
    paths = AttemptPaths(root)
    try:
        job = load_job(paths)
        paths.make_folders()
        session = Session(job, paths, _pipes(inherited_pipes))
    except (ConfigError, OSError) as error:
        print(f"runner: {error}", file=sys.stderr, flush=True)
        return UNUSABLE
    signal.signal(signal.SIGTERM, session.on_terminate)
    signal.signal(signal.SIGINT, session.on_terminate)
    # In a pod, the supervisor holds the signal back until here.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    return OK if session.run() else NOT_REPORTED


def drain(root: Path, read_ends: Sequence[int]) -> int:
    """Send what a lost runner left, and report that it was lost unless it wrote its report."""
    os.umask(0o077)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    paths = AttemptPaths(root)
    try:
        job = load_job(paths)
        paths.make_folders()
    except (ConfigError, OSError) as error:
        print(f"runner: {error}", file=sys.stderr, flush=True)
        return UNUSABLE
    before = earlier_report(paths)
    if before and before.get("reported"):
        return OK
    reporting = Reporting(job, paths, "draining")
    tail = reporting.spool.tail(evidence.TAIL_BYTES)
    reporting.start()
    if read_ends:
        pump = LogPump(reporting.spool, read_ends, job.secrets.values())
        pump.start()
        pump.finish(1.0)
        tail += pump.tail
    return OK if reporting.finish(before or _lost(tail)) else NOT_REPORTED


class Session:
    """One attempt of this process."""

    def __init__(self, job: Job, paths: AttemptPaths, pipes: Sequence[int]) -> None:
        """Take the pipes' (read, write, read, write) ends for stdout and stderr."""
        self._job = job
        self._paths = paths
        self._write_ends: Sequence[int] = (pipes[1], pipes[3])
        self._reporting = Reporting(job, paths, "preparing")
        pipe_ends = (pipes[0], pipes[2])
        self._pump = LogPump(self._reporting.spool, pipe_ends, job.secrets.values())
        self._memory = MemoryWatch(job.memory_bytes, self._on_memory_exceeded)
        visible = job.env.get("CUDA_VISIBLE_DEVICES")
        self._sampler = SystemSampler(self._reporting.metrics.add, paths.root, visible)
        self._terminated = False
        grace_s = job.limits.pod_grace_s
        self._preemption = Preemption(grace_s) if grace_s > 0 else None
        self._memory_exceeded = False
        self._ended_by_memory = False
        self._stopped_for = ""
        self._announcing: threading.Thread | None = None

    def on_terminate(self, *_: object) -> None:
        """Remember a SIGTERM; the loop acts on it. In a pod, all must end within its grace."""
        if not self._terminated and self._preemption:
            self._preemption.begin(self._reporting)
        self._terminated = True

    def run(self) -> bool:
        """Return whether the server has the exit report, or does not want one."""
        self._reporting.metrics.on_refused = self._pump.say
        self._reporting.start()
        self._pump.start()
        try:
            exit_report = self._run_command()
        except (PreparationError, CommandNotFoundError) as error:
            exit_report = self._never_started(error)
        if self._reporting.heartbeat.revoked:
            self._reporting.api.abandon()
            return True
        self._reporting.heartbeat.enter("finalizing")
        if self._announcing is not None:
            # After the exit report, that the command started would come too late to count.
            self._announcing.join(STARTED_S)
        return self._reporting.finish(exit_report)

    def _run_command(self) -> dict[str, Any]:
        folder = prepare(self._job, self._paths, self._reporting.api, self._must_stop)
        env = build_environment(self._job, self._paths)
        write_ends, self._write_ends = self._write_ends, ()
        command = Command(self._job.command, env, folder, write_ends)
        self._reporting.heartbeat.enter("running")
        self._announce(command.pid)
        self._memory.start()
        self._sampler.start()
        ended = self._watch(command)
        # At once: it may pass before the last words are in.
        disk = refusal_of(self._paths.root)
        # Before the leftovers: memory that they take is no fault of the command.
        self._ended_by_memory = self._memory_exceeded
        left = self._settle_leftovers(command, ended)
        self._memory.finish()
        self._sampler.finish()
        self._pump.finish(LAST_WORDS_S)
        found = report(self._observed(command, ended, disk))
        if left:
            found["evidence"]["leftovers"] = left
        return found

    def _settle_leftovers(self, command: Command, ended: Ended) -> dict[str, Any] | None:
        """End what outlived the command; return what was ended, None if the runner ended it all."""
        if self._stopped_for or self._ended_by_memory:
            command.end_leftovers()
            return None
        wait_s = self._job.limits.leftover_s if ended.exit_code == 0 else 0.0
        return leftover_processes.settle(
            command, wait_s, lambda: self._must_stop() or self._memory_exceeded, self._pump.say
        )

    def _watch(self, command: Command) -> Ended:
        """Wait for the command's end and end it when something asks for it."""
        timeout_s = self._job.timeout_s or float("inf")
        ends_at_s = time.monotonic() + timeout_s
        while True:
            ended = command.poll()
            if ended:
                return ended
            if self._memory_exceeded:
                command.kill()
            elif not self._stopped_for and (self._must_stop() or time.monotonic() > ends_at_s):
                self._stop(command, timed_out=not self._must_stop())
            command.enforce()
            time.sleep(self._job.limits.poll_s)

    def _stop(self, command: Command, *, timed_out: bool) -> None:
        if timed_out:
            self._stopped_for = "timeout"
        else:
            self._stopped_for = self._why_stopped()
        grace_s = self._job.limits.grace_s
        if self._preemption:
            grace_s = self._preemption.command_grace_s(grace_s)
        self._pump.say(f"Ending the command ({self._stopped_for}); it has {grace_s:g} s.")
        command.terminate(grace_s)
        self._reporting.outputs.sync_soon()

    def _must_stop(self) -> bool:
        heartbeat = self._reporting.heartbeat
        return self._terminated or heartbeat.cancel or heartbeat.revoked

    def _why_stopped(self) -> str:
        if self._preemption and self._terminated:
            return self._preemption.reason(self._reporting)
        # A cancel often comes as a signal before the heartbeat has heard of it.
        cancelled = self._reporting.heartbeat.ask_now(2.0)
        return "cancelled" if cancelled else "runner_lost"

    def _final_reason(self) -> str:
        # A cancel that became known during the grace explains the signal.
        if self._stopped_for == "preempted" and self._reporting.heartbeat.cancel:
            return "cancelled"
        return self._stopped_for

    def _on_memory_exceeded(self) -> None:
        self._memory_exceeded = True

    def _announce(self, pid: int) -> None:
        # In the background: the command must not wait for a server that is away.
        self._announcing = threading.Thread(
            target=_post_started, args=(self._reporting.api, pid), daemon=True
        )
        self._announcing.start()

    def _never_started(self, error: Exception) -> dict[str, Any]:
        for pipe in self._write_ends:
            os.close(pipe)
        disk = refusal_of(self._paths.root)
        self._pump.say(str(error))
        self._pump.finish(1.0)
        code, reason = getattr(error, "exit_code", 1), "not_found"
        if isinstance(error, PreparationError):
            reason = "exited"
            if self._must_stop():
                reason = self._why_stopped()
        found = evidence.describe(self._pump.tail, b"", str(error))
        found.update(
            stage="preparation", traceback=str(error), passing=getattr(error, "passing", False)
        )
        if disk:
            found["disk"] = disk
        return {"exit_code": code, "signal": None, "reason": reason, "evidence": found}

    def _observed(self, command: Command, ended: Ended, disk: str) -> Observed:
        return Observed(
            ended=ended,
            stopped_for=self._final_reason(),
            memory_exceeded=self._ended_by_memory,
            kernel_oom_kills=processes.kernel_oom_kills() - command.kernel_kills_before,
            peak_memory_bytes=self._memory.peak_bytes,
            memory_limit_bytes=self._job.memory_bytes,
            timeout_s=self._job.timeout_s,
            log_tail=self._pump.tail,
            stderr_tail=self._pump.stderr_tail,
            disk=disk,
            declared=declared_failure(self._paths),
        )


def _post_started(api: Api, pid: int) -> None:
    try:
        api.post("started/", {"pid": pid})
    except (ApiError, UnreachableError):
        return


def _pipes(inherited: Sequence[int]) -> Sequence[int]:
    return inherited if len(inherited) == 4 else (*os.pipe(), *os.pipe())


def _lost(tail: bytes) -> dict[str, Any]:
    message = "The runner was killed or crashed, so its command was ended."
    return {
        "exit_code": None,
        "signal": None,
        "reason": "runner_lost",
        "evidence": evidence.describe(tail, tail, message),
    }
