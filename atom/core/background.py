"""Effects wait for commit: a task is sent only when the transaction that asked for it stands.

A message may be lost: its worker is killed, or the broker is. So every app has a periodic task
that looks at states and sends again what is not done; sending only makes things fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import structlog
from celery import Task
from celery.exceptions import OperationalError
from django.db import transaction
from redis import RedisError

log = structlog.get_logger(__name__)


def enqueue(
    task: Task[Any, Any] | str,
    *args: Any,
    countdown_s: float = 0,
    expires_s: float | None = None,
) -> None:
    """Send `task(*args)` to the workers once the present transaction has committed.

    A message that nobody took within `expires_s` seconds is dropped: who sends the same again and
    again must not fill the queue.

    An app's actions name their tasks (`"atom.jobs.tasks.tick"`): tasks import actions, and the
    reverse would be a cycle.
    """
    found = _task_named(task) if isinstance(task, str) else task
    transaction.on_commit(lambda: _send(found, args, countdown=countdown_s, expires=expires_s))


def _send(task: Task[Any, Any], args: tuple[Any, ...], **options: Any) -> None:
    """Send a message; what was committed stands, so a broker that is away is no error."""
    try:
        task.apply_async(args=args, **options)
    except (OperationalError, RedisError) as exc:
        # A broker whose memory or disk is full counts as away.
        log.warning("task_not_sent", task=task.name, task_args=args, error=str(exc))


def _task_named(name: str) -> Task[Any, Any]:
    """Return the task of a dotted name. Raises ImportError or AttributeError if there is none."""
    module, _, attribute = name.rpartition(".")
    task: Task[Any, Any] = getattr(import_module(module), attribute)
    return task
