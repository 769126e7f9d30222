"""Runs an attempt on this machine, under a supervisor that outlives the worker that started it.

The supervisor holds a lock in the attempt's folder for as long as it lives, so starting twice is
harmless. Its pid and start time identify it. See `atom_sdk/runner/README.md`.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import stat
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import structlog
from django.conf import settings

from atom.cache.engines.links import close_to
from atom.clusters.actions import note_isolation
from atom.clusters.models import Node, Reservation
from atom.clusters.node_health import is_elsewhere
from atom.core.foreign_json import read_json
from atom.jobs.executors.base import (
    Admitted,
    Executor,
    LaunchFailedError,
    NothingHeldError,
    Observation,
    RankObservation,
    Surroundings,
)
from atom.jobs.executors.local.datasets import show_datasets
from atom.jobs.executors.local.surroundings import surroundings_of
from atom.jobs.models import Attempt
from atom.jobs.runtimes.pipelines.interpreter import base_python, can_isolate, library_path
from atom_sdk.runner.build import build_runner

log = structlog.get_logger(__name__)

# Each slot of a machine has a user id of its own, far from those of people.
FIRST_UID = 200_000
SLOTS = 256
_INSTALLATIONS = 256
START_TIMEOUT_S = 30.0
# A runner's is under 200 kB.
MAX_REPORT_BYTES = 1 << 20
# The end of a supervisor's own log says why a runner did not come up.
LOG_TAIL_BYTES = 4096
# An attempt on this machine has one process.
_RANK = 0
_KEPT_VARIABLES = ("PATH", "LANG", "TZ", "SSL_CERT_FILE")
_KEPT_PREFIXES = ("LC_", "CUDA_", "NVIDIA_")


class LocalExecutor(Executor):
    """Starts, observes and ends attempts under `home`/attempts."""

    def __init__(self, home: Path) -> None:
        """Keep everything below `home` (ATOM_HOME)."""
        self.home = home
        self.isolated = can_isolate(home)

    def folder(self, attempt_id: UUID | str) -> Path:
        """Return the attempt's folder."""
        return self.home / "attempts" / str(attempt_id)

    @property
    def api_url(self) -> str:
        """Atom's address as jobs reach it."""
        return str(getattr(settings, "ATOM_RUNNER_API_URL", "") or settings.ATOM_PUBLIC_URL)

    def reaches(self, node: Node | None) -> bool:
        """Return whether the node is this machine; another one's own worker looks after it."""
        return not is_elsewhere(node)

    def surroundings(self, attempt: Attempt) -> Surroundings:
        """Return the folders and variables of the job on this machine."""
        return surroundings_of(attempt)

    def start(self, attempt: Attempt, admit: Callable[[int], Admitted]) -> Observation:
        """Show the attempt its data and start its supervisor, unless that was done before.

        Raises NothingHeldError, LaunchFailedError, SelectionEmpty, ViewNotReady, MountError,
        OSError, and what `admit` raises.
        """
        seen = self.observe(attempt)
        if seen.launched:
            return seen
        held = Reservation.objects.filter(attempt_id=attempt.pk, rank=_RANK)
        slot = held.values_list("slot", flat=True).first()
        if slot is None:
            raise NothingHeldError
        if attempt.node is not None:
            note_isolation(attempt.node.cluster_id, single_user=not self.isolated)
        show_datasets(attempt, self.identity(slot).get("gid"), self.is_alive)
        return self.launch(attempt.pk, admit, slot)

    def launch(self, attempt_id: UUID, admit: Callable[[int], Admitted], slot: int) -> Observation:
        """Write the attempt's folder and start its supervisor, unless that was done before.

        Only the launcher that starts it calls `admit`, since a second token would revoke the first.
        Raises LaunchFailedError and the errors of `admit`.
        """
        folder = self.folder(attempt_id)
        self._make_folder(folder)
        with (folder / "launch.lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return self._seen(attempt_id)
            if not (folder / "supervisor.json").exists():
                if gid := self.identity(slot).get("gid"):
                    close_to(gid, folder.parent, but=folder.name)
                admitted = admit(_RANK)
                job = {**admitted.job, **self.identity(slot), "api_url": self.api_url}
                self._write(folder, job, admitted.token)
                self._start(folder, lock.fileno())
        return self._seen(attempt_id)

    def _make_folder(self, folder: Path) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if self.isolated:
            # Others may pass through to their own folder and cannot list whose there are.
            folder.parent.chmod(0o711)
        folder.mkdir(exist_ok=True, mode=0o700)

    def identity(self, slot: int) -> dict[str, int]:
        """Return the uid and gid of a slot's jobs; {} if jobs run as we do."""
        user = first_uid(self.home) + slot
        return {"uid": user, "gid": user} if self.isolated else {}

    def _write(self, folder: Path, job: dict[str, Any], token: str) -> None:
        for name, text in (("job.json", json.dumps(job)), ("token", token)):
            descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)

    def _start(self, folder: Path, lock: int) -> None:
        python = base_python(self.home, isolated=self.isolated)
        runner = build_runner(self.home / "runner")
        try:
            done = subprocess.run(
                [python, "-I", runner, "supervise", folder, "--detach"],
                cwd=folder,
                env=_scrubbed() | library_path(python),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=START_TIMEOUT_S,
                pass_fds=(lock,),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            self.kill(folder.name)
            raise LaunchFailedError(f"It was not up within {START_TIMEOUT_S:g} s.") from error
        if done.returncode != 0 or not (folder / "supervisor.json").exists():
            raise LaunchFailedError(done.stderr[-2000:] or f"exit code {done.returncode}")

    def observe(self, attempt: Attempt) -> Observation:
        """Return whether the attempt's supervisor was started and lives, and its exit report."""
        return self._seen(attempt.pk)

    def _seen(self, attempt_id: UUID | str) -> Observation:
        folder = self.folder(attempt_id)
        supervisor = _supervisor_of(folder)
        if supervisor is None:
            return Observation()
        pid, ticks = supervisor
        seen = RankObservation(
            alive=start_ticks_of(pid) == ticks,
            identity={"pid": pid, "start_ticks": ticks},
            exit_report=_read_json(folder / "exit.json"),
        )
        return Observation({_RANK: seen})

    def is_alive(self, attempt_id: UUID | str) -> bool:
        """Return whether the attempt's supervisor lives."""
        return self._seen(attempt_id).alive

    def pid(self, attempt_id: UUID | str) -> int | None:
        """Return the pid of the attempt's supervisor, None if none was started."""
        supervisor = _supervisor_of(self.folder(attempt_id))
        return None if supervisor is None else supervisor[0]

    def logs(self, attempt_id: UUID | str, rank: int) -> str:
        """Return the end of the supervisor's own log, "" if there is none."""
        text = _read_regular(self.folder(attempt_id) / "supervisor.log", MAX_REPORT_BYTES)
        return (text or b"")[-LOG_TAIL_BYTES:].decode("utf-8", "replace")

    def kill(self, attempt_id: UUID | str) -> None:
        """End the supervisor and everything that belongs to the attempt, at once."""
        pid = self.pid(attempt_id)
        if pid is not None and self.is_alive(attempt_id):
            for process in _tree(pid):
                _signal(process, signal.SIGKILL)
            _signal(pid, signal.SIGKILL)
        self.kill_leftovers(attempt_id)

    def kill_leftovers(self, attempt_id: UUID | str) -> None:
        """End processes that outlived their supervisor, known by their environment."""
        for process in psutil.process_iter():
            try:
                if process.environ().get("ATOM_ATTEMPT") == str(attempt_id):
                    process.kill()
            except psutil.Error:
                continue

    def folders(self) -> dict[UUID, float]:
        """Return the attempts that have a folder here, with the time of its last change (Unix)."""
        found: dict[UUID, float] = {}
        for folder in (self.home / "attempts").glob("*-*-*-*-*"):
            try:
                found[UUID(folder.name)] = folder.stat().st_mtime
            except (ValueError, OSError):
                continue  # not ours, or removed meanwhile
        return found

    def remove(self, attempt_id: UUID | str) -> None:
        """Delete what the attempt left on disk; its logs and outputs are stored."""
        shutil.rmtree(self.folder(attempt_id), ignore_errors=True)


def first_uid(home: Path) -> int:
    """Return the user of slot 0: installations on one machine do not share their jobs' users."""
    return FIRST_UID + SLOTS * (zlib.crc32(bytes(home.resolve())) % _INSTALLATIONS)


def start_ticks_of(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None if it is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[-1].split()
    except OSError:
        return None
    return None if fields[0] == b"Z" else int(fields[19])


def _tree(pid: int) -> Iterator[int]:
    try:
        yield from (child.pid for child in psutil.Process(pid).children(recursive=True))
    except psutil.Error:
        return


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _scrubbed() -> dict[str, str]:
    """Return the environment variables that a job may see: no secret has such a name."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT_VARIABLES or name.startswith(_KEPT_PREFIXES)
    }


def _supervisor_of(folder: Path) -> tuple[int, int] | None:
    """Return the supervisor's pid and when it started, in ticks; None if none was started."""
    found = _read_json(folder / "supervisor.json")
    try:
        return int(found["pid"]), int(found["started_at_ticks"])
    except (KeyError, TypeError, ValueError):
        return None


def _read_json(path: Path) -> Any:
    """Return the JSON in a file of the attempt; None if it is missing, too large or no JSON."""
    text = _read_regular(path, MAX_REPORT_BYTES + 1)
    try:
        return None if text is None or len(text) > MAX_REPORT_BYTES else read_json(text)
    except ValueError:
        return None


def _read_regular(path: Path, size_bytes: int) -> bytes | None:
    """Return the first bytes of a file of the attempt, None if it cannot be read.

    A job may put anything there, such as a link to a file of the server, or an endless pipe.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            return None
        with os.fdopen(descriptor, "rb") as file:
            return file.read(size_bytes)
    except OSError:
        return None
