"""Results of comparing the catalogue with the bucket."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from atom.accounts.models import Project
from atom.core.models import TimestampedModel


class CatalogueCheck(TimestampedModel):
    """One comparison of a project's catalogue with the bucket; under way until it is finished."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="catalogue_checks")
    # The last dataset that was compared: whoever takes it up goes on behind it.
    after = models.UUIDField(null=True)
    dataset_count = models.BigIntegerField(default=0)
    version_count = models.BigIntegerField(default=0)
    pack_count = models.BigIntegerField(default=0)
    difference_count = models.BigIntegerField(default=0)
    # The first few, to look at.
    differences = models.JSONField(default=list)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project"], condition=Q(finished_at=None), name="catalogue_check_once"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "finished_at"], name="catalogue_check_last"),
        ]
