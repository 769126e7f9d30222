"""The environment of an installation, typed. Every variable that Atom reads is named here.

Order, strongest first: the process environment, `<NAME>_FILE` (a file holding the value, for
secrets), `ATOM_HOME/config.env` (written by a person), `ATOM_HOME/run/stack.env` (written by the
launcher for the services it started).
"""

import os
import re
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from atom.settings.oidc import OidcSettings, check_issuer, parse_roles
from atom.settings.placement import HourValuesSetting, parse_hour_values
from atom.settings.rates import RateSetting, parse_rate

BASE_DIR = Path(__file__).resolve().parent.parent.parent
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.?")


class SecretFileSource(PydanticBaseSettingsSource):
    """Reads the value of a variable from the file that `<NAME>_FILE` names."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return the file's content without its trailing newline, or None."""
        path = os.environ.get(f"{field_name.upper()}_FILE")
        value = Path(path).read_text(encoding="utf-8").rstrip("\n") if path else None
        return value, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the values of all variables that are given as files."""
        found = {}
        for name, field in self.settings_cls.model_fields.items():
            value, key, _ = self.get_field_value(field, name)
            if value is not None:
                found[key] = value
        return found


class Environment(BaseSettings):
    """One attribute per variable, in lower case; defaults suit one machine."""

    model_config = SettingsConfigDict(extra="ignore", env_ignore_empty=True)

    database_url: SecretStr = SecretStr("postgresql://atom@127.0.0.1:5532/atom")
    redis_url: SecretStr = SecretStr("redis://127.0.0.1:6479/0")

    s3_endpoint_url: str = "http://127.0.0.1:8333"
    s3_public_endpoint_url: str = ""
    s3_access_key_id: str = ""
    s3_secret_access_key: SecretStr = SecretStr("")
    s3_bucket: str = "atom"
    s3_region: str = "us-east-1"

    atom_home: Path = BASE_DIR / ".atom"
    atom_secret_key: SecretStr = SecretStr("")
    atom_encryption_key: SecretStr = SecretStr("")
    atom_public_url: str = ""
    atom_allowed_hosts: str = ""
    atom_web_host: str = "127.0.0.1"
    atom_web_port: int = 8000
    # How many processes answer on that port, each with one core and about 300 MB; 0: by the cores.
    atom_web_processes: int = Field(0, ge=0, le=64)
    atom_gateway_port: int = 8001
    atom_gateway_url: str = ""
    atom_s3_gateway_port: int = 8002
    # Where S3 tools reach the S3 endpoint; empty: the portal's machine and the port above.
    atom_s3_gateway_url: str = ""
    atom_database_pool_size: int = 0
    # For workers: how long a connection is kept from task to task.
    atom_database_kept_s: int = 0
    # How long one statement may take, waiting for locks included; 0: as long as it takes.
    atom_database_patience_s: int = 0
    # How long a request to the object store is tried again.
    atom_store_patience_s: float = 180.0
    # Where runners reach the REST API, when it is not where people do.
    atom_runner_api_url: str = ""
    # Where pods of registered clusters reach it; empty: where people do.
    atom_pod_api_url: str = ""
    # The image of runs in registered clusters that choose none: it needs Python 3.8 or newer.
    atom_pod_image: str = "python:3.12-slim"
    # The image of node agents; empty: no manifest of them can be made.
    atom_agent_image: str = ""
    # Whether this installation's stack follows the runs in registered clusters.
    atom_watch_clusters: bool = True
    atom_runner_lost_after_s: float = 30.0
    # A run that lost so many machines in a row, without a new checkpoint in between, has failed.
    atom_max_lost_machines: int = Field(default=5, ge=1)
    # Seconds that a run on several nodes has to get all of them, before it gives them back.
    atom_gang_forming_s: int = Field(default=600, ge=10)
    # A run whose data does not come to the nodes of its cluster streams it, or waits.
    atom_start_without_data: Literal["stream", "wait"] = "stream"
    # The value of an hour until a run ends, by its priority, in the currency of the prices.
    atom_hour_values: HourValuesSetting = parse_hour_values("0=1")
    # How long a cluster takes to fetch the image of a run that it can start at once.
    atom_image_fetch_s: float = Field(default=60, ge=0)
    # Where the runtimes of jobs lie; empty: in ATOM_HOME. Several installations may share it.
    atom_runtimes_dir: Path | None = None
    # Options of pip when a job's runtime is built, e.g. an index of one's own.
    atom_runtime_pip_options: str = ""
    # Less than the hard limit of a task: a build that hangs fails in words.
    atom_runtime_build_timeout_s: int = 1500
    # An environment that a cluster built is removed when no run used it for so many days.
    atom_environment_kept_days: int = Field(default=30, ge=1)
    # How long the folders of ended attempts stay, for debugging; the last one of a run for longer.
    atom_attempt_kept_s: int = 3600
    atom_last_attempt_kept_s: int = 86_400
    # 0 means no limit but the disk.
    atom_cache_limit_bytes: int = 0
    # How much a run that streams its data may keep of it on the disk.
    atom_stream_cache_bytes: int = 20 << 30
    # Browsers get larger pictures by tiles: a whole one takes four bytes a pixel in each of them.
    atom_whole_picture_pixels: int = Field(default=40_000_000, ge=1)
    # Packs go straight to their own keys where the store honours conditional writes.
    atom_direct_uploads: bool = True
    # Nightly garbage collection only reports until this is set.
    atom_garbage_apply: bool = False
    atom_garbage_grace_days: int = 7
    atom_garbage_undo_days: int = 30
    # Hosts and networks that a source may be at although they are not public, e.g. 10.1.0.0/16.
    atom_source_allow: str = ""
    # Folders below which a source of the kind "folder" may lie, separated by commas.
    atom_source_folders: str = ""
    # How mail is sent: smtp://user:password@host:587, smtps:// or smtp+plain://; empty: it is not.
    atom_email_url: SecretStr = SecretStr("")
    atom_email_from: str = "Atom <atom@localhost>"
    # The same for webhooks, whose addresses administrators of projects give.
    atom_webhook_allow: str = ""
    # Private networks in which a cluster's API may be, separated by commas, e.g. 10.1.0.0/16.
    atom_cluster_networks: str = ""
    # The same for registries of base images that people name.
    atom_registry_networks: str = ""
    # How often the REST API answers: for each token and each signed-in person, for each address
    # without either, and for failed sign-ins from one address and with one name.
    atom_rate_signed_in: RateSetting = parse_rate("100/s:500")
    atom_rate_anonymous: RateSetting = parse_rate("20/s:200")
    atom_rate_sign_in_address: RateSetting = parse_rate("10/min:30")
    atom_rate_sign_in_name: RateSetting = parse_rate("2/min:10")
    # Prometheus sends it as `Authorization: Bearer …` to /metrics. If it is empty, only
    # administrators of the installation read that.
    atom_metrics_token: SecretStr = SecretStr("")
    # Where traces are sent, e.g. http://collector:4318 (OTLP over HTTP); empty: nothing is traced.
    # Headers are name=value pairs, separated by commas; the share of traces is from 0 to 1.
    otel_exporter_otlp_endpoint: str = ""
    otel_exporter_otlp_headers: SecretStr = SecretStr("")
    otel_traces_sampler_arg: float = Field(1.0, ge=0, le=1)
    # Guesses of one person's codes: this limit makes a lucky guess take years.
    atom_rate_second_factor: RateSetting = parse_rate("20/h:10")
    # People who need a second factor; administrators are those of the installation.
    atom_second_factor: Literal["optional", "administrators", "everybody"] = "optional"
    # Whether members may make links that show one run to people without an account.
    atom_share_links: bool = True
    # Single sign-on: https://… of the provider, and what it calls this installation.
    atom_oidc_issuer: str = ""
    atom_oidc_client_id: str = ""
    atom_oidc_client_secret: SecretStr = SecretStr("")
    # The text of the button on the sign-in page.
    atom_oidc_label: str = ""
    atom_oidc_scopes: str = "openid profile email"
    # People who get an account at the first sign-in: those with an invitation to the address that
    # the provider has verified, or everybody at the provider (without any role), or nobody.
    atom_oidc_newcomers: Literal["nobody", "invited", "everybody"] = "invited"
    # Whether an account of the same verified address is taken for the same person's.
    atom_oidc_link_by_email: bool = False
    atom_oidc_groups_claim: str = "groups"
    # group=role@project:slug, group=role@unit:id
    atom_oidc_roles: str = ""
    # A person who left the provider stays signed in no longer than this.
    atom_oidc_session_s: int = 43_200
    # Whether signing out of Atom signs out of the provider too.
    atom_oidc_sign_out: bool = False
    atom_debug: bool = False
    atom_log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    atom_log_format: Literal["json", "console"] = "json"
    atom_frontend_dist: Path = BASE_DIR / "frontend" / "dist"

    @field_validator("atom_source_allow")
    @classmethod
    def _hosts_or_networks(cls, text: str) -> str:
        """Refuse what would never match: an address with a scheme, a path or a port."""
        for item in filter(None, map(str.strip, text.split(","))):
            try:
                ip_network(item, strict=False)
            except ValueError:
                if not _HOST.fullmatch(item):
                    raise ValueError(
                        f"{item!r} is no host name, address or network: leave out https:// and "
                        "the port."
                    ) from None
        return text

    @field_validator("atom_cluster_networks", "atom_registry_networks")
    @classmethod
    def _networks(cls, text: str) -> str:
        """Refuse host names: a name may lead anywhere tomorrow."""
        for item in filter(None, map(str.strip, text.split(","))):
            try:
                ip_network(item, strict=False)
            except ValueError:
                raise ValueError(
                    f"{item!r} is no address or network, such as 10.1.0.0/16."
                ) from None
        return text

    @field_validator("atom_oidc_issuer")
    @classmethod
    def _issuer(cls, text: str) -> str:
        return check_issuer(text)

    @field_validator("atom_oidc_roles")
    @classmethod
    def _roles_of_groups(cls, text: str) -> str:
        parse_roles(text)
        return text

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the `<NAME>_FILE` source between the environment and the env files."""
        return init_settings, env_settings, SecretFileSource(settings_cls), dotenv_settings

    @property
    def public_url(self) -> str:
        """Where people open the portal, without a trailing slash."""
        return (self.atom_public_url or f"http://127.0.0.1:{self.atom_web_port}").rstrip("/")

    @property
    def oidc(self) -> OidcSettings:
        """The provider of single sign-on."""
        return OidcSettings(
            issuer=self.atom_oidc_issuer,
            client_id=self.atom_oidc_client_id,
            client_secret=self.atom_oidc_client_secret.get_secret_value(),
            label=self.atom_oidc_label,
            scopes=self.atom_oidc_scopes,
            newcomers=self.atom_oidc_newcomers,
            links_by_email=self.atom_oidc_link_by_email,
            groups_claim=self.atom_oidc_groups_claim,
            roles=parse_roles(self.atom_oidc_roles),
            session_s=self.atom_oidc_session_s,
            ends_provider_session=self.atom_oidc_sign_out,
        )

    @property
    def runtimes_dir(self) -> Path | None:
        """Where the runtimes of jobs lie, when that is not ATOM_HOME."""
        return self.atom_runtimes_dir and self.atom_runtimes_dir.expanduser().resolve()

    @property
    def gateway_url(self) -> str:
        """Where the web process reaches the gateway."""
        return (self.atom_gateway_url or f"http://127.0.0.1:{self.atom_gateway_port}").rstrip("/")

    @property
    def s3_gateway_url(self) -> str:
        """Where S3 tools reach the S3 endpoint: a host's root, since they sign the whole path."""
        host = urlsplit(self.public_url).hostname or "127.0.0.1"
        host = f"[{host}]" if ":" in host else host
        found = self.atom_s3_gateway_url or f"http://{host}:{self.atom_s3_gateway_port}"
        return found.rstrip("/")


def home_directory() -> Path:
    """Return ATOM_HOME, which is needed before the env files inside it can be read."""
    return Path(os.environ.get("ATOM_HOME") or BASE_DIR / ".atom").expanduser().resolve()


@cache
def load_environment() -> Environment:
    """Return the environment of this process, read once."""
    home = home_directory()
    files = (home / "run" / "stack.env", home / "config.env")
    # _env_file is an argument of pydantic-settings' constructor that the mypy plugin hides.
    return Environment(_env_file=files, atom_home=home)
