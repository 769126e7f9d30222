"""Which versions of a branch fall out of a dataset's retention."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID


@dataclass(frozen=True)
class Policy:
    """`all`, the `last` so many versions, or those of the last so many `days`."""

    kind: str
    limit: int | None = None


@dataclass(frozen=True)
class NumberedVersion:
    """One version of `main`."""

    id: UUID
    number: int
    created_at: datetime


def falling_out(versions: Iterable[NumberedVersion], policy: Policy, now: datetime) -> list[UUID]:
    """Return the versions that the policy does not keep, oldest first; never the newest."""
    ordered = sorted(versions, key=lambda version: version.number)
    older = ordered[:-1]
    if policy.kind == "last" and policy.limit:
        return [version.id for version in ordered[: -policy.limit]]
    if policy.kind == "days" and policy.limit:
        limit = now - timedelta(days=policy.limit)
        return [version.id for version in older if version.created_at < limit]
    return []
