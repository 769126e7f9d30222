"""For how long logs and outputs of runs are kept."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from atom.accounts.models import Project
from atom.core.models import TimestampedModel


class RunPolicy(TimestampedModel):
    """The days for which a project keeps logs and outputs of runs that have ended."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="run_policy")
    # None: for ever.
    days = models.PositiveIntegerField(null=True)
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(days__isnull=True) | models.Q(days__gte=1),
                name="run_policy_days",
            ),
        ]


class RunKeeping(TimestampedModel):
    """Retention of one run's logs and outputs: a person's choice, the announcement, the removal."""

    run = models.OneToOneField("jobs.Run", on_delete=models.CASCADE, related_name="keeping")
    # The choice for this run alone; None follows the policy of the project.
    until = models.DateTimeField(null=True)
    # The announced time from which they may be removed, unless a person keeps them.
    due_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)
    removed_bytes = models.BigIntegerField(default=0)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(due_at__isnull=False),
                name="run_keeping_due",
            ),
        ]
