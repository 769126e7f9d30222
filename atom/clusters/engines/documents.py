"""Safe reading of Kubernetes objects: absent or malformed parts read as empty, never as errors."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

Document = Mapping[str, Any]

# Longest recorded text that a meaning repeats, in characters.
MAX_TEXT: Final = 1000
_EMPTY: Final[Document] = {}


def child(document: object, *path: str) -> Document:
    """Return the object at the path; an empty one if anything on the way is no object."""
    for key in path:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document if isinstance(document, Mapping) else _EMPTY


def rows(document: object, *path: str) -> list[Document]:
    """Return the objects of the list at the path; everything else in it is left out."""
    value = child(document, *path[:-1]).get(path[-1]) if path else document
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def text(document: object, *path: str) -> str:
    """Return the text at the path, cut to MAX_TEXT characters; "" for everything else."""
    value = child(document, *path[:-1]).get(path[-1])
    return value[:MAX_TEXT] if isinstance(value, str) else ""


def number(document: object, *path: str) -> int:
    """Return the whole number at the path; 0 for everything else."""
    value = child(document, *path[:-1]).get(path[-1])
    return value if type(value) is int else 0


def moment(document: object, *path: str) -> datetime | None:
    """Return the time at the path (RFC 3339); None if there is none or it is malformed."""
    try:
        value = datetime.fromisoformat(text(document, *path))
    except ValueError:
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


def condition(document: object, kind: str) -> Document | None:
    """Return the condition of this type if its status is True."""
    found = last_condition(document, kind)
    return found if found is not None and found.get("status") == "True" else None


def last_condition(document: object, kind: str) -> Document | None:
    """Return the condition of this type, whatever its status."""
    named = [row for row in rows(document, "status", "conditions") if row.get("type") == kind]
    return named[-1] if named else None


def name_of(document: object) -> str:
    """Return the object's name."""
    return text(document, "metadata", "name")


def deletion_requested_at(pod: object) -> datetime | None:
    """Return when the pod's deletion was asked for; its timestamp is the end of the grace time."""
    at = moment(pod, "metadata", "deletionTimestamp")
    grace_s = number(pod, "metadata", "deletionGracePeriodSeconds")
    if at is None or not 0 <= grace_s < 10**7:
        return at
    try:
        return at - timedelta(seconds=grace_s)
    except OverflowError:
        return at


def containers(pod: object, kind: str = "containerStatuses") -> list[tuple[str, Document]]:
    """Return the name and the state of each container of the kind."""
    return [(text(row, "name"), child(row, "state")) for row in rows(pod, "status", kind)]
