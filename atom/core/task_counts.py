"""How often each task ran, how it ended and how long it took, over all workers, in Valkey.

Pool processes come and go, so counters of their own would be lost or pile up. One hash holds all;
counting costs a task two round trips, and what Valkey could not take is not counted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final

import redis
import structlog
from prometheus_client.core import CounterMetricFamily, Metric

from atom.core.redis import client, now_s

log = structlog.get_logger(__name__)

_HASH: Final = "tasks:counts"
_STARTED: Final = "atom_started"
DONE: Final = "done"
FAILED: Final = "failed"
# It asked to be run again, or went back into the queue with its worker.
AGAIN: Final = "again"
_ENDS: Final = {"SUCCESS": DONE, "FAILURE": FAILED}


@dataclass(frozen=True, slots=True)
class TaskCount:
    """Counts of one task: runs by their end, total seconds, time of its last end (Unix)."""

    name: str
    done: int = 0
    failed: int = 0
    again: int = 0
    seconds: float = 0.0
    last_at: float | None = None


def begin(task: Any = None, **_: Any) -> None:
    """Note when a task starts: receiver of Celery's `task_prerun`."""
    setattr(task.request, _STARTED, time.perf_counter())


def end(task: Any = None, state: str | None = None, **_: Any) -> None:
    """Count a task: receiver of Celery's `task_postrun`."""
    started = getattr(task.request, _STARTED, None)
    if started is None:
        return
    count(task.name, _ENDS.get(state or "", AGAIN), time.perf_counter() - started)


def count(name: str, ended: str, duration_s: float) -> None:
    """Add one run of a task."""
    try:
        ended_at = now_s()
        with client().pipeline(transaction=False) as pipeline:
            pipeline.hincrby(_HASH, f"{name}|{ended}", 1)
            pipeline.hincrbyfloat(_HASH, f"{name}|seconds", duration_s)
            pipeline.hset(_HASH, f"{name}|last_at", ended_at)
            pipeline.execute()
    except redis.RedisError as error:
        log.warning("task_not_counted", task=name, error=type(error).__name__)


def counts() -> list[TaskCount]:
    """Return all tasks that ever ran, by name."""
    rows: dict[str, dict[str, float]] = {}
    found: dict[Any, Any] = client().hgetall(_HASH)
    for field, value in found.items():
        name, _, what = field.decode().rpartition("|")
        rows.setdefault(name, {})[what] = float(value)
    return [
        TaskCount(
            name=name,
            done=int(row.get(DONE, 0)),
            failed=int(row.get(FAILED, 0)),
            again=int(row.get(AGAIN, 0)),
            seconds=row.get("seconds", 0.0),
            last_at=row.get("last_at"),
        )
        for name, row in sorted(rows.items())
    ]


def families(tasks: list[TaskCount]) -> list[Metric]:
    """Return the counts as Prometheus' counters."""
    ends = CounterMetricFamily("atom_tasks", "Tasks that ended.", labels=["task", "ended"])
    seconds = CounterMetricFamily("atom_task_seconds", "Time that tasks took.", labels=["task"])
    for task in tasks:
        for ended in (DONE, FAILED, AGAIN):
            ends.add_metric([task.name, ended], getattr(task, ended))
        seconds.add_metric([task.name], task.seconds)
    return [ends, seconds]
