"""Real PostgreSQL, Valkey and S3 for tests, started once per pytest run.

The main process starts them in a temporary folder and hands their addresses to xdist's workers
through the environment; each worker has its own database, Redis database number and bucket.
"""

import atexit
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from atom.dev.confine import before_exec
from atom.dev.ports import find_free
from atom.dev.postgres import Postgres
from atom.dev.seaweed import PORTS_USED, Seaweed, ensure_bucket, make_client
from atom.dev.spec import ProcessSpec
from atom.dev.valkey import DATABASES, Valkey

START_ATTEMPTS = 3
READY_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
Server = TypeVar("Server", Postgres, Valkey, Seaweed)

# Set by the main process, read by xdist's workers.
FOLDER_VARIABLE = "ATOM_TEST_SERVICES"
RUNTIMES_VARIABLE = "ATOM_TEST_RUNTIMES"
# The migrated database that the first worker leaves to the others.
TEMPLATE_DATABASE = "atom_template"


@dataclass
class TestServices:
    """The running services of one pytest run."""

    __test__ = False

    folder: Path
    # Where all whole stacks of the run have the environments of their jobs built.
    runtimes: Path
    processes: list[tuple[ProcessSpec, subprocess.Popen[bytes]]] = field(default_factory=list)

    def start(self) -> None:
        """Start all three and export their addresses.

        Call it in the main thread: a child dies with the thread that forked it, not with the
        process.
        """
        store = self._start(self._seaweed)
        cache = self.start_valkey()
        database = self._start(self._postgres)
        os.environ.update(
            {
                FOLDER_VARIABLE: str(self.folder),
                RUNTIMES_VARIABLE: str(self.runtimes),
                "DATABASE_URL": database.url,
                "REDIS_URL": cache.url,
                "S3_ENDPOINT_URL": store.url,
                "S3_PUBLIC_ENDPOINT_URL": store.url,
                "S3_ACCESS_KEY_ID": store.access_key_id,
                "S3_SECRET_ACCESS_KEY": store.secret_access_key,
            }
        )

    def stop(self) -> None:
        """Stop what was started, at the latest with SIGKILL, and remove the folder."""
        for spec, process in self.processes:
            process.send_signal(spec.stop_signal)
        for _, process in self.processes:
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.runtimes, ignore_errors=True)

    def start_valkey(self) -> Valkey:
        """Start a Valkey, for instance one that a test may break."""
        return self._start(self._valkey)

    def _start(self, make: Callable[[Path], Server]) -> Server:
        """Start a server, on other ports when somebody else took these meanwhile."""
        for _ in range(START_ATTEMPTS):
            server = make(Path(tempfile.mkdtemp(dir=self.folder)))
            if self._run(server.spec()):
                return server
        raise RuntimeError(f"{server.spec().name} did not start:\n{self._log_tail(server.spec())}")

    def _postgres(self, folder: Path) -> Postgres:
        return Postgres(folder / "data", _port(1), secrets.token_hex(16), durable=False)

    def _valkey(self, folder: Path) -> Valkey:
        return Valkey(folder, _port(1), secrets.token_hex(16), durable=False)

    def _seaweed(self, folder: Path) -> Seaweed:
        return Seaweed(folder, _port(PORTS_USED), secrets.token_hex(8), secrets.token_hex(16))

    def _run(self, spec: ProcessSpec) -> bool:
        """Start one process and wait for it; False when it ended (another took its port)."""
        spec.prepare()
        with self._log_path(spec).open("wb") as log:
            process = subprocess.Popen(
                spec.argv,
                cwd=spec.cwd,
                env={**os.environ, **spec.env},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=before_exec(  # noqa: PLW1509
                    spec.stop_signal, as_namespaced_user=spec.as_namespaced_user
                ),
            )
        self.processes.append((spec, process))
        deadline = time.monotonic() + READY_TIMEOUT_S
        while process.poll() is None and time.monotonic() < deadline:
            if spec.is_ready():
                return True
            time.sleep(0.05)
        return False

    def _log_path(self, spec: ProcessSpec) -> Path:
        return self.folder / f"{spec.name}.log"

    def _log_tail(self, spec: ProcessSpec) -> str:
        return self._log_path(spec).read_text(errors="replace")[-4000:]


def start_services() -> TestServices:
    """Start the services of this run; they end with this process, however it ends."""
    runtimes = Path(tempfile.mkdtemp(prefix="atom-runtimes-"))
    # The users of jobs have to reach what lies below.
    runtimes.chmod(0o755)
    services = TestServices(Path(tempfile.mkdtemp(prefix="atom-tests-")), runtimes)
    atexit.register(services.stop)
    services.start()
    return services


def claim_worker_share() -> None:
    """Give this process its own Redis database and bucket (pytest-django names the database)."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    number = int(worker.removeprefix("gw")) % DATABASES
    os.environ["REDIS_URL"] = os.environ["REDIS_URL"].rsplit("/", 1)[0] + f"/{number}"
    os.environ["S3_BUCKET"] = f"test-{worker}"
    home = Path(os.environ[FOLDER_VARIABLE]) / f"home-{worker}"
    home.mkdir(exist_ok=True)
    os.environ["ATOM_HOME"] = str(home)
    client = make_client(
        os.environ["S3_ENDPOINT_URL"],
        os.environ["S3_ACCESS_KEY_ID"],
        os.environ["S3_SECRET_ACCESS_KEY"],
    )
    ensure_bucket(client, os.environ["S3_BUCKET"])


def _port(count: int) -> int:
    return find_free(count, start=secrets.randbelow(11_000))
