"""Links that show one run to people without an account."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from atom.accounts.models import Project
from atom.accounts.reads import reaching_binding
from atom.core.models import TimestampedModel

MAX_NOTE = 100
# Roles that may write runs.
_WRITERS = ("researcher", "admin")


class RunShareQuerySet(models.QuerySet["RunShare"]):
    """Reads of links."""

    def living(self) -> RunShareQuerySet:
        """Return those that were not ended and have not expired."""
        return self.filter(ended_at=None, expires_at__gt=Now())

    def backed(self) -> RunShareQuerySet:
        """Return those whose maker may still write the project's runs."""
        mine = RunShare.objects.annotate(user=F("created_by"))
        allowed = Q(created_by__is_superuser=True) | reaching_binding(roles=_WRITERS)
        able = mine.filter(allowed, created_by__is_active=True)
        return self.filter(pk__in=able.order_by().values("pk"))


class RunShare(TimestampedModel):
    """A link to one run. Only the hash of its token is kept."""

    run = models.ForeignKey("jobs.Run", on_delete=models.CASCADE, related_name="shares")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    token_hash = models.CharField(max_length=64, unique=True)
    # Whom it is for, in the words of who made it; never shown to who holds the link.
    note = models.CharField(max_length=MAX_NOTE, blank=True)
    with_log = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    # To the minute.
    last_seen_at = models.DateTimeField(null=True)

    objects = RunShareQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["project", "-created_at", "-id"],
                condition=Q(ended_at__isnull=True),
                name="run_share_of_project",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)
