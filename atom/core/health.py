"""`/healthz` says that the process answers; `/readyz` that what it needs answers too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, JsonResponse

from atom.core import clock, faults, redis, storage

# S3 refuses addresses that were signed by a clock that is 15 minutes wrong.
MAX_SKEW_S = 300.0
_TIMED_OUT = "TimeoutError"


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
    return ask_all(
        {
            "postgresql": _postgresql,
            "valkey": _valkey,
            "object_store": _object_store,
            "clock": _clock,
        }
    )


def ask_all(checks: dict[str, Callable[[], None]]) -> dict[str, dict[str, Any]]:
    """Ask several parts at the same time, each for a few seconds at most."""
    asked = {name: _questions.ask(name, check) for name, check in checks.items()}
    wait(asked.values(), settings.ATOM_PROBE_WITHIN_S)
    return {name: _answer(future) for name, future in asked.items()}


def is_silent(part: dict[str, Any]) -> bool:
    """Whether a part had not answered when the wait for it ended."""
    return part.get("error") == _TIMED_OUT


class _Questions:
    """One thread per question; one that hangs is waited for, and not asked again meanwhile."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, Future[float]] = {}

    def ask(self, name: str, check: Callable[[], None]) -> Future[float]:
        """Return the latency to come, in milliseconds."""
        with self._lock:
            under_way = self._open.get(name)
            if under_way is not None and not under_way.done():
                return under_way
            future: Future[float] = Future()
            self._open[name] = future
        threading.Thread(target=_ask, args=(check, future), daemon=True).start()
        return future


_questions = _Questions()


def _ask(check: Callable[[], None], future: Future[float]) -> None:
    started = time.monotonic()
    try:
        check()
    except Exception as exc:  # every driver has its own tree; the probe reports, never raises
        answer: float | Exception = exc
    else:
        answer = round((time.monotonic() - started) * 1000, 1)
    # Before the answer, because its reader may end the process or the test.
    connection.close()
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)


def _answer(future: Future[float]) -> dict[str, Any]:
    if not future.done():
        return {"ok": False, "error": _TIMED_OUT}
    exc = future.exception()
    if exc is None:
        return {"ok": True, "latency_ms": future.result()}
    said = {"detail": str(exc)} if isinstance(exc, ClockWrongError) else {}
    if (fault := faults.fault_of(exc)) is not None:
        said["fault"] = fault
    return {"ok": False, "error": type(exc).__name__, **said}


def _postgresql() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _valkey() -> None:
    redis.client().ping()


def _object_store() -> None:
    storage.objects().ask()


def _clock() -> None:
    ahead_s = time.time() - clock.now().timestamp()
    if abs(ahead_s) > MAX_SKEW_S:
        raise ClockWrongError(
            f"This machine's clock is {ahead_s:+.0f} s off the database's: object stores refuse "
            "what it signs. Set it, for example by NTP."
        )
