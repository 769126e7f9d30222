"""Credentials of container registries, as Docker keeps them in its `config.json`."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Final

from atom_sdk.sentences import Sentence

# A project's secret of this name is for its clusters: they pull the images of its runs with it.
SECRET_NAME: Final = "DOCKER_AUTH_CONFIG"
HUB: Final = "docker.io"
_HUB_NAMES: Final = ("index.docker.io", "registry-1.docker.io")
_MAX_REGISTRIES: Final = 50

NOT_A_CONFIG: Final = Sentence(
    "jobs.registry_config_invalid",
    "Give the JSON of a Docker configuration with the credentials, as 'docker login' writes it.",
)
IN_A_HELPER: Final = Sentence(
    "jobs.registry_config_in_helper",
    "The file names a credential helper and holds no credentials. Sign in with a file that has "
    "no 'credsStore' and no 'credHelpers'.",
)
TOO_MANY: Final = Sentence(
    "jobs.registry_config_too_many", "Give at most {max} registries.", max=_MAX_REGISTRIES
)


class WrongConfigError(Exception):
    """The text is no Docker configuration with credentials; `sentence` says why."""

    def __init__(self, sentence: Sentence) -> None:
        """Keep the reason."""
        super().__init__(sentence)
        self.sentence = sentence


def parse_config(text: str) -> dict[str, Any]:
    """Return the configuration with its credentials alone. Raises WrongConfigError."""
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        raise WrongConfigError(NOT_A_CONFIG) from None
    auths = config.get("auths") if isinstance(config, dict) else None
    if not isinstance(auths, dict):
        raise WrongConfigError(NOT_A_CONFIG)
    if len(auths) > _MAX_REGISTRIES:
        raise WrongConfigError(TOO_MANY)
    kept = {registry: _entry(entry) for registry, entry in auths.items() if entry != {}}
    if not kept:
        helped = config.get("credsStore") or config.get("credHelpers")
        raise WrongConfigError(IN_A_HELPER if helped else NOT_A_CONFIG)
    return {"auths": kept}


def credentials_of(config: Mapping[str, Any], registry: str) -> tuple[str, str] | None:
    """Return name and password that a parsed configuration has for a registry's host.

    Docker writes Docker Hub as an address of its own, and other hosts with or without https://.
    """
    hosts = (registry, *_HUB_NAMES) if registry == HUB else (registry,)
    for host in hosts:
        for key in (host, f"https://{host}", f"https://{host}/v1/", f"https://{host}/v2/"):
            if key in config["auths"]:
                pair = base64.b64decode(config["auths"][key]["auth"]).decode()
                name, _, password = pair.partition(":")
                return name, password
    return None


def _entry(entry: object) -> dict[str, str]:
    """Return `auth` of one registry, which also may have a name and a password."""
    if not isinstance(entry, dict):
        raise WrongConfigError(NOT_A_CONFIG)
    name, password, auth = (entry.get(key) for key in ("username", "password", "auth"))
    if isinstance(name, str) and isinstance(password, str):
        auth = base64.b64encode(f"{name}:{password}".encode()).decode()
    try:
        pair = base64.b64decode(auth if isinstance(auth, str) else "", validate=True).decode()
    except (binascii.Error, ValueError):
        raise WrongConfigError(NOT_A_CONFIG) from None
    if ":" not in pair:
        raise WrongConfigError(NOT_A_CONFIG)
    return {"auth": str(auth)}
