"""The state of services now, for a banner of the portal that everybody sees.

It needs no sign-in, since signing in needs services that may be away. It names parts and the
effects for people. Addresses, versions and metrics are on the health page, for administrators.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import connection
from drf_spectacular.utils import extend_schema
from redis import RedisError
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.core import faults, health, heartbeats, redis
from atom.core.health_checks import LEVELS, Finding, Level, worst

# Many clients ask, so one answer serves all of them for a while.
KEPT_S: Final = 5.0
# Less than any write of ours may need at once.
DISK_OUT_BYTES: Final = 64 << 20
_AWAY: Final[dict[str, tuple[str, str, Level]]] = {
    "postgresql": (
        "database_away",
        "The database does not answer: nothing can be read or written. Jobs go on.",
        "problem",
    ),
    "valkey": (
        "valkey_away",
        "Valkey does not answer: logs and curves are late, and nothing new is begun.",
        "problem",
    ),
    "object_store": (
        "object_store_away",
        "The object store does not answer: files cannot be uploaded, opened or committed.",
        "problem",
    ),
    "clock": (
        "clock_wrong",
        "The clock of a server is wrong: uploads and downloads are refused.",
        "problem",
    ),
}
_SILENT: Final = {
    heartbeats.WORKER: (
        "worker_silent",
        "No worker runs: runs are not started, and nothing is verified, committed or published.",
    ),
    heartbeats.BEAT: (
        "beat_silent",
        "Scheduler is down: interrupted work will not resume.",
    ),
}
# Faults of a part that did not store a few bytes in time.
_SLOW: Final = {"disk": faults.DISK_SILENT, "database_writes": faults.DATABASE_SLOW}
_BY_ITSELF: Final = "Wait a moment: it is started again by itself. Nothing acknowledged is lost."


def faults_now() -> list[Finding]:
    """Return what does not work, the worst first."""
    parts = health.probe_all()
    # Valkey answers even the simplest question that it cannot save.
    said = {name: part["fault"] for name, part in parts.items() if "fault" in part}
    answering = {name for name, part in parts.items() if part["ok"]}
    found = [_away(name) for name in parts if name not in answering | set(said)]
    refused = {*said.values(), *_refusals(answering)}
    found += [_refusal(fault) for fault in sorted(refused)]
    # Heartbeats are written to Valkey: while it takes no writes, silence proves nothing.
    if "valkey" in answering and not refused & {faults.VALKEY_FULL, faults.VALKEY_CANNOT_SAVE}:
        found += _silent()
    return sorted(found, key=lambda one: -LEVELS.index(one.level))


def refusals() -> list[Finding]:
    """Return which parts answer but cannot do their work."""
    return [_refusal(fault) for fault in sorted(_refusals({"postgresql", "valkey"}))]


def _away(name: str) -> Finding:
    code, detail, level = _AWAY[name]
    action = "Have an administrator set it." if name == "clock" else _BY_ITSELF
    return Finding(code, level, detail, action)


def _refusal(fault: str) -> Finding:
    detail, action = faults.SAYS[fault]
    passes = fault in {
        faults.OBJECT_STORE_FAILING,
        faults.DATABASE_BUSY,
        faults.DATABASE_SLOW,
    }
    return Finding(fault, "warning" if passes else "problem", detail, action)


def _refusals(answering: set[str]) -> set[str]:
    """Return what was met lately, and what each part says when it is asked to write."""
    checks: dict[str, Callable[[], None]] = {"disk": _disk}
    if "postgresql" in answering:
        checks["database_writes"] = _database
    if "valkey" in answering:
        checks["valkey_writes"] = _valkey
    found = set(faults.met_lately())
    if "valkey" in answering:
        with suppress(RedisError):
            found.update(faults.told_lately())
    parts = health.ask_all(checks)
    found.update(part["fault"] for part in parts.values() if "fault" in part)
    silent = {name for name, part in parts.items() if health.is_silent(part)}
    return found | {_SLOW[name] for name in silent & set(_SLOW)}


def _disk() -> None:
    home: Path = settings.ATOM_HOME
    if shutil.disk_usage(home).free < DISK_OUT_BYTES:
        raise faults.FaultMetError(faults.DISK_FULL)
    # `fsync` is needed: a write that reaches only memory says nothing about the disk.
    with tempfile.TemporaryFile(dir=home) as probe:
        probe.write(b"written")
        probe.flush()
        os.fsync(probe.fileno())


def _database() -> None:
    with connection.cursor() as cursor:
        # On for a standby too.
        cursor.execute("SELECT current_setting('transaction_read_only') = 'on'")
        if cursor.fetchone()[0]:
            raise faults.FaultMetError(faults.DATABASE_READ_ONLY)
        # It changes nothing, and returns once it is on the disk, as a commit does.
        cursor.execute("SELECT pg_logical_emit_message(true, 'atom', 'written')")


def _valkey() -> None:
    redis.client().set("state:written", 1, ex=60)


def _silent() -> Iterator[Finding]:
    for kind, (code, detail) in _SILENT.items():
        with suppress(RedisError):
            if all(age >= heartbeats.SILENT_AFTER_S for age in heartbeats.ages_s(kind)):
                yield Finding(code, "warning", detail, _BY_ITSELF)


# --- view ---------------------------------------------------------------------------------------


@dataclass
class _Kept:
    """The last answer; while one request computes the next, the others get this one."""

    faults: list[Finding] = field(default_factory=list)
    at: float = float("-inf")
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self) -> list[Finding]:
        """Return what does not work, at most some seconds old."""
        if time.monotonic() - self.at < KEPT_S:
            return self.faults
        # Only the very first ones wait.
        if self.lock.acquire(blocking=self.at == float("-inf")):
            try:
                self.faults, self.at = faults_now(), time.monotonic()
            finally:
                self.lock.release()
        return self.faults

    def forget(self) -> None:
        """Forget the answer, so that the next request computes it."""
        self.at = float("-inf")


kept = _Kept()


class FaultSerializer(serializers.Serializer[Finding]):
    """One thing that does not work, and what follows for people."""

    code = serializers.CharField()
    level = serializers.ChoiceField(choices=LEVELS)
    detail = serializers.CharField()
    action = serializers.CharField()


class ServiceStateSerializer(serializers.Serializer[Any]):
    """Whether everything works, and what does not."""

    level = serializers.ChoiceField(choices=LEVELS)
    faults = FaultSerializer(many=True)


class ServiceStateView(APIView):
    """The public part of the installation's state."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(responses=ServiceStateSerializer, operation_id="state_retrieve", auth=[])
    def get(self, request: Request) -> Response:
        """Return what does not work now; at most a few seconds old."""
        found = kept.get()
        body = {"level": worst(found), "faults": found}
        headers = {"Cache-Control": "no-store"}
        return Response(ServiceStateSerializer(body).data, headers=headers)
