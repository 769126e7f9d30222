"""A whole stack of its own for end-to-end tests: the real launcher in a temporary ATOM_HOME."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from atom.dev.confine import before_exec
from atom.dev.ports import find_free
from atom.dev.seaweed import PORTS_USED, make_client
from atom.dev.valkey import DATABASES
from atom.settings.environment import BASE_DIR, Environment
from tests.services import RUNTIMES_VARIABLE, TEMPLATE_DATABASE

START_TIMEOUT_S = 240.0
STOP_TIMEOUT_S = 15.0
# Variables that point the tests at their services; the stack starts its own.
_TEST_VARIABLES = ("ATOM_", "S3_", "PYTEST_", "DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")
# The words of a service that came too late, and of the launcher that looks before it starts them.
_TAKEN = ("Address already in use", "is taken by another process")


def _free_ports() -> dict[str, int]:
    base = find_free(PORTS_USED + 5, start=secrets.randbelow(11_000))
    names = ("WEB", "GATEWAY", "S3_GATEWAY", "POSTGRES", "REDIS", "S3")
    return {f"ATOM_{name}_PORT": base + n for n, name in enumerate(names)}


@dataclass
class Stack:
    """A stack that can be started, asked and stopped."""

    home: Path
    ports: dict[str, int]
    external: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    was_ready: bool = False

    @classmethod
    def create(cls) -> "Stack":
        """Return a stack that is not started yet, in a new folder and on free ports."""
        home = Path(tempfile.mkdtemp(prefix="atom-stack-"))
        # Jobs run under their own uid and have to reach their folders below.
        home.chmod(0o755)
        return cls(home, _free_ports())

    @property
    def base_url(self) -> str:
        """Where the portal and the REST API are."""
        return f"http://127.0.0.1:{self.ports['ATOM_WEB_PORT']}"

    @property
    def s3_url(self) -> str:
        """Where S3 tools read versions."""
        return f"http://127.0.0.1:{self.ports['ATOM_S3_GATEWAY_PORT']}"

    @property
    def runtimes(self) -> Path:
        """Where the jobs' environments are, which all stacks of a test run share."""
        return Path(os.environ[RUNTIMES_VARIABLE])

    @property
    def admin_username(self) -> str:
        """The administrator's name."""
        return "admin"

    @property
    def admin_password(self) -> str:
        """The administrator's generated password."""
        return str(json.loads((self.home / "secrets.json").read_text())["admin_password"])

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the launcher and of commands that talk to this stack."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(_TEST_VARIABLES)}
        ports = {name: str(port) for name, port in self.ports.items()}
        folders = {"ATOM_HOME": str(self.home), "ATOM_RUNTIMES_DIR": str(self.runtimes)}
        # On every machine one, which a test can stop: tests of several ask for them.
        processes = {"ATOM_WEB_PROCESSES": "1", "ATOM_WATCH_CLUSTERS": "0"}
        return {**inherited, **processes, **ports, **self.external, **folders}

    def use_services_of_the_run(self, name: str) -> None:
        """Have it stand on the services of the test run, in a database and bucket `name`.

        The database begins as the workers' own do, migrated, if one of them has made the template.
        """
        names = ("S3_ENDPOINT_URL", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")
        server = os.environ["DATABASE_URL"].rsplit("/", 1)[0]
        cache, _, number = os.environ["REDIS_URL"].rpartition("/")
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            template = connection.execute(
                "SELECT datname FROM pg_database WHERE datname = %s", [TEMPLATE_DATABASE]
            ).fetchone()
            source = f" TEMPLATE {TEMPLATE_DATABASE}" if template else ""
            connection.execute(f'CREATE DATABASE "{name}"{source}')
        self.external |= {
            "DATABASE_URL": f"{server}/{name}",
            # The tests of this worker empty their own.
            "REDIS_URL": f"{cache}/{DATABASES - 1 - int(number)}",
            "S3_BUCKET": name,
            **{one: os.environ[one] for one in names},
        }

    def command(self, *arguments: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        """Run one of the launcher's commands against this stack."""
        return subprocess.run(
            [sys.executable, "-m", "atom.dev", *arguments],
            cwd=BASE_DIR,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def start(self) -> None:
        """Start the launcher and wait until everything is ready.

        At its first start, it moves to other ports when another worker of the tests took one of
        these while the services before it came up.
        """
        tail = self._start_once()
        tries_left = 0 if self.was_ready else 2
        while tail is not None and tries_left and any(words in tail for words in _TAKEN):
            self.ports = _free_ports()
            tail = self._start_once()
            tries_left -= 1
        if tail is not None:
            raise RuntimeError(f"the stack did not start:\n{tail}")
        self.was_ready = True

    def _start_once(self) -> str | None:
        """Return the end of the launcher's output if it did not become ready in time."""
        # One that a command has replaced has ended; nobody has waited for it yet.
        self.stop()
        with (self.home / "launcher.out").open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "atom.dev", "up"],
                cwd=BASE_DIR,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=before_exec(signal.SIGTERM, as_namespaced_user=False),  # noqa: PLW1509
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            if self._is_ready():
                return None
            time.sleep(0.2)
        tail = (self.home / "launcher.out").read_text(errors="replace")[-6000:]
        self.stop()
        return tail

    def stop(self) -> float:
        """Stop the stack; return the seconds that it took."""
        started = time.monotonic()
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
        return time.monotonic() - started

    def kill_launcher(self) -> None:
        """End the launcher with SIGKILL, whether it was started here or by a command."""
        os.kill(self._state()["launcher"]["pid"], signal.SIGKILL)
        if self.process is not None:
            self.process.wait()
            self.process = None

    def remove(self) -> None:
        """Stop what may be left, keep the logs, remove the folder."""
        if self.processes():
            self.command("down")
        kept = BASE_DIR / "test-results" / self.home.name
        shutil.copytree(self.home / "logs", kept, dirs_exist_ok=True)
        shutil.rmtree(self.home, ignore_errors=True)

    def phase(self) -> str:
        """The phase in the launcher's state file; `absent` before it is written."""
        try:
            return str(self._state()["phase"])
        except FileNotFoundError:
            return "absent"

    def _is_ready(self) -> bool:
        """Whether this launcher is ready; the file may still be that of an earlier one."""
        if self.process is None or self.phase() != "ready":
            return False
        return bool(self._state()["launcher"]["pid"] == self.process.pid)

    def pid_of(self, name: str) -> int | None:
        """The pid of a managed process, None while it is down."""
        identity = self._state()["processes"][name]["identity"]
        return int(identity["pid"]) if identity else None

    def is_up(self, name: str) -> bool:
        """Whether a managed process runs and answered when it was asked."""
        return bool(self._state()["processes"][name]["phase"] == "ready")

    def process_names(self) -> set[str]:
        """The names of the processes that the launcher manages."""
        return set(self._state()["processes"])

    def restarts_of(self, name: str) -> int:
        """How often the launcher has restarted a process."""
        return int(self._state()["processes"][name]["restarts"])

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, asked of the stack's own database."""
        with self.connect() as connection:
            return connection.execute(sql).fetchall()

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        """Open a connection to the stack's own database."""
        return psycopg.connect(self.setting("DATABASE_URL"))

    def object_keys(self, prefix: str) -> list[str]:
        """Return the keys below a prefix of the stack's own bucket."""
        names = ("S3_ENDPOINT_URL", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")
        client = make_client(*map(self.setting, names))
        pages = client.get_paginator("list_objects_v2").paginate(
            Bucket=Environment.model_fields["s3_bucket"].default, Prefix=prefix
        )
        return [item["Key"] for page in pages for item in page.get("Contents", [])]

    def setting(self, variable: str) -> str:
        """Return what the launcher tells its parts of a service that it has started."""
        for line in (self.home / "run" / "stack.env").read_text().splitlines():
            name, _, value = line.partition("=")
            if name == variable:
                return value.strip("'")
        raise LookupError(f"the stack uses another's {variable}")

    def processes(self) -> list[str]:
        """The command lines of every process that uses this stack's folder or environment."""
        marker = str(self.home).encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes()
                environment = (folder / "environ").read_bytes()
            except OSError:
                continue
            if words and (marker in words or marker in environment):
                found.append(words.replace(b"\0", b" ").decode())
        return found

    def _state(self) -> dict[str, Any]:
        text = (self.home / "run" / "launcher.json").read_text()
        state: dict[str, Any] = json.loads(text)
        return state
