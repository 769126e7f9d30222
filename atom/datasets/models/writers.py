"""Writers, their staging branches, and jobs of many writers that commit once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.apps import apps
from django.conf import settings
from django.db import models

from atom.core import states
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField
from atom.datasets.states import (
    OPEN_WRITE_JOBS,
    OPEN_WRITERS,
    WRITE_JOB_STATES,
    WRITER_STATES,
)

if TYPE_CHECKING:
    from datetime import datetime

    from atom.datasets.models import Dataset


class WriterQuerySet(models.QuerySet["Writer"]):
    """Reads of writers."""

    def open(self) -> WriterQuerySet:
        """Return those that are neither committed nor abandoned."""
        return self.filter(state__in=OPEN_WRITERS)

    def of_dataset(self, dataset: Dataset) -> WriterQuerySet:
        """Return a dataset's writers with what a list shows of them; adds `is_persisting`."""
        live = apps.get_model("datasets", "CommitRequest").objects.filter(
            writer=models.OuterRef("pk"), operation="push", state__in=["pending", "building"]
        )
        rows = self.filter(dataset=dataset).annotate(is_persisting=models.Exists(live))
        return rows.select_related("branch__head", "created_by", "job", "version__author", "base")

    def left_alone(self, since: datetime) -> WriterQuerySet:
        """Return open writers of no job that nobody has touched since then."""
        return self.filter(
            state__in=["writing", "uploading", "persisted"], job=None, updated_at__lt=since
        )

    def untidied(self) -> WriterQuerySet:
        """Return those that have ended and still have their staging branch."""
        return self.filter(state__in=["committed", "abandoned"], branch__isnull=False)


class WriteJobQuerySet(models.QuerySet["WriteJob"]):
    """Reads of write jobs."""

    def open(self) -> WriteJobQuerySet:
        """Return those that are neither committed nor aborted."""
        return self.filter(state__in=OPEN_WRITE_JOBS)

    def with_counts(self) -> WriteJobQuerySet:
        """Add `tasks_committed`, and `attempts_open`."""
        is_open = models.Q(attempts__state__in=OPEN_WRITERS)
        return self.select_related("created_by", "version__author").annotate(
            tasks_committed=models.Count("tasks", distinct=True),
            attempts_open=models.Count("attempts", filter=is_open, distinct=True),
        )


class WriteJob(TimestampedModel):
    """Many tasks, each written by one or more attempts, that become one version.

    The name is the client's: two drivers that give the same one share the job.
    """

    dataset = models.ForeignKey(
        "datasets.Dataset", on_delete=models.CASCADE, related_name="write_jobs"
    )
    name = models.CharField(max_length=100)
    target = models.CharField(max_length=63)
    # The head of the target when the job began; null where that had no version.
    base = models.ForeignKey(
        "datasets.Version", null=True, on_delete=models.PROTECT, related_name="+"
    )
    state = models.CharField(
        max_length=20, choices=states.choices(WRITE_JOB_STATES), default="open"
    )
    message = models.TextField(blank=True, max_length=10_000)
    provenance = models.JSONField(default=dict)
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = SentenceField(blank=True)
    version = models.ForeignKey(
        "datasets.Version", null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = WriteJobQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            states.constraint("write_job_state", WRITE_JOB_STATES),
            models.UniqueConstraint(fields=["dataset", "name"], name="write_job_name"),
        ]


class Writer(TimestampedModel):
    """A handle that writes files to a dataset through a staging branch of its own.

    In a job, a writer is one attempt of one task.
    """

    dataset = models.ForeignKey(
        "datasets.Dataset", on_delete=models.CASCADE, related_name="writers"
    )
    job = models.ForeignKey(WriteJob, null=True, on_delete=models.CASCADE, related_name="attempts")
    task = models.CharField(max_length=100, blank=True)
    target = models.CharField(max_length=63)
    staging = models.CharField(max_length=63, unique=True)
    # Null once the writer has ended and its staging branch is taken away.
    branch = models.OneToOneField(
        "datasets.Branch", null=True, on_delete=models.SET_NULL, related_name="writer"
    )
    # The version that the staging branch began at; null where the target had none.
    base = models.ForeignKey(
        "datasets.Version", null=True, on_delete=models.PROTECT, related_name="+"
    )
    state = models.CharField(
        max_length=20, choices=states.choices(WRITER_STATES), default="writing"
    )
    message = models.TextField(blank=True, max_length=10_000)
    provenance = models.JSONField(default=dict)
    # Persisted so far; a path that was written twice counts twice.
    files_written = models.BigIntegerField(default=0)
    files_removed = models.BigIntegerField(default=0)
    bytes_written = models.BigIntegerField(default=0)
    # The amount that the client is sending now, as it says.
    waiting_files = models.BigIntegerField(default=0)
    waiting_bytes = models.BigIntegerField(default=0)
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = SentenceField(blank=True)
    version = models.ForeignKey(
        "datasets.Version", null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = WriterQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            states.constraint("writer_state", WRITER_STATES),
            models.CheckConstraint(
                condition=models.Q(job__isnull=True, task="")
                | (models.Q(job__isnull=False) & ~models.Q(task="")),
                name="writer_task_of_job",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["dataset", "-created_at", "-id"])]


class WriteTask(TimestampedModel):
    """The one attempt of a task that counts; a later commit of the task replaces it."""

    job = models.ForeignKey(WriteJob, on_delete=models.CASCADE, related_name="tasks")
    task = models.CharField(max_length=100)
    writer = models.OneToOneField(Writer, on_delete=models.CASCADE, related_name="counted_as")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job", "task"], name="write_task_once"),
        ]
