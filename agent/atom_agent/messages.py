"""Messages of the protocol between agent and server, as values that were checked."""

from __future__ import annotations

import base64
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeVar

from atom_agent.errors import ControlError, Reason

_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEY_BYTES = 32
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class PackName:
    """A pack of a project: the project's UUID as text, the digest as 64 hex digits."""

    project: str
    digest: str

    def __post_init__(self) -> None:
        """Raise ValueError unless both are in their only form: they become parts of paths."""
        if str(uuid.UUID(self.project)) != self.project or not _DIGEST.fullmatch(self.digest):
            raise ValueError("A pack is named by a UUID and by 64 hex digits.")

    @property
    def as_json(self) -> dict[str, str]:
        """The two fields of a message."""
        return {"project": self.project, "pack": self.digest}


@dataclass(frozen=True, slots=True)
class Source:
    """Where a pack comes from: a peer with a token, or the origin by a presigned URL."""

    kind: Literal["peer", "origin"]
    url: str
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Fetch:
    """An order to fetch a pack of `size_bytes`, at most `rate_bytes_s` for all of its plan."""

    id: str
    plan: str
    pack: PackName
    size_bytes: int
    rate_bytes_s: int | None
    source: Source


@dataclass(frozen=True, slots=True)
class Removal:
    """An order to remove a pack; with `verify` only if its bytes are wrong."""

    pack: PackName
    verify: bool = False


@dataclass(frozen=True, slots=True)
class Membership:
    """The answer to a join. `peer_key` signs the tokens of peers (32 bytes)."""

    token: str = field(repr=False)
    expires_at: datetime
    node_id: str
    peer_key: bytes = field(repr=False)
    report_every_s: float
    work_every_s: float
    limit_bytes: int | None


@dataclass(frozen=True, slots=True)
class Orders:
    """The answer to a request for work; `after_s` seconds until the next one."""

    fetches: list[Fetch]
    cancel: list[str]
    remove: list[Removal]
    after_s: float


@dataclass(frozen=True, slots=True)
class ReportAnswer:
    """The answer to a report: whether the next is to list all packs, and the cache's limit."""

    send_packs: bool
    limit_bytes: int | None


@dataclass(frozen=True, slots=True)
class Failure:
    """A fetch that failed, as the server reads it."""

    fetch: str
    reason: Reason
    detail: str


def membership_of(answer: Mapping[str, Any]) -> Membership:
    """Read the answer to a join. Raises ControlError if a field is missing or wrong."""

    def read() -> Membership:
        key = base64.b64decode(answer["peer_key"], validate=True)
        if len(key) != _KEY_BYTES:
            raise ValueError("The key of peers has 32 bytes.")
        expires_at = datetime.fromisoformat(answer["expires_at"])
        if expires_at.tzinfo is None:
            raise ValueError("A time needs its zone.")
        limit = answer["limit_bytes"]
        return Membership(
            token=str(answer["token"]),
            expires_at=expires_at,
            node_id=str(answer["node_id"]),
            peer_key=key,
            report_every_s=float(answer["report_every_s"]),
            work_every_s=float(answer["work_every_s"]),
            limit_bytes=None if limit is None else int(limit),
        )

    return _checked(read)


def report_answer_of(answer: Mapping[str, Any]) -> ReportAnswer:
    """Read the answer to a report. Raises ControlError if a field is wrong."""

    def read() -> ReportAnswer:
        limit = answer.get("limit_bytes")
        return ReportAnswer(answer.get("send_packs") is True, None if limit is None else int(limit))

    return _checked(read)


def orders_of(answer: Mapping[str, Any]) -> Orders:
    """Read the answer to a request for work. Raises ControlError if a field is wrong."""

    def read() -> Orders:
        return Orders(
            fetches=[_fetch_of(entry) for entry in answer["fetches"]],
            cancel=[str(entry) for entry in answer["cancel"]],
            remove=[
                Removal(_pack_of(entry), verify=entry.get("verify") is True)
                for entry in answer["remove"]
            ],
            after_s=float(answer["after_s"]),
        )

    return _checked(read)


def _fetch_of(entry: Mapping[str, Any]) -> Fetch:
    source = entry["source"]
    if source["kind"] not in ("peer", "origin"):
        raise ValueError("A source is a peer or the origin.")
    token = str(source["token"]) if source["kind"] == "peer" else None
    rate, size = entry["rate_bytes_s"], int(entry["size_bytes"])
    if size <= 0 or (rate is not None and rate <= 0):
        raise ValueError("Sizes and rates are positive.")
    return Fetch(
        id=str(entry["fetch"]),
        plan=str(entry["plan"]),
        pack=_pack_of(entry),
        size_bytes=size,
        rate_bytes_s=None if rate is None else int(rate),
        source=Source(source["kind"], str(source["url"]), token),
    )


def _pack_of(entry: Mapping[str, Any]) -> PackName:
    return PackName(str(entry["project"]), str(entry["pack"]))


def _checked(read: Callable[[], Value]) -> Value:
    try:
        return read()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ControlError(f"The server's answer cannot be used: {error!r}.") from error
