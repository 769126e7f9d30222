"""Settings of an agent, from the environment of its pod."""

from __future__ import annotations

import ipaddress
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from atom_agent.errors import SettingError

_API = "/api/v1"
_MAX_LIMIT = 1 << 50


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the agent runs, which server it obeys and where its packs are."""

    api_url: str
    cluster: str
    node: str
    pod: str
    pod_uid: str
    host: str
    port: int
    token_file: Path
    cache: Path
    most_fetches: int
    most_readers: int
    limit_bytes: int | None
    cards_file: Path | None
    # The kubelet's folder; None: this agent has no driver of volumes.
    kubelet: Path | None = None

    @property
    def address(self) -> str:
        """The address that peers use, as `http://IP:PORT`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def settings_of(env: Mapping[str, str]) -> Settings:
    """Read the environment. Raises SettingError, which names the first wrong variable."""
    cards_file = env.get("ATOM_AGENT_CARDS_FILE", "")
    return Settings(
        api_url=_api_url(env),
        cluster=_uuid(env, "ATOM_AGENT_CLUSTER"),
        node=_text(env, "ATOM_AGENT_NODE"),
        pod=_text(env, "ATOM_AGENT_POD"),
        pod_uid=_text(env, "ATOM_AGENT_POD_UID"),
        host=_address(env, "ATOM_AGENT_POD_IP"),
        port=_number(env, "ATOM_AGENT_PORT", 7480, 65535),
        token_file=Path(_text(env, "ATOM_AGENT_TOKEN_FILE")),
        cache=_folder(env, "ATOM_AGENT_CACHE"),
        most_fetches=_number(env, "ATOM_AGENT_FETCHES", 4, 64),
        most_readers=_number(env, "ATOM_AGENT_READERS", 16, 1024),
        limit_bytes=_limit(env, "ATOM_AGENT_CACHE_LIMIT"),
        cards_file=Path(cards_file) if cards_file else None,
        kubelet=_folder(env, "ATOM_AGENT_KUBELET") if env.get("ATOM_AGENT_KUBELET") else None,
    )


def _text(env: Mapping[str, str], name: str) -> str:
    if not (text := env.get(name, "").strip()):
        raise SettingError(name, "is missing.")
    return text


def _api_url(env: Mapping[str, str]) -> str:
    url = _text(env, "ATOM_API_URL").rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise SettingError("ATOM_API_URL", "must begin with http:// or https://.")
    return url if url.endswith(_API) else url + _API


def _uuid(env: Mapping[str, str], name: str) -> str:
    try:
        return str(uuid.UUID(_text(env, name)))
    except ValueError as error:
        raise SettingError(name, "must be a UUID.") from error


def _address(env: Mapping[str, str], name: str) -> str:
    try:
        return str(ipaddress.ip_address(_text(env, name)))
    except ValueError as error:
        raise SettingError(name, "must be an IP address.") from error


def _folder(env: Mapping[str, str], name: str) -> Path:
    path = Path(_text(env, name))
    if not path.is_absolute():
        raise SettingError(name, "must be an absolute path.")
    return path


def _limit(env: Mapping[str, str], name: str) -> int | None:
    text = env.get(name, "").strip()
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= _MAX_LIMIT:
        raise SettingError(name, f"must be a number of bytes, not {text!r}.")
    return int(text)


def _number(env: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = env.get(name, "") or str(default)
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise SettingError(name, f"must be a number from 1 to {most}, not {text!r}.")
    return int(text)
