"""Issues of an item: opening, answering, settling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from atom.accounts.models import User
from atom.core import clock
from atom.labeling import states
from atom.labeling.actions.progress import notify_progress
from atom.labeling.models import Issue, IssueComment, WorkItem


@dataclass(frozen=True)
class NewIssue:
    """A remark, pinned to an object of the document, a point in pixels, both or neither."""

    text: str
    object: str | None = None
    at: tuple[float, float] | None = None

    @classmethod
    def of(cls, data: dict[str, Any]) -> NewIssue:
        """Return the issue of a checked body."""
        at = data["at"]
        return cls(data["text"], data["object"], None if at is None else (at[0], at[1]))

    def as_row(self, item: WorkItem, author: User, revision_id: UUID | None) -> Issue:
        """Return the row, not yet stored."""
        x, y = self.at or (None, None)
        return Issue(
            work_item=item,
            revision_id=revision_id,
            author=author,
            object_id=self.object or "",
            x=x,
            y=y,
            text=self.text,
        )


def issue_rows(
    issues: Sequence[NewIssue], item: WorkItem, author: User, revision_id: UUID | None
) -> list[Issue]:
    """Return the rows of several issues, not yet stored, whose times keep their order."""
    rows = [new.as_row(item, author, revision_id) for new in issues]
    if rows:
        at = clock.now()
        for index, row in enumerate(rows):
            row.created_at = at + timedelta(microseconds=index)
    return rows


@transaction.atomic
def open_issue(item: WorkItem, author: User, new: NewIssue) -> Issue:
    """Open an issue on the item's newest counted answer, or on the picture before there is one."""
    newest = item.revisions.filter(accepted=True).order_by("-created_at", "-id").first()
    issue = new.as_row(item, author, newest.pk if newest else None)
    issue.save()
    notify_progress(item.label_task_id)
    return issue


def comment(issue: Issue, author: User, text: str) -> IssueComment:
    """Answer an issue, also a settled one."""
    made = issue.comments.create(author=author, text=text)
    notify_progress(issue.work_item.label_task_id)
    return made


@transaction.atomic
def resolve(issue: Issue, user: User, *, resolved: bool = True) -> Issue:
    """Settle an issue, or open it again; asking for the state that it has changes nothing."""
    locked = Issue.objects.select_for_update().select_related("work_item").get(pk=issue.pk)
    wanted_state = states.ISSUE_RESOLVED if resolved else states.ISSUE_OPEN
    if locked.state != wanted_state:
        locked.state = wanted_state
        locked.resolved_by = user if resolved else None
        locked.resolved_at = clock.now() if resolved else None
        locked.save(update_fields=["state", "resolved_by", "resolved_at", "updated_at"])
        notify_progress(locked.work_item.label_task_id)
    return locked
