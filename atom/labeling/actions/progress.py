"""Telling open pages that the counts of a task have changed."""

from __future__ import annotations

from uuid import UUID

from atom.core import live


def notify_progress(task_id: UUID) -> None:
    """Tell open pages that the task's counts have changed."""
    live.publish(f"labeltask.{task_id}", {"type": "progress", "id": str(task_id)})
