"""Secrets of a project, with which its runs sign in elsewhere."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from atom.accounts.models import Project
from atom.core.models import TimestampedModel


class ProjectSecret(TimestampedModel):
    """A value under the name of an environment variable, encrypted (`atom.core.crypto`)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="secrets")
    name = models.CharField(max_length=100)
    encrypted_value = models.TextField()
    description = models.CharField(max_length=300, blank=True)
    # Whose value it is.
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    set_at = models.DateTimeField()
    # When a run was last given it.
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="secret_name"),
        ]

    def __str__(self) -> str:
        return self.name
