"""Runs the whole stack: services, then migrations, then Atom's own processes."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT

from atom.dev.applications import application_specs, common_environment
from atom.dev.cleanup import end_processes, job_supervisors, leftover_processes
from atom.dev.config import Installation
from atom.dev.confine import before_exec
from atom.dev.identity import ProcessIdentity
from atom.dev.output import Terminal
from atom.dev.process import ManagedProcess, StartFailedError
from atom.dev.release import fingerprint
from atom.dev.secret_store import (
    InstallationSecrets,
    load_or_generate,
    secrets_path,
    write_private,
)
from atom.dev.spec import ProcessSpec
from atom.dev.state import (
    READY,
    STOPPING,
    StackState,
    acquire_lock,
    forget_state,
    load_state,
    own_identity,
)
from atom.settings.environment import BASE_DIR
from atom_sdk.amounts import counted

# Together below the five seconds in which everything must have stopped.
STOP_APPLICATIONS_S = 1.9
STOP_SERVICES_S = 1.6
PORTS_PATIENCE_S = 5.0


class Launcher:
    """One run of the stack, from the lock to the last process's end."""

    def __init__(
        self, installation: Installation, terminal: Terminal, *, is_in_background: bool = False
    ) -> None:
        self._installation = installation
        self._terminal = terminal
        self._is_in_background = is_in_background
        self._state = StackState(own_identity(), installation.url, program=fingerprint())
        self._services: list[ManagedProcess] = []
        self._applications: list[ManagedProcess] = []

    async def run(self) -> None:
        """Run until a signal. Raises AlreadyRunningError, PortBusyError, StartFailedError."""
        installation = self._installation
        installation.create_folders()
        with acquire_lock(installation.home, installation.run_dir):
            stop = _stop_event()
            earlier = load_state(installation.run_dir)
            leftovers = leftover_processes(earlier)
            # At once, so that `down` finds this launcher from its first moment on.
            self._save()
            try:
                await self._end_leftovers(leftovers)
                # A process that was killed keeps its ports until the last of its threads has ended.
                patience_s = 0.0 if earlier is None else PORTS_PATIENCE_S
                await asyncio.to_thread(installation.require_free_ports, patience_s)
                await self._start(stop)
                await stop.wait()
            finally:
                await self._stop()

    async def _start(self, stop: asyncio.Event) -> None:
        """Start everything; a stop signal meanwhile ends the start early."""
        starting = asyncio.create_task(self._start_in_order())
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not starting.done():
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            return
        starting.result()

    async def _start_in_order(self) -> None:
        secrets = load_or_generate(self._installation.home)
        self._write_stack_environment(secrets)
        await self._start_group(self._services, self._service_specs(secrets))
        self._terminal.say("bringing the database up to date")
        await self._prepare(secrets)
        await self._start_group(self._applications, application_specs(self._installation))
        self._state.phase = READY
        self._save()
        self._terminal.say(f"ready at {self._installation.url}")
        self._terminal.say(f"login: admin, password in {secrets_path(self._installation.home)}")
        # In the background nobody reads it: its log has no limit, and would copy all others.
        self._terminal.echoes = not self._is_in_background

    def _service_specs(self, secrets: InstallationSecrets) -> list[ProcessSpec]:
        servers = (
            self._installation.postgres(secrets),
            self._installation.valkey(secrets),
            self._installation.seaweed(secrets),
        )
        return [server.spec() for server in servers if server is not None]

    async def _start_group(self, group: list[ManagedProcess], specs: list[ProcessSpec]) -> None:
        """Start processes that don't wait for each other."""
        for spec in specs:
            process = ManagedProcess(
                spec, self._installation.logs_dir, self._terminal, on_change=self._save
            )
            group.append(process)
            self._state.processes[spec.name] = process.state
        self._terminal.say("starting " + ", ".join(spec.name for spec in specs))
        await asyncio.gather(*(process.start() for process in group))

    async def _prepare(self, secrets: InstallationSecrets) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "atom.dev.prepare"),
            cwd=BASE_DIR,
            env={
                **os.environ,
                **common_environment(self._installation),
                "ATOM_ADMIN_PASSWORD": secrets.admin_password,
            },
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            preexec_fn=before_exec(signal.SIGTERM, as_namespaced_user=False),
        )
        output, _ = await process.communicate()
        lines = output.decode("utf-8", "replace").splitlines()
        for line in lines:
            self._terminal.line("prepare", line)
        if process.returncode != 0:
            raise StartFailedError("The database could not be brought up to date (see above).")

    def _write_stack_environment(self, secrets: InstallationSecrets) -> None:
        values = self._installation.stack_environment(secrets)
        lines = [f"{name}='{value}'\n" for name, value in values.items()]
        write_private(self._installation.run_dir / "stack.env", "".join(lines))

    async def _end_leftovers(self, leftovers: list[ProcessIdentity]) -> None:
        if leftovers:
            some = counted(len(leftovers), "process", "processes")
            self._terminal.say(f"ending {some} of a launcher that was killed")
            await asyncio.to_thread(end_processes, leftovers)

    async def _stop(self) -> None:
        """Stop in reverse order; the jobs' supervisors together with the applications."""
        self._state.phase = STOPPING
        self._save()
        self._terminal.say("stopping")
        supervisors = job_supervisors(self._installation.home)
        await asyncio.gather(
            asyncio.to_thread(end_processes, supervisors),
            *(process.stop(STOP_APPLICATIONS_S) for process in reversed(self._applications)),
        )
        await asyncio.gather(
            *(process.stop(STOP_SERVICES_S) for process in reversed(self._services))
        )
        forget_state(self._installation.run_dir)
        self._terminal.say("stopped")

    def _save(self) -> None:
        try:
            self._state.save(self._installation.run_dir)
        except OSError as error:
            # A full disk: `status` shows what was before, and whatever ends is started again.
            self._terminal.say(f"what runs could not be written down: {error}")


def _stop_event() -> asyncio.Event:
    """Return an event that is set by the signals that end a program."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(sig, stop.set)
    return stop
