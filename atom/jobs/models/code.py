"""Code that comes from git: what was asked for, and which host keys a project knows."""

from __future__ import annotations

from typing import ClassVar, Final

from django.conf import settings
from django.db import models

from atom.accounts.models import Project
from atom.core import states
from atom.core.models import TimestampedModel

WAITING: Final = "waiting"
FETCHING: Final = "fetching"
READY: Final = "ready"
FAILED: Final = "failed"
FETCH_STATES: Final = {
    WAITING: frozenset({FETCHING}),
    # A worker that died gives it back.
    FETCHING: frozenset({READY, FAILED, WAITING}),
    READY: frozenset[str](),
    FAILED: frozenset[str](),
}


class CodeFetch(TimestampedModel):
    """A commit that is fetched and becomes a code snapshot."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="code_fetches")
    url = models.CharField(max_length=1000)
    # A branch, a tag or a whole commit; empty is the repository's own default.
    ref = models.CharField(max_length=250, blank=True)
    # The project's secret with the private key or the token.
    secret = models.CharField(max_length=100, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    state = models.CharField(max_length=20, choices=states.choices(FETCH_STATES), default=WAITING)
    failure_code = models.CharField(max_length=50, blank=True)
    failure_text = models.TextField(blank=True)
    snapshot = models.ForeignKey(
        "jobs.CodeSnapshot", null=True, on_delete=models.PROTECT, related_name="+"
    )
    # Facts about the commit: its message, its author, and files that the snapshot lacks.
    facts = models.JSONField(default=dict)
    claimed_until = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [states.constraint("code_fetch_state", FETCH_STATES)]
        indexes: ClassVar = [
            models.Index(fields=["project", "-created_at", "-id"]),
            models.Index(
                fields=["created_at"],
                condition=models.Q(state__in=[WAITING, FETCHING]),
                name="code_fetch_open",
            ),
        ]


class GitHost(TimestampedModel):
    """The key that an SSH server showed at a project's first contact."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    # With its port, where that is not 22.
    name = models.CharField(max_length=300)
    key = models.CharField(max_length=300)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="git_host_name"),
        ]


class CodeChanges(TimestampedModel):
    """Changes of a snapshot since the commit that it was taken at, as its client reported them.

    A table of its own, so that lists of runs need not read the patch.
    """

    snapshot = models.OneToOneField(
        "jobs.CodeSnapshot", on_delete=models.CASCADE, related_name="changes"
    )
    # A unified diff, of which the end may be missing.
    patch = models.TextField(blank=True)
    truncated = models.BooleanField(default=False)
