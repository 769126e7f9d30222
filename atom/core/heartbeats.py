"""Heartbeats of workers and beat in Valkey, so that every web process knows who is alive."""

from __future__ import annotations

import os
import socket
import time
from typing import Any, Final

import redis
import structlog

from atom.core import alive
from atom.core.redis import client, now_s

log = structlog.get_logger(__name__)

WORKER: Final = "worker"
BEAT: Final = "beat"
EVERY_S: Final = 5.0
# Three signs were missed.
SILENT_AFTER_S: Final = 20.0
_SET: Final = "heartbeats"
_FORGOTTEN_AFTER_S: Final = 3600.0


def give_sign(kind: str) -> None:
    """Record a heartbeat of this process; while Valkey is away it is skipped."""
    member = f"{kind}@{socket.gethostname()}:{os.getpid()}"
    try:
        now = now_s()
        with client().pipeline(transaction=False) as pipeline:
            pipeline.zadd(_SET, {member: now})
            pipeline.zremrangebyscore(_SET, 0, now - _FORGOTTEN_AFTER_S)
            pipeline.execute()
    except redis.RedisError as error:
        log.warning("sign_of_life_lost", kind=kind, error=type(error).__name__)


def ages_s(kind: str) -> list[float]:
    """Return how long ago each process of a kind gave a sign, the latest first."""
    now = now_s()
    signs: list[Any] = client().zrevrange(_SET, 0, -1, withscores=True)
    prefix = f"{kind}@".encode()
    return [max(0.0, now - at) for member, at in signs if member.startswith(prefix)]


class Signs:
    """Gives signs of one kind, not oftener than needed, whenever it is called."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._last = 0.0

    def __call__(self, *_: Any, **__: Any) -> None:
        """Give a sign if the last one is old."""
        if time.monotonic() - self._last >= EVERY_S:
            self._last = time.monotonic()
            alive.touch()
            give_sign(self._kind)
