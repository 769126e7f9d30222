"""Experiments: groups of a project's runs, for programs that report runs of their own."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from atom.accounts.models import Project
from atom.core.models import TimestampedModel

# Runs without an experiment belong to it; it has a row once somebody has searched or tagged it.
DEFAULT_EXPERIMENT = "Default"


class Experiment(TimestampedModel):
    """A named group of runs. `labels` are opaque to Atom; an archived one keeps its name."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="experiments")
    name = models.CharField(max_length=500)
    labels = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    archived_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="experiment_name"),
        ]

    def __str__(self) -> str:
        return self.name
