"""Names of images and repositories, as Docker and Kubernetes write them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from atom.clusters.engines.registry_configs import HUB
from atom_sdk.sentences import Sentence

DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
MAX_REPOSITORY: Final = 255
_PART: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_PATH: Final = re.compile(rf"{_PART}(?:/{_PART})*")
_HOST: Final = re.compile(
    r"(?P<host>\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?)(?::(?P<port>[0-9]{1,5}))?"
)
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_PLAIN: Final = "http://"
_ENCRYPTED: Final = "https://"

NOT_A_REPOSITORY: Final = Sentence(
    "clusters.image_repository_wrong",
    "Give a registry's host and a path, for instance registry.example/atom/envs, without a tag. "
    "Begin with http:// only where the registry has no TLS.",
)


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of a registry; `is_plain`: over HTTP without TLS."""

    # Host, with a port if it has one.
    registry: str
    path: str
    is_plain: bool = False

    @property
    def name(self) -> str:
        """Return the name as references have it."""
        return f"{self.registry}/{self.path}"

    @property
    def origin(self) -> str:
        """Return the address of the registry's API."""
        host = "registry-1.docker.io" if self.registry == HUB else self.registry
        return f"{_PLAIN if self.is_plain else _ENCRYPTED}{host}"


@dataclass(frozen=True, slots=True)
class ImageReference:
    """An image in its repository: `version` is a tag or a digest."""

    repository: Repository
    version: str

    def at(self, digest: str) -> str:
        """Return the reference of one content of it."""
        return f"{self.repository.name}@{digest}"


def parse_image(text: str) -> ImageReference | None:
    """Return the image that a reference names; None for a text that is no reference."""
    name, at, digest = text.partition("@")
    if at and not DIGEST.fullmatch(digest):
        return None
    head, slash, rest = name.partition("/")
    has_host = slash and ("." in head or ":" in head or head == "localhost")
    registry, path = (head, rest) if has_host else (HUB, name)
    if registry in ("index.docker.io", "registry-1.docker.io"):
        registry = HUB
    path, colon, tag = path.partition(":")
    if colon and not _TAG.fullmatch(tag):
        return None
    if registry == HUB and "/" not in path:
        path = f"library/{path}"
    repository = _repository(registry, path, is_plain=_is_this_machine(registry))
    if repository is None:
        return None
    return ImageReference(repository, digest or tag or "latest")


def parse_repository(text: str) -> Repository | None:
    """Return the repository of a setting; None for a text that names none."""
    is_plain = text.startswith(_PLAIN)
    name = text.removeprefix(_PLAIN).removeprefix("" if is_plain else _ENCRYPTED)
    registry, _, path = name.partition("/")
    if not ("." in registry or ":" in registry or registry == "localhost"):
        return None
    return _repository(registry, path, is_plain=is_plain or _is_this_machine(registry))


def _repository(registry: str, path: str, *, is_plain: bool) -> Repository | None:
    host = _HOST.fullmatch(registry)
    if host is None or int(host["port"] or 1) not in range(1, 1 << 16):
        return None
    if not _PATH.fullmatch(path) or len(f"{registry}/{path}") > MAX_REPOSITORY:
        return None
    return Repository(registry, path, is_plain)


def _is_this_machine(registry: str) -> bool:
    """Return whether Docker speaks to the registry without TLS: it is on this machine."""
    host = registry.rsplit(":", 1)[0] if not registry.endswith("]") else registry
    return host in ("localhost", "[::1]") or re.fullmatch(r"127(?:\.\d{1,3}){3}", host) is not None
