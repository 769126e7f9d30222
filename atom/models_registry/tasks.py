"""Celery shims and the schedule of the registry."""

from typing import Any, Final

from celery import shared_task

from atom.models_registry import actions

BEAT_SCHEDULE: Final[dict[str, dict[str, Any]]] = {
    "models-registry-tick": {"task": "models_registry.tick", "schedule": 3.0},
}


@shared_task(name="models_registry.tick", soft_time_limit=570, time_limit=600)
def tick() -> None:
    """Register and evaluate what finished runs left."""
    actions.take_in_finished_runs()
