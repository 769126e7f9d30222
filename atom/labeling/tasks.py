"""Celery shims and the schedule of LabelX."""

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from celery import shared_task
from celery.schedules import crontab

from atom.core import clock
from atom.core.background import enqueue
from atom.labeling import states
from atom.labeling.actions import transfer_runs
from atom.labeling.actions.completion import complete_finished
from atom.labeling.actions.guideline_pictures import delete_orphans
from atom.labeling.actions.label_imports import UploadOnTheWay
from atom.labeling.actions.label_tasks import fill_task
from atom.labeling.actions.leases import expire_leases, open_departed
from atom.labeling.actions.publishing import publish_task
from atom.labeling.actions.repair import repair_items, tasks_to_repair
from atom.labeling.models import LabelTask

# A publication older than this may have lost its worker; a living one holds a lock.
_STUCK_AFTER_S = 10
_UPLOAD_WAIT_S = 1.0

BEAT_SCHEDULE: Final[dict[str, dict[str, Any]]] = {
    "labeling-tick": {"task": "labeling.tick", "schedule": 15.0},
    "labeling-orphaned-pictures": {
        "task": "labeling.delete_orphaned_pictures",
        "schedule": crontab(hour=4, minute=45),
    },
}


@shared_task(name="labeling.publish_labels", time_limit=1800)
def publish_labels(task_id: str) -> None:
    """Publish a task's labels."""
    publish_task(UUID(task_id))


@shared_task(name="labeling.fill_items", soft_time_limit=1740, time_limit=1800)
def fill_items(task_id: str) -> None:
    """Make the items of a task over a large version."""
    fill_task(UUID(task_id))


@shared_task(name="labeling.mend_label_items", soft_time_limit=1740, time_limit=1800)
def repair_label_items(task_id: str) -> None:
    """Have a task's items be read from where their version has them now."""
    repair_items(UUID(task_id))


@shared_task(name="labeling.run_transfer", soft_time_limit=1740, time_limit=1800)
def run_transfer(transfer_id: str) -> None:
    """Inspect or carry out an import or export of labels."""
    try:
        transfer_runs.run_transfer(UUID(transfer_id))
    except UploadOnTheWay:
        # Verification retries are bounded, so polling here ends.
        enqueue(run_transfer, transfer_id, countdown_s=_UPLOAD_WAIT_S)


@shared_task(name="labeling.delete_orphaned_pictures", soft_time_limit=1740, time_limit=1800)
def delete_orphaned_pictures() -> None:
    """Delete pictures of guidelines whose process ended before it wrote their row."""
    delete_orphans()


@shared_task(name="labeling.tick", soft_time_limit=110, time_limit=120)
def tick() -> None:
    """Open lost leases, complete finished tasks, resume what was cut off."""
    expire_leases()
    open_departed()
    complete_finished()
    stuck_before = clock.now() - timedelta(seconds=_STUCK_AFTER_S)
    stuck = LabelTask.objects.filter(state=states.PUBLISHING, updated_at__lt=stuck_before)
    for task_id in stuck.values_list("pk", flat=True):
        enqueue(publish_labels, str(task_id), expires_s=_STUCK_AFTER_S)
    unfilled = LabelTask.objects.filter(populated_at=None, created_at__lt=stuck_before)
    for task_id in unfilled.values_list("pk", flat=True):
        enqueue(fill_items, str(task_id), expires_s=_STUCK_AFTER_S)
    after = timedelta(seconds=_STUCK_AFTER_S)
    for transfer_id in transfer_runs.stuck_transfers(after).values_list("pk", flat=True):
        enqueue(run_transfer, str(transfer_id), expires_s=_STUCK_AFTER_S)
    transfer_runs.tidy_transfers()
    for task_id in tasks_to_repair().values_list("pk", flat=True):
        enqueue(repair_label_items, str(task_id), expires_s=_STUCK_AFTER_S)
