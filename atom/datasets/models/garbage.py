"""Tables of garbage collection: runs, and what they condemned."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from atom.accounts.models import Project
from atom.core import states
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField
from atom.datasets.states import CONDEMNED_STATES, GARBAGE_RUN_STATES


class GarbageRun(TimestampedModel):
    """One look at the objects of a project; a dry run only counts."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="garbage_runs")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    is_dry_run = models.BooleanField(default=True)
    state = models.CharField(
        max_length=20, choices=states.choices(GARBAGE_RUN_STATES), default="running"
    )
    examined_count = models.BigIntegerField(default=0)
    examined_bytes = models.BigIntegerField(default=0)
    garbage_count = models.BigIntegerField(default=0)
    garbage_bytes = models.BigIntegerField(default=0)
    # Abandoned uploads in staging; the counts above do not hold them.
    staged_count = models.BigIntegerField(default=0)
    staged_bytes = models.BigIntegerField(default=0)
    # Packs that were repacked, or would be in a dry run: their number, their size, and the part of
    # it that is needed.
    repacked_count = models.BigIntegerField(default=0)
    repacked_bytes = models.BigIntegerField(default=0)
    repacked_needed_bytes = models.BigIntegerField(default=0)
    finished_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = SentenceField(blank=True)
    # The first few keys that are garbage, to look at.
    examples = models.JSONField(default=list)

    class Meta:
        constraints: ClassVar = [
            states.constraint("garbage_run_state", GARBAGE_RUN_STATES),
            models.UniqueConstraint(
                fields=["project"], condition=Q(state="running"), name="garbage_run_once"
            ),
        ]


class CondemnedObject(TimestampedModel):
    """An object that nobody needs. It stays where it is until the undo window is over."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    run = models.ForeignKey(GarbageRun, on_delete=models.CASCADE, related_name="condemned")
    kind = models.CharField(max_length=20)
    digest = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    state = models.CharField(
        max_length=20, choices=states.choices(CONDEMNED_STATES), default="condemned"
    )
    # Both by the database's clock.
    condemned_at = models.DateTimeField(db_default=Now())
    settled_at = models.DateTimeField(null=True)
    deleted_in = models.ForeignKey(
        GarbageRun, null=True, on_delete=models.SET_NULL, related_name="deleted"
    )

    class Meta:
        constraints: ClassVar = [
            states.constraint("condemned_state", CONDEMNED_STATES),
            models.UniqueConstraint(
                fields=["project", "kind", "digest"],
                condition=Q(state__in=["condemned", "pardoned"]),
                name="condemned_once",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["run", "state"], name="condemned_run"),
        ]
