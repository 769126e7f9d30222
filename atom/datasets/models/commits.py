"""Uploads, and the commits that workers build from them."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from atom.core import states
from atom.core.sentence_field import SentenceField
from atom.datasets.models.retry_counts import RetriedModel
from atom.datasets.states import (
    CANCELLABLE_OPERATIONS,
    COMMIT_STATES,
    OPERATIONS,
    UPLOAD_KINDS,
    UPLOAD_STATES,
)


class Upload(RetriedModel):
    """One resumable upload: by parts (`multipart_id`), or by one PUT without it.

    `key` is the pack's own, or one in staging.
    """

    dataset = models.ForeignKey(
        "datasets.Dataset", on_delete=models.CASCADE, related_name="uploads"
    )
    kind = models.CharField(max_length=10, choices=[(kind, kind) for kind in UPLOAD_KINDS])
    digest = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    part_size_bytes = models.BigIntegerField()
    key = models.CharField(max_length=200)
    multipart_id = models.CharField(max_length=300, blank=True)
    state = models.CharField(max_length=20, choices=states.choices(UPLOAD_STATES), default="open")
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = SentenceField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            states.constraint("upload_state", UPLOAD_STATES),
            models.UniqueConstraint(
                fields=["dataset", "kind", "digest"],
                condition=Q(state__in=["open", "uploaded", "verifying"]),
                name="upload_once",
            ),
        ]


class CommitRequest(RetriedModel):
    """A commit being built by a worker."""

    dataset = models.ForeignKey(
        "datasets.Dataset", on_delete=models.CASCADE, related_name="commit_requests"
    )
    branch = models.CharField(max_length=63)
    operation = models.CharField(
        max_length=20, choices=[(name, name) for name in OPERATIONS], default="push"
    )
    # The arguments of an operation; a push has them in its changes file.
    arguments = models.JSONField(default=dict)
    expected_head = models.CharField(max_length=64, blank=True)
    # The head that an operation works on: known before the branch moves, so that a second run
    # makes the same commit.
    built_on = models.CharField(max_length=64, blank=True)
    message = models.TextField(blank=True, max_length=10_000)
    # Null: the files stay, and only the split is new.
    changes_upload = models.ForeignKey(
        Upload, null=True, on_delete=models.PROTECT, related_name="+"
    )
    split = models.JSONField(null=True)
    labels_from = models.CharField(max_length=20, blank=True)
    unlabelled_prefixes = models.JSONField(default=list)
    provenance = models.JSONField(default=dict)
    state = models.CharField(
        max_length=20, choices=states.choices(COMMIT_STATES), default="pending"
    )
    progress = models.FloatField(default=0)
    # The present stage of the worker, and how many of its rows are done: see
    # `atom_sdk.manifests.progress`.
    stage = models.CharField(max_length=20, blank=True)
    rows_done = models.BigIntegerField(default=0)
    rows_total = models.BigIntegerField(default=0)
    # The branch is about to move, or has moved: too late to cancel.
    committing = models.BooleanField(default=False)
    unchanged = models.BooleanField(default=False)
    # The head that a conflicting commit ran into.
    head_seen = models.CharField(max_length=64, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = SentenceField(blank=True)
    # Conflicts are paths or fields that both sides changed differently: their number, and the first
    # ones.
    conflicts_total = models.PositiveIntegerField(default=0)
    conflicts = models.JSONField(default=list)
    version = models.ForeignKey(
        "datasets.Version", null=True, on_delete=models.PROTECT, related_name="+"
    )
    # A push onto a writer's staging branch, or the commit of a writer or of a whole job.
    writer = models.ForeignKey(
        "datasets.Writer", null=True, on_delete=models.CASCADE, related_name="requests"
    )
    write_job = models.ForeignKey(
        "datasets.WriteJob", null=True, on_delete=models.CASCADE, related_name="requests"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            # A writer and a job commit once, however often and by whomever they are asked to.
            models.UniqueConstraint(
                fields=["writer"],
                condition=Q(operation="write", state__in=["pending", "building", "published"]),
                name="writer_commits_once",
            ),
            models.UniqueConstraint(
                fields=["write_job"],
                condition=Q(state__in=["pending", "building", "published"]),
                name="write_job_commits_once",
            ),
            models.UniqueConstraint(
                fields=["writer"],
                condition=Q(operation="push", state__in=["pending", "building"]),
                name="writer_persists_one_by_one",
            ),
            models.CheckConstraint(
                condition=(
                    ~Q(operation="write")
                    | Q(writer__isnull=False, write_job__isnull=True)
                    | Q(writer__isnull=True, write_job__isnull=False)
                ),
                name="commit_write_names_writer",
            ),
            states.constraint("commit_state", COMMIT_STATES),
            models.CheckConstraint(condition=Q(operation__in=OPERATIONS), name="commit_operation"),
            models.CheckConstraint(
                condition=(
                    Q(operation="push")
                    & (
                        Q(changes_upload__isnull=False)
                        | Q(split__isnull=False)
                        | Q(labels_from="folder")
                    )
                )
                | (~Q(operation="push") & Q(changes_upload__isnull=True)),
                name="commit_push_has_changes",
            ),
            # Cancelling and moving the branch exclude each other: the first one wins.
            models.CheckConstraint(
                condition=~Q(state="cancelled")
                | Q(
                    committing=False,
                    operation__in=CANCELLABLE_OPERATIONS,
                    writer__isnull=True,
                    write_job__isnull=True,
                ),
                name="commit_cancelled_before_move",
            ),
        ]

    @property
    def is_open(self) -> bool:
        """Return whether a worker has still to do with it."""
        return self.state in {"pending", "building"}

    @property
    def may_be_cancelled(self) -> bool:
        """Return whether it is of a kind that people cancel; it may be too late all the same."""
        belongs_to_writer = self.writer_id is not None or self.write_job_id is not None
        return self.operation in CANCELLABLE_OPERATIONS and not belongs_to_writer

    @property
    def cancellable(self) -> bool:
        """Return whether it can be cancelled now."""
        return self.may_be_cancelled and self.is_open and not self.committing
