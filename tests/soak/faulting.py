"""Services that live and cannot work: full disks, limits, locks and silence, for some seconds.

Each fault is imposed while the clients go on, must be told by `GET /api/v1/state/`, and is lifted;
then everything has to work again by itself.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import psycopg
from redis import Redis

from tests.soak.killing import Kills, is_whole
from tests.soak.streaming import Streams
from tests.stack import Stack

RECOVERY_S = 180.0
# A fault is told at most this long after it began: the state is kept for 5 s, probes take 3 s.
TOLD_S = 40.0
HELD_S = (4.0, 15.0)
# Disks of their own, small enough to be filled; the stack uses a third of each.
DISKS_MIB = {"postgres": 900, "valkey": 300, "s3": 3000, "attempts": 600}
_SILENCED = {"postgres": "database_away", "valkey": "valkey_away", "s3": "object_store_away"}
Fault = Callable[[], AbstractContextManager[None]]


def mount_disks(home: Path) -> list[Path]:
    """Give parts of a stack that is not started yet disks of their own; none without the right."""
    mounted = []
    for name, mib in DISKS_MIB.items():
        folder = home / name
        folder.mkdir()
        words = ["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=0755", "atom-soak", str(folder)]
        if os.geteuid() == 0 and subprocess.run(words, check=False).returncode == 0:
            mounted.append(folder)
    return mounted


def unmount(folders: list[Path]) -> None:
    """Take the disks away again."""
    for folder in folders:
        subprocess.run(["umount", "-l", str(folder)], check=False)


class Faults:
    """Imposes faults on one stack, in an order that the seed gives."""

    def __init__(
        self, stack: Stack, seed: int, disks: list[Path], kills: Kills, streams: Streams
    ) -> None:
        self._stack, self._streams = stack, streams
        self._random = random.Random(seed)
        self._kills = kills
        # Name to the fault, and to the codes of which the state has to tell one; none is asked for
        # where clients may not meet it.
        self._all: dict[str, tuple[Fault, set[str]]] = {
            "valkey memory": (self._valkey_memory, {"valkey_full"}),
            "connections": (self._connections, set()),
            "lock": (self._lock, set()),
            "silent worker": (lambda: self._silence("worker"), set()),
            "silent watcher": (lambda: self._silence("clusters"), set()),
            "API server of the cluster": (self._api_server, set()),
        }
        for name, code in _SILENCED.items():
            self._all[f"silent {name}"] = (lambda name=name: self._silence(name), {code})  # type: ignore[misc]
        # Valkey ends itself rather than to acknowledge what is not on its disk; PostgreSQL may.
        told = {
            "postgres": {"database_full", "database_away"},
            "valkey": {"valkey_cannot_save", "valkey_away"},
        }
        for disk in disks:
            fault = lambda disk=disk: self._full(disk)  # noqa: E731
            self._all[f"full disk of {disk.name}"] = (fault, told.get(disk.name, set()))
        self._left: list[str] = []

    def strike(self) -> str:
        """Impose the next fault, each kind once before any comes again; return its name."""
        if not self._left:
            self._left = self._random.sample(sorted(self._all), len(self._all))
        name = self._left.pop()
        fault, codes = self._all[name]
        with fault():
            until = time.monotonic() + self._random.uniform(*HELD_S)
            told = self._await_faults(name, codes)
            time.sleep(max(0.0, until - time.monotonic()))
        started = time.monotonic()
        while not is_whole(self._stack, {}) or self._fault_codes() & codes:
            if time.monotonic() - started > RECOVERY_S:
                said = f"{name}: not over after {RECOVERY_S:g} s, {self._fault_codes()}"
                self._kills.failures.append(said)
                break
            time.sleep(0.2)
        self._kills.recoveries_s[name].append(time.monotonic() - started)
        return f"{name} (told: {', '.join(sorted(told)) or 'nothing'})"

    def _await_faults(self, name: str, codes: set[str]) -> set[str]:
        deadline = time.monotonic() + TOLD_S
        while True:
            told = self._fault_codes()
            if not codes or told & codes:
                return told
            if time.monotonic() > deadline:
                self._kills.failures.append(f"{name}: everybody was told {told}, not {codes}")
                return told
            time.sleep(0.5)

    def _fault_codes(self) -> set[str]:
        with suppress(httpx.HTTPError, ValueError, KeyError):
            answer = httpx.get(f"{self._stack.base_url}/api/v1/state/", timeout=15, trust_env=False)
            return {fault["code"] for fault in answer.json()["faults"]}
        return {"web_away"}

    @contextmanager
    def _valkey_memory(self) -> Iterator[None]:
        with Redis.from_url(self._stack.setting("REDIS_URL")) as admin:
            admin.config_set("maxmemory", 1)
            try:
                yield
            finally:
                admin.config_set("maxmemory", 0)

    @contextmanager
    def _connections(self) -> Iterator[None]:
        """Take every connection that PostgreSQL has left."""
        with ExitStack() as held:
            with suppress(psycopg.OperationalError):
                while True:
                    held.enter_context(self._stack.connect())
            yield

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Hold a lock that every request about runs needs."""
        with self._stack.connect() as connection:
            connection.execute("LOCK TABLE jobs_run IN ACCESS EXCLUSIVE MODE")
            yield
            connection.rollback()

    @contextmanager
    def _api_server(self) -> Iterator[None]:
        """Crash the API server of the cluster; what it has stored stays."""
        server = self._streams.stand_in.server
        server.crash()
        try:
            yield
        finally:
            server.start_again()

    @contextmanager
    def _silence(self, name: str) -> Iterator[None]:
        """Stop a part and its children without ending them: connections stay, nobody answers."""
        pid = self._stack.pid_of(name)
        found = []
        if pid is not None:
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                found = [process, *process.children(recursive=True)]
        for one in found:
            with suppress(psutil.NoSuchProcess):
                one.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for one in found:
                with suppress(psutil.NoSuchProcess):
                    one.send_signal(signal.SIGCONT)

    @contextmanager
    def _full(self, disk: Path) -> Iterator[None]:
        """Fill a disk to its last byte."""
        ballast = disk / "ballast"
        try:
            with suppress(OSError), ballast.open("wb", buffering=0) as file:
                while True:
                    file.write(b"\0" * (1 << 20))
            # Fill the rest, where no whole block fits.
            with suppress(OSError), ballast.open("ab", buffering=0) as file:
                while True:
                    file.write(b"\0" * 4096)
            yield
        finally:
            ballast.unlink(missing_ok=True)
