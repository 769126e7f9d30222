"""The launcher's configuration, from the environment and `ATOM_HOME/config.env`."""

import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from atom.dev.ports import require_free
from atom.dev.postgres import Postgres
from atom.dev.seaweed import PORTS_USED, REGION, Seaweed, require_no_foreign_sockets
from atom.dev.secret_store import InstallationSecrets
from atom.dev.valkey import Valkey
from atom.settings.environment import Environment, home_directory


class LauncherEnvironment(Environment):
    """The environment as the launcher sees it: an address that is not given means "start one"."""

    database_url: SecretStr = SecretStr("")
    redis_url: SecretStr = SecretStr("")
    s3_endpoint_url: str = ""
    atom_postgres_port: int = 5532
    atom_redis_port: int = 6479
    atom_s3_port: int = 8333
    atom_worker_concurrency: int = 4


@dataclass(frozen=True)
class Installation:
    """One installation: its folder, its environment and the services that are its own."""

    home: Path
    environment: LauncherEnvironment

    @classmethod
    def load(cls) -> "Installation":
        """Read the configuration. Raises pydantic's ValidationError for a malformed value."""
        home = home_directory()
        environment = LauncherEnvironment(_env_file=home / "config.env", atom_home=home)
        return cls(home, environment)

    @property
    def run_dir(self) -> Path:
        """Folder of lock, state and other files that live as long as the stack."""
        return self.home / "run"

    @property
    def logs_dir(self) -> Path:
        """Folder of one log file per process."""
        return self.home / "logs"

    @property
    def url(self) -> str:
        """Where people open the portal."""
        return self.environment.public_url

    def create_folders(self) -> None:
        """Create the folders; only the owner may look into them."""
        self.home.mkdir(parents=True, exist_ok=True)
        for folder in (self.run_dir, self.logs_dir):
            folder.mkdir(exist_ok=True, mode=0o700)

    def require_free_ports(self, patience_s: float = 0.0) -> None:
        """Raise PortBusyError when a port that will be needed is still taken after `patience_s`."""
        env = self.environment
        wanted = [
            (env.atom_web_port, "web", "ATOM_WEB_PORT"),
            (env.atom_gateway_port, "gateway", "ATOM_GATEWAY_PORT"),
            (env.atom_s3_gateway_port, "S3 endpoint", "ATOM_S3_GATEWAY_PORT"),
        ]
        if not env.database_url.get_secret_value():
            wanted.append((env.atom_postgres_port, "PostgreSQL", "ATOM_POSTGRES_PORT"))
        if not env.redis_url.get_secret_value():
            wanted.append((env.atom_redis_port, "Valkey", "ATOM_REDIS_PORT"))
        if not env.s3_endpoint_url:
            last = env.atom_s3_port + PORTS_USED - 1
            purpose = f"S3 uses {env.atom_s3_port} to {last}"
            wanted += [
                (port, purpose, "ATOM_S3_PORT") for port in range(env.atom_s3_port, last + 1)
            ]
        require_free(wanted, patience_s)
        if not env.s3_endpoint_url:
            require_no_foreign_sockets(range(env.atom_s3_port, last + 1), os.geteuid())

    def postgres(self, secrets: InstallationSecrets) -> Postgres | None:
        """Return our PostgreSQL, or None when DATABASE_URL names another."""
        if self.environment.database_url.get_secret_value():
            return None
        return Postgres(
            self.home / "postgres" / "data",
            self.environment.atom_postgres_port,
            secrets.postgres_password,
        )

    def valkey(self, secrets: InstallationSecrets) -> Valkey | None:
        """Return our Valkey, or None when REDIS_URL names another."""
        if self.environment.redis_url.get_secret_value():
            return None
        return Valkey(
            self.home / "valkey", self.environment.atom_redis_port, secrets.valkey_password
        )

    def seaweed(self, secrets: InstallationSecrets) -> Seaweed | None:
        """Return our S3 store, or None when S3_ENDPOINT_URL names another."""
        env = self.environment
        if env.s3_endpoint_url:
            return None
        return Seaweed(
            self.home / "s3",
            env.atom_s3_port,
            secrets.s3_access_key_id,
            secrets.s3_secret_access_key,
            env.s3_bucket,
        )

    def stack_environment(self, secrets: InstallationSecrets) -> dict[str, str]:
        """Return what Atom's own processes need to know of what was generated and started."""
        values = {
            "ATOM_SECRET_KEY": secrets.secret_key,
            "ATOM_ENCRYPTION_KEY": secrets.encryption_key,
            "ATOM_METRICS_TOKEN": secrets.metrics_token,
        }
        if postgres := self.postgres(secrets):
            values["DATABASE_URL"] = postgres.url
        if valkey := self.valkey(secrets):
            values["REDIS_URL"] = valkey.url
        if seaweed := self.seaweed(secrets):
            values |= {
                "S3_ENDPOINT_URL": seaweed.url,
                "S3_ACCESS_KEY_ID": seaweed.access_key_id,
                "S3_SECRET_ACCESS_KEY": seaweed.secret_access_key,
                "S3_REGION": REGION,
            }
        return values
