"""Celery shims and the schedule of cleaning reports."""

from datetime import timedelta
from typing import Any, Final

from celery import shared_task

from atom.cleaning import actions
from atom.core import clock
from atom.core.background import enqueue

# A report that moved just now is in a worker's hands.
_LEFT_ALONE_FOR = timedelta(seconds=2)
_EXPIRES_S = 10.0

BEAT_SCHEDULE: Final[dict[str, dict[str, Any]]] = {
    "cleaning-tick": {"task": "cleaning.tick", "schedule": 3.0},
}


@shared_task(name="cleaning.tick", soft_time_limit=55, time_limit=60)
def tick() -> None:
    """Carry on every report whose run may have ended, or whose worker was lost."""
    for report_id in actions.open_reports(clock.now() - _LEFT_ALONE_FOR):
        enqueue(advance, report_id, expires_s=_EXPIRES_S)


@shared_task(name="cleaning.advance", soft_time_limit=1740, time_limit=1800)
def advance(report_id: str) -> None:
    """Carry one report on."""
    actions.advance(report_id)
