"""Pyramids of tiles: one for the bytes of a picture, shared by all versions of a project."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from atom.accounts.models import Project
from atom.core import states
from atom.core.models import TimestampedModel
from atom.datasets.states import PYRAMID_STATES


class PicturePyramid(TimestampedModel):
    """The tiles of one picture, in one object of the store.

    `pack`, `offset` and `size_bytes` say where the picture's bytes were last asked for.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    pack = models.CharField(max_length=64)
    offset = models.BigIntegerField()
    size_bytes = models.BigIntegerField()
    state = models.CharField(
        max_length=20, choices=states.choices(PYRAMID_STATES), default="waiting"
    )
    # In per cent.
    progress = models.PositiveSmallIntegerField(default=0)
    reason = models.CharField(max_length=20, blank=True)
    # Size, levels, format and the range of the values, when it is ready.
    facts = models.JSONField(default=dict)
    stored_bytes = models.BigIntegerField(default=0)
    # By the database's clock, to the hour: a cleared one is made again.
    used_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            states.constraint("pyramid_state", PYRAMID_STATES),
            models.UniqueConstraint(fields=["project", "digest"], name="pyramid_digest"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "pack"], name="pyramid_pack"),
            models.Index(fields=["used_at"], name="pyramid_used"),
        ]
