"""Removes what ended attempts left on this machine, so that its disk does not fill."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import Exists, OuterRef

from atom.cache.delivery.actions.job_views import attempts_shown_to
from atom.cache.delivery.actions.mounts import attempts_with_mounts
from atom.core import clock
from atom.jobs import states
from atom.jobs.executors import local_executor
from atom.jobs.executors.local.datasets import hide_datasets
from atom.jobs.executors.local.executor import LocalExecutor
from atom.jobs.executors.local.removal_order import EndedAttempt, Retention, removal_order
from atom.jobs.models import Artifact, Attempt

log = structlog.get_logger(__name__)

# Below this part of the disk, what is kept for debugging goes too.
LOW_DISK = 0.10


def remove_old_attempts() -> int:
    """Remove the folders that are due, and more while the disk is nearly full; return how many."""
    local = local_executor()
    # At once: links to packs would hold the bytes of what the cache evicts.
    hide_datasets(local.is_alive, set(attempts_shown_to()))
    due, spare = removal_order(_ended(local), clock.now(), _retention())
    removed = 0
    for attempt_id in (*due, *spare):
        if attempt_id in spare and not _is_disk_low(local.home):
            break
        local.remove(attempt_id)
        log.info("attempt_folder_removed", attempt_id=str(attempt_id), due=attempt_id in due)
        removed += 1
    return removed


def unmount_ended() -> None:
    """Take away the folders of attempts that have ended, however they did; soon, and only those."""
    local = local_executor()
    hide_datasets(local.is_alive, set(attempts_with_mounts()))


def _open(attempt_ids: set[UUID]) -> set[UUID]:
    known = Attempt.objects.filter(pk__in=attempt_ids).exclude(state__in=states.TERMINAL)
    return set(known.values_list("pk", flat=True))


def _ended(local: LocalExecutor) -> list[EndedAttempt]:
    folders = local.folders()
    gone = [pk for pk in set(folders) - _open(set(folders)) if not local.is_alive(pk)]
    later = Attempt.objects.filter(run=OuterRef("run"), number__gt=OuterRef("number"))
    unsaved = Artifact.objects.filter(attempt=OuterRef("pk")).exclude(state=states.PERSISTED)
    rows = Attempt.objects.filter(pk__in=gone).annotate(
        is_followed=Exists(later), has_unsaved=Exists(unsaved)
    )
    known = {one.pk: one for one in rows}
    return [_describe(pk, known.get(pk), folders[pk]) for pk in gone]


def _describe(attempt_id: UUID, attempt: Attempt | None, changed_at_s: float) -> EndedAttempt:
    changed_at = datetime.fromtimestamp(changed_at_s, UTC)
    if attempt is None:  # its run was deleted, or belongs to an earlier database
        return EndedAttempt(attempt_id, changed_at, worth_keeping=True)
    # The annotations of a QuerySet are not part of the model's type.
    row: Any = attempt
    worth_keeping = row.has_unsaved or not row.is_followed
    return EndedAttempt(attempt_id, attempt.finished_at or changed_at, worth_keeping)


def _retention() -> Retention:
    return Retention(
        kept=timedelta(seconds=settings.ATOM_ATTEMPT_KEPT_S),
        worth_keeping_kept=timedelta(seconds=settings.ATOM_LAST_ATTEMPT_KEPT_S),
    )


def _is_disk_low(home: Path) -> bool:
    usage = shutil.disk_usage(home)
    return usage.free < usage.total * LOW_DISK
