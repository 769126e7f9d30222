"""Issues: remarks of an auditor that are pinned to an object or a place of a picture."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from atom.core.models import TimestampedModel
from atom.labeling import states
from atom.labeling.models.revisions import AnnotationRevision
from atom.labeling.models.work import WorkItem


class Issue(TimestampedModel):
    """One remark on an item; it is pinned to an object, a point in pixels, both or neither.

    `revision` is the answer that its author looked at, where there was one.
    """

    work_item = models.ForeignKey(WorkItem, on_delete=models.CASCADE, related_name="issues")
    revision = models.ForeignKey(
        AnnotationRevision, on_delete=models.CASCADE, null=True, related_name="issues"
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    # The object's id in the document, 16 hex digits.
    object_id = models.CharField(max_length=16, blank=True, default="")
    x = models.FloatField(null=True)
    y = models.FloatField(null=True)
    text = models.TextField()
    state = models.CharField(
        max_length=10,
        default=states.ISSUE_OPEN,
        choices=[(state, state) for state in sorted(states.ISSUE_STATES)],
    )
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state=states.ISSUE_OPEN, resolved_by__isnull=True)
                | Q(state=states.ISSUE_RESOLVED, resolved_by__isnull=False),
                name="issue_state",
            ),
            models.CheckConstraint(
                condition=Q(x__isnull=True, y__isnull=True) | Q(x__isnull=False, y__isnull=False),
                name="issue_point_whole",
            ),
        ]

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    @property
    def at(self) -> list[float] | None:
        """The point `[x, y]` in the picture's pixels."""
        return None if self.x is None or self.y is None else [self.x, self.y]


class IssueComment(TimestampedModel):
    """One answer below an issue."""

    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()

    def __str__(self) -> str:
        """Return the text."""
        return self.text
