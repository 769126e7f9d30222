"""One managed process: start it, follow its output, restart it when it dies, stop it."""

import asyncio
import contextlib
import os
import signal
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Callable
from pathlib import Path

from atom.dev.confine import before_exec
from atom.dev.identity import ProcessIdentity, signal_group, signal_process
from atom.dev.log_file import LogFile
from atom.dev.output import Terminal
from atom.dev.spec import ProcessSpec
from atom.dev.state import READY, STARTING, STOPPING, ProcessState

FIRST_BACKOFF_S, LONGEST_BACKOFF_S = 0.5, 30.0
# A process that lived this long was healthy: its next crash starts with the shortest pause.
HEALTHY_S = 30.0
PROBE_INTERVAL_S = 0.1
# For one that is asked to end while the stack goes on.
PATIENCE_S = 5.0
CHUNK_BYTES = 65_536


class StartFailedError(RuntimeError):
    """A process ended, or was not ready in time, during the start of the stack."""


class ManagedProcess:
    """Runs a ProcessSpec until `stop` is called."""

    def __init__(
        self,
        spec: ProcessSpec,
        logs_dir: Path,
        terminal: Terminal,
        on_change: Callable[[], None],
    ) -> None:
        self.spec = spec
        self.state = ProcessState(spec.name)
        self.log_path = logs_dir / f"{spec.name}.log"
        self._terminal = terminal
        self._on_change = on_change
        self._process: Process | None = None
        self._pump: asyncio.Task[None] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._stopping = False

    async def start(self) -> None:
        """Start and wait until ready, then keep it running. Raises StartFailedError."""
        await self._spawn()
        await self._wait_until_ready()
        self._keeper = asyncio.create_task(self._keep_running())

    async def stop(self, timeout_s: float) -> None:
        """Ask it to stop, kill what is left of its group after the timeout."""
        self._stopping = True
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
        if self._process is not None:
            await self._end(self._process, timeout_s)

    async def _spawn(self) -> None:
        await asyncio.to_thread(self.spec.prepare)
        # In the main thread: a child dies with the thread that forked it.
        self._process = await asyncio.create_subprocess_exec(
            *self.spec.argv,
            cwd=self.spec.cwd,
            env={**os.environ, **self.spec.env},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,
            preexec_fn=before_exec(
                self.spec.death_signal or self.spec.stop_signal,
                as_namespaced_user=self.spec.as_namespaced_user,
            ),
        )
        self._pump = asyncio.create_task(self._follow_output(self._process))
        self._set(STARTING, ProcessIdentity.of(self._process.pid))

    async def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self.spec.ready_timeout_s
        process = self._running()
        while process.returncode is None and time.monotonic() < deadline:
            if await asyncio.to_thread(self.spec.is_ready):
                self._set(READY, self.state.identity)
                return
            await asyncio.sleep(PROBE_INTERVAL_S)
        code = process.returncode
        how = f"ended with code {code}" if code is not None else "did not become ready in time"
        raise StartFailedError(f"{self.spec.name} {how}; see {self.log_path}")

    async def _keep_running(self) -> None:
        """Restart it whenever it ends, with growing pauses."""
        backoff_s = FIRST_BACKOFF_S
        while True:
            started = time.monotonic()
            code = await self._running().wait()
            # Its children would hold its port or its work.
            signal_group(self._running().pid, signal.SIGKILL)
            if time.monotonic() - started > HEALTHY_S:
                backoff_s = FIRST_BACKOFF_S
            self._terminal.line(
                self.spec.name, f"ended with code {code}; starting it again in {backoff_s:g} s"
            )
            self.state.restarts += 1
            self._set(STARTING, None)
            await asyncio.sleep(backoff_s)
            backoff_s = min(backoff_s * 2, LONGEST_BACKOFF_S)
            await self._try_again()

    async def _try_again(self) -> None:
        try:
            await self._spawn()
            await self._wait_until_ready()
        except (StartFailedError, OSError, RuntimeError) as error:
            self._terminal.line(self.spec.name, str(error))
            if self._process is not None:
                signal_group(self._process.pid, signal.SIGKILL)

    async def _end(self, process: Process, timeout_s: float) -> None:
        self._set(STOPPING, self.state.identity)
        if process.returncode is None:
            signal_process(process.pid, self.spec.stop_signal)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), timeout_s)
        signal_group(process.pid, signal.SIGKILL)
        await process.wait()
        if self._pump is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._pump, 0.5)
        self._set("stopped", None)

    async def _follow_output(self, process: Process) -> None:
        """Copy the output to the log file and, line by line, to the terminal."""
        if process.stdout is None:
            return
        rest = b""
        with contextlib.closing(LogFile(self.log_path)) as log:
            while chunk := await process.stdout.read(CHUNK_BYTES):
                log.write(chunk)
                *lines, rest = (rest + chunk).split(b"\n")
                texts = [line.decode("utf-8", "replace").rstrip() for line in lines]
                for text in texts:
                    self._terminal.echo(self.spec.name, text)
                await self._end_if_stuck(process, texts)

    async def _end_if_stuck(self, process: Process, lines: list[str]) -> None:
        """End a process that says that it cannot work any more where a new one could."""
        complaint = self.spec.complaint
        if complaint is None or not any(map(complaint.search, lines)):
            return
        if self.state.phase != READY or not await asyncio.to_thread(self.spec.can_work):
            return
        self._terminal.line(self.spec.name, "cannot work any more, though a new one could")
        self._set(STOPPING, self.state.identity)
        signal_process(process.pid, self.spec.stop_signal)
        asyncio.get_running_loop().call_later(PATIENCE_S, self._kill, process)

    def _kill(self, process: Process) -> None:
        if process.returncode is None:
            signal_group(process.pid, signal.SIGKILL)

    def _running(self) -> Process:
        if self._process is None:
            raise RuntimeError(f"{self.spec.name} was not started")
        return self._process

    def _set(self, phase: str, identity: ProcessIdentity | None) -> None:
        self.state.phase, self.state.identity = phase, identity
        self._on_change()
