"""Saved views: questions about a dataset that have a name."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from atom.accounts.models import slug_validator
from atom.core.models import TimestampedModel


class SavedView(TimestampedModel):
    """A question with a name, asked of whatever version is looked at.

    A file is in the view if it matches `where`, lies below `prefix` and is in one of `splits`;
    an empty one of them asks nothing.
    """

    dataset = models.ForeignKey(
        "datasets.Dataset", on_delete=models.CASCADE, related_name="saved_views"
    )
    name = models.CharField(max_length=63, validators=[slug_validator])
    where = models.TextField(blank=True)
    prefix = models.TextField(blank=True)
    splits = models.JSONField(default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["dataset", "name"], name="saved_view_name"),
            models.CheckConstraint(
                condition=~Q(where="", prefix="", splits=[]), name="saved_view_asks"
            ),
        ]

    def __str__(self) -> str:
        return self.name
