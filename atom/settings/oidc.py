"""Single sign-on by OpenID Connect, as settings spell it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from uuid import UUID

_ROLE = re.compile(r"(?P<group>[^=]+)=\s*(?P<role>viewer|labeler|researcher|admin)@(?P<place>.+)")
_PROJECT = re.compile(r"project:[a-z0-9][a-z0-9._-]*")
_LOCAL = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class GroupRole:
    """A role in a project (by slug) or unit (by id) that members of a group have."""

    group: str
    role: str
    project: str = ""
    unit: str = ""


@dataclass(frozen=True)
class OidcSettings:
    """The provider that people of this installation sign in with; without an issuer there is none.

    `newcomers` says of whom an account is made at the first sign-in.
    """

    issuer: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    label: str = ""
    scopes: str = "openid profile email"
    newcomers: str = "invited"
    links_by_email: bool = False
    groups_claim: str = "groups"
    roles: tuple[GroupRole, ...] = ()
    session_s: int = 43_200
    ends_provider_session: bool = False

    @property
    def is_on(self) -> bool:
        """Whether there is a provider."""
        return bool(self.issuer)


def check_issuer(text: str) -> str:
    """Return the issuer's address. Raises ValueError for one that anybody on the way could be."""
    if not text:
        return text
    parts = urlsplit(text)
    if parts.query or parts.fragment or not parts.hostname:
        raise ValueError(f"{text!r} is no issuer: it is an address without ? and #.")
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOCAL):
        raise ValueError(f"{text!r} must begin with https://.")
    return text


def parse_roles(text: str) -> tuple[GroupRole, ...]:
    """Read `group=role@project:slug, group=role@unit:id`. Raises ValueError."""
    return tuple(_role(item.strip()) for item in text.split(",") if item.strip())


def _role(item: str) -> GroupRole:
    found = _ROLE.fullmatch(item)
    if found is None:
        raise ValueError(f"{item!r} is no role of a group: write group=role@project:slug.")
    group, role, place = found["group"].strip(), found["role"], found["place"].strip()
    kind, _, name = place.partition(":")
    if kind == "unit":
        return GroupRole(group, role, unit=str(UUID(name)))
    if not _PROJECT.fullmatch(place):
        raise ValueError(f"{place!r} is no place: write project:slug or unit:id.")
    return GroupRole(group, role, project=name)
