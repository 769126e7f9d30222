"""Services that answer but cannot do their work: full and read-only disks, limits that are reached.

An error that one of these caused in a request or a task is noted for a minute. So the portal can
show everybody why their writes are refused (`atom.core.service_state`).
"""

from __future__ import annotations

import errno
import time
from typing import Any, Final

import structlog
from redis import exceptions as redis

from atom.core.redis import client, now_s

log = structlog.get_logger(__name__)

DATABASE_FULL: Final = "database_full"
DATABASE_READ_ONLY: Final = "database_read_only"
DATABASE_BUSY: Final = "database_busy"
DATABASE_SLOW: Final = "database_slow"
VALKEY_FULL: Final = "valkey_full"
VALKEY_CANNOT_SAVE: Final = "valkey_cannot_save"
DISK_FULL: Final = "disk_full"
DISK_READ_ONLY: Final = "disk_read_only"
DISK_SILENT: Final = "disk_silent"
OBJECT_STORE_FAILING: Final = "object_store_failing"

# The meaning of each fault, and the administrator's next step.
SAYS: Final[dict[str, tuple[str, str]]] = {
    DATABASE_FULL: (
        "The disk of PostgreSQL is full or fails: nothing is stored.",
        "Make room on PostgreSQL's disk; it goes on by itself.",
    ),
    DATABASE_READ_ONLY: (
        "PostgreSQL takes no writes: it is read-only.",
        "See whether it is a standby, or was set to read-only; make it writable.",
    ),
    DATABASE_BUSY: (
        "PostgreSQL has no connection left.",
        "Raise its max_connections, or run fewer web processes and workers.",
    ),
    DATABASE_SLOW: (
        "PostgreSQL does not store in time: what is written takes seconds.",
        "See what keeps the disk of PostgreSQL busy, and the kernel's log; it goes on by itself.",
    ),
    VALKEY_FULL: (
        "Valkey has reached its memory limit: logs, points and tasks wait.",
        "Raise its maxmemory; what waits is sent again by itself.",
    ),
    VALKEY_CANNOT_SAVE: (
        "Valkey cannot write to its disk: logs, points and tasks wait.",
        "Make room on Valkey's disk; what waits is sent again by itself.",
    ),
    DISK_FULL: (
        "The disk of this server is full: nothing is stored.",
        "Make room: collect garbage, shorten retention, or add a disk.",
    ),
    DISK_READ_ONLY: (
        "The disk of this server is read-only: nothing is stored.",
        "See the kernel's log for errors of the disk, and mount it for writing again.",
    ),
    DISK_SILENT: (
        "The disk of this server does not answer in time: what is stored on it waits.",
        "See what keeps the disk busy, and the kernel's log; it goes on by itself.",
    ),
    OBJECT_STORE_FAILING: (
        "The object store answers with errors or too late: uploads and downloads are tried again.",
        "See the object store's log and the space on its disks.",
    ),
}
# A fault counts as over after this time without an error.
LATELY_S: Final = 60.0
_BY_SQLSTATE: Final = {
    "53100": DATABASE_FULL,
    "58030": DATABASE_FULL,
    "25006": DATABASE_READ_ONLY,
    "53300": DATABASE_BUSY,
}
_BY_ERRNO: Final = {
    errno.ENOSPC: DISK_FULL,
    errno.EDQUOT: DISK_FULL,
    errno.EROFS: DISK_READ_ONLY,
}
# Where psycopg has no SQLSTATE yet: the server refused the connection with these words.
_NO_CONNECTION_LEFT: Final = ("too many clients already", "remaining connection slots")
_SHARED: Final = "faults"
_met: dict[str, float] = {}


class FaultMetError(Exception):
    """A part answers, but cannot do its work."""

    def __init__(self, fault: str) -> None:
        super().__init__(SAYS[fault][0])
        self.fault = fault


def fault_of(exc: BaseException) -> str | None:
    """Return the fault behind an exception or its causes; None if there is none."""
    seen: BaseException | None = exc
    while seen is not None:
        if found := _direct_fault(seen):
            return found
        seen = seen.__cause__
    return None


def _direct_fault(exc: BaseException) -> str | None:
    if isinstance(exc, FaultMetError):
        return exc.fault
    if isinstance(exc, redis.OutOfMemoryError):
        return VALKEY_FULL
    if isinstance(exc, redis.ResponseError):
        # An answer inside a script or a pipeline has no class of its own.
        said = str(exc)
        if "OOM command not allowed" in said:
            return VALKEY_FULL
        return VALKEY_CANNOT_SAVE if "MISCONF" in said else None
    if sqlstate := getattr(exc, "sqlstate", None):
        return _BY_SQLSTATE.get(sqlstate)
    if isinstance(exc, OSError):
        return _BY_ERRNO.get(exc.errno or 0)
    return DATABASE_BUSY if any(text in str(exc) for text in _NO_CONNECTION_LEFT) else None


def note(fault: str) -> None:
    """Remember that this process met a fault."""
    _met[fault] = time.monotonic()


def note_for_all(fault: str) -> None:
    """Remember a fault that a worker met where web processes read it."""
    try:
        client().zadd(_SHARED, {fault: now_s()})
    except redis.RedisError as error:
        log.warning("fault_not_told", fault=fault, error=type(error).__name__)


def told_lately() -> list[str]:
    """Return the faults that workers met within a minute. Raises RedisError."""
    members: list[Any] = client().zrangebyscore(_SHARED, now_s() - LATELY_S, "+inf")
    return [member.decode() for member in members]


def met_lately() -> list[str]:
    """Return the faults that this process met within a minute."""
    now = time.monotonic()
    return [fault for fault, at in sorted(_met.items()) if now - at < LATELY_S]


def forget() -> None:
    """Forget all that was met."""
    _met.clear()
