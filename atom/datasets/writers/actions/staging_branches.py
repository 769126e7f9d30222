"""The end of staging branches: writers that ended lose them, writers that nobody touches end."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import QuerySet

from atom.core import clock
from atom.datasets.catalog import ref_log
from atom.datasets.catalog.actions.catalogue import unpin
from atom.datasets.commits.actions.branches import head_commit, settle_branch
from atom.datasets.models import Branch, CommitRequest, Version, WriteJob, Writer
from atom.datasets.retention.actions.retention import expire_staged
from atom.datasets.writers.actions.write_jobs import abort_write_job
from atom.datasets.writers.actions.writers import PIN_HOLDER, abandon_writer, lock_writer
from atom.datasets.writers.errors import WriteJobEnded, WriterEnded

log = structlog.get_logger(__name__)

# Said in docs/writing.md.
LEFT_ALONE_AFTER = timedelta(days=7)
_BATCH = 500


def abandon_left_alone(after: timedelta = LEFT_ALONE_AFTER) -> None:
    """Abandon writers and jobs that nobody has touched for so long. Repeatable."""
    since = clock.now() - after
    for writer in Writer.objects.left_alone(since)[:_BATCH]:
        try:
            abandon_writer(writer, None)
        except WriterEnded:
            # It was committed at this moment.
            continue
    touched = Writer.objects.filter(updated_at__gte=since, job__isnull=False).values("job_id")
    idle = WriteJob.objects.filter(state="open", updated_at__lt=since).exclude(pk__in=touched)
    for job in idle[:_BATCH]:
        try:
            abort_write_job(job, None)
        except WriteJobEnded:
            continue


def tidy_writers() -> int:
    """Take away the staging branches of writers that have ended; returns how many."""
    done = 0
    for writer in Writer.objects.untidied().order_by("updated_at")[:_BATCH]:
        done += take_staging_away(writer)
    return done


def take_staging_away(writer: Writer) -> bool:
    """Delete a staging branch and expire its versions; garbage collection takes their files.

    Versions that somebody tagged, pinned or made a branch of stay.
    """
    with transaction.atomic():
        found = lock_writer(writer)
        if found.branch is None or found.state not in {"committed", "abandoned"}:
            return False
        settle_branch(found.dataset, found.staging)
        branch = Branch.objects.select_related("head").select_for_update(of=("self",))
        staged = branch.get(pk=found.branch.pk)
        author = found.created_by.username if found.created_by else ""
        ref_log.write_end(staged, head_commit(staged), author)
        staged.delete()
        expire_staged(found.dataset, _staged_versions(found))
        unpin(PIN_HOLDER, str(found.pk))
    log.info("staging_taken_away", writer_id=str(writer.pk), state=found.state)
    return True


def _staged_versions(writer: Writer) -> QuerySet[Version]:
    made = CommitRequest.objects.filter(
        writer=writer, operation="push", state="published", unchanged=False
    )
    return writer.dataset.versions.filter(pk__in=made.values("version_id"), number=None)
