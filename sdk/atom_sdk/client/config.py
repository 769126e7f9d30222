"""Which server, which token, which project: arguments, then environment, then the login file."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx

from atom_sdk.client.errors import NotConfiguredError


@dataclass(frozen=True)
class Config:
    """An address, a token and a default project."""

    url: str = ""
    token: str = ""
    project: str = ""


def config_path() -> Path:
    """Return the login file: `ATOM_CONFIG`, or `atom/config.json` in the user's config folder."""
    if override := os.environ.get("ATOM_CONFIG"):
        return Path(override)
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "atom" / "config.json"


def cache_path() -> Path:
    """Return the folder of packs: `ATOM_CACHE`, or `atom` in the user's cache folder."""
    if override := os.environ.get("ATOM_CACHE"):
        return Path(override)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "atom"


def load(url: str | None = None, token: str | None = None, project: str | None = None) -> Config:
    """Return the configuration that is in force. Raises NotConfiguredError without an address."""
    login = saved()
    found = Config(
        url=(url or os.environ.get("ATOM_URL") or login.url).rstrip("/"),
        token=token or os.environ.get("ATOM_TOKEN") or login.token,
        project=project or os.environ.get("ATOM_PROJECT") or login.project,
    )
    if not found.url:
        raise NotConfiguredError("No Atom server is configured.")
    if not _is_address(found.url):
        raise NotConfiguredError(
            f"{found.url!r} is no address of a server, as http://host:8000 is."
        )
    if not (found.token.isascii() and found.token.isprintable()):
        # It could not be sent.
        raise NotConfiguredError("The token is not valid: it has characters that no token has.")
    return found


def _is_address(url: str) -> bool:
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.host)


def save(config: Config) -> Path:
    """Write the login file, readable by its owner only."""
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(asdict(config), file, indent=2)
    temporary.replace(path)
    return path


def saved() -> Config:
    """Return what the login file says; nothing where there is none. Raises NotConfiguredError."""
    try:
        content = json.loads(config_path().read_text())
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError) as exc:
        raise NotConfiguredError(f"The login file {config_path()} cannot be read: {exc}.") from exc
    return Config(**{name: str(content.get(name, "")) for name in ("url", "token", "project")})
