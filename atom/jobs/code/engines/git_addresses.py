"""Addresses of git repositories, as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from atom_sdk.sentences import Sentence

_SCP = re.compile(r"(?P<user>[A-Za-z0-9._-]+)@(?P<host>[A-Za-z0-9.-]+):(?P<path>[^/:].*)")
_SSH_PORT = 22
MAX_CHARACTERS = 1000


class BadAddressError(ValueError):
    """The text is no address; the message says why."""


@dataclass(frozen=True, slots=True)
class GitAddress:
    """Where a repository is; `host` has the port where it is not SSH's own."""

    url: str
    host: str
    is_ssh: bool


def parse_address(text: str) -> GitAddress:
    """Return `https://host/path`, `ssh://user@host/path` or `user@host:path`. BadAddressError."""
    text = text.strip()
    if len(text) > MAX_CHARACTERS or any(character <= " " for character in text):
        raise BadAddressError(
            Sentence("jobs.address_too_long_or_spaced", "It is too long, or has spaces in it.")
        )
    if found := _SCP.fullmatch(text):
        text = f"ssh://{found['user']}@{found['host']}/{found['path']}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise BadAddressError(
            Sentence("jobs.not_a_git_address", "Write https://host/path or git@host:path.")
        ) from error
    if (
        parts.scheme not in {"http", "https", "ssh"}
        or not parts.hostname
        or parts.path in {"", "/"}
    ):
        raise BadAddressError(
            Sentence("jobs.not_a_git_address", "Write https://host/path or git@host:path.")
        )
    if parts.password or (parts.username and parts.scheme != "ssh"):
        raise BadAddressError(
            Sentence(
                "jobs.address_has_password",
                "Leave the password out: keep it as a secret and choose that.",
            )
        )
    if parts.query or parts.fragment:
        raise BadAddressError(
            Sentence("jobs.address_has_query", "Leave out ? or # and all that follows.")
        )
    host = parts.hostname if port in (None, _SSH_PORT) else f"{parts.hostname}:{port}"
    return GitAddress(text, host, parts.scheme == "ssh")
