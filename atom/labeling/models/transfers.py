"""Transfers: labels that come into a dataset from files, or go out of it into files."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from atom.accounts.models import Project
from atom.core import states as core_states
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField
from atom.datasets.models import Dataset, Upload, Version
from atom.labeling import states
from atom.labeling.models.tasks import LabelTask

IMPORT: Final = "import"
EXPORT: Final = "export"
DIRECTIONS: Final = (IMPORT, EXPORT)


class LabelTransferQuerySet(models.QuerySet["LabelTransfer"]):
    """Reads of transfers."""

    def visible_to(self, user: Any) -> Self:
        """Keep the transfers of projects that `user` sees."""
        return self.filter(project__in=Project.objects.visible_to(user))

    def for_display(self) -> Self:
        """Join all that an answer shows, so that a list costs one query."""
        return self.select_related(
            "project__unit", "dataset", "version", "label_task", "upload", "output_version",
            "created_by",
        )  # fmt: skip


class LabelTransfer(TimestampedModel):
    """One import or export of labels: inspected first, then carried out once it is confirmed.

    `options` are the choices of the person. `report` is the result of the inspection and `outcome`
    that of the work; both are plain JSON with exact counts.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="label_transfers")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="label_transfers")
    direction = models.CharField(max_length=10, choices=[(each, each) for each in DIRECTIONS])
    # An import goes to this branch; empty for an export.
    branch = models.CharField(max_length=63, blank=True)
    # The version that is exported, or the head that an import was compared with.
    version = models.ForeignKey(Version, on_delete=models.SET_NULL, null=True, related_name="+")
    # An export of the accepted labels of a task, in place of a version's.
    label_task = models.ForeignKey(
        LabelTask, on_delete=models.SET_NULL, null=True, related_name="exports"
    )
    format = models.CharField(max_length=20)
    options = models.JSONField(default=dict)
    upload = models.ForeignKey(Upload, on_delete=models.SET_NULL, null=True, related_name="+")
    filename = models.CharField(max_length=255, blank=True)
    state = models.CharField(
        max_length=20,
        default=states.PENDING,
        choices=core_states.choices(states.TRANSFER_STATES),
    )
    progress = models.FloatField(default=0.0)
    report = models.JSONField(default=dict)
    outcome = models.JSONField(default=dict)
    # Carried out without waiting for a person, unless the inspection refuses it.
    is_confirmed = models.BooleanField(default=False)
    confirmed_at = models.DateTimeField(null=True)
    # How often a worker began; a file that kills each of them is given up.
    attempts = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = SentenceField(blank=True)
    output_version = models.ForeignKey(
        Version, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    # The archive of an export, until it expires.
    result_bytes = models.BigIntegerField(null=True)
    expires_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = LabelTransferQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            core_states.constraint("label_transfer_state", states.TRANSFER_STATES),
            models.CheckConstraint(
                condition=Q(direction__in=DIRECTIONS), name="label_transfer_direction"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["project", "-created_at", "-id"])]

    def __str__(self) -> str:
        """Return the direction and the format."""
        return f"{self.direction} of {self.format}"

    @property
    def folder(self) -> str:
        """Where its objects lie, relative to the project's prefix."""
        return f"label-transfers/{self.pk}/"
