"""`/healthz` says that the process answers; `/readyz` that what it needs answers too."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.http import HttpRequest, JsonResponse

from atom.core import clock, redis, storage

# S3 refuses addresses that were signed by a clock that is 15 minutes wrong.
MAX_SKEW_S = 300.0


class ClockWrongError(Exception):
    """This machine's clock is far from the database's."""


def healthz(request: HttpRequest) -> JsonResponse:
    """Return 200 as long as the process can answer at all."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:
    """Return 200 when PostgreSQL, Valkey and the object store answer and the clock is right."""
    parts = probe_all()
    ready = all(part["ok"] for part in parts.values())
    return JsonResponse(
        {"status": "ready" if ready else "unready", "parts": parts}, status=200 if ready else 503
    )


def probe_all() -> dict[str, dict[str, Any]]:
    """Return for each service whether it answers: `ok`, and `latency_ms` or `error`."""
    checks = {
        "postgresql": _postgresql,
        "valkey": _valkey,
        "object_store": _object_store,
        "clock": _clock,
    }
    return {name: _probe(check) for name, check in checks.items()}


def _probe(check: Callable[[], None]) -> dict[str, Any]:
    started = time.monotonic()
    try:
        check()
    except Exception as exc:  # every driver has its own tree; the probe reports, never raises
        said = {"detail": str(exc)} if isinstance(exc, ClockWrongError) else {}
        return {"ok": False, "error": type(exc).__name__, **said}
    return {"ok": True, "latency_ms": round((time.monotonic() - started) * 1000, 1)}


def _postgresql() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _valkey() -> None:
    redis.client().ping()


def _object_store() -> None:
    storage.objects().exists("readyz")


def _clock() -> None:
    ahead_s = time.time() - clock.now().timestamp()
    if abs(ahead_s) > MAX_SKEW_S:
        raise ClockWrongError(
            f"This machine's clock is {ahead_s:+.0f} s off the database's: object stores refuse "
            "what it signs. Set it, for example by NTP."
        )
