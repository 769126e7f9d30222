"""Comments on runs."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from atom.core.models import TimestampedModel


class RunComment(TimestampedModel):
    """One comment of a run's thread."""

    run = models.ForeignKey("jobs.Run", on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    text = models.TextField()
    # The members whom it names with an @.
    mentioned = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")
    edited_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["run", "created_at", "id"])]
