"""Effects wait for commit: a task is sent only when the transaction that asked for it stands."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from celery import Task
from django.db import transaction


def enqueue(task: Task[Any, Any] | str, *args: Any, countdown_s: float = 0) -> None:
    """Send `task(*args)` to the workers once the present transaction has committed.

    An app's actions name their tasks (`"atom.jobs.tasks.tick"`): tasks import actions, and the
    reverse would be a cycle.
    """
    found = _task_named(task) if isinstance(task, str) else task
    transaction.on_commit(lambda: found.apply_async(args=args, countdown=countdown_s))


def _task_named(name: str) -> Task[Any, Any]:
    """Return the task of a dotted name. Raises ImportError or AttributeError if there is none."""
    module, _, attribute = name.rpartition(".")
    task: Task[Any, Any] = getattr(import_module(module), attribute)
    return task
