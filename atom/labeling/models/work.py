"""Items and the slots through which people hold them."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Count, Q

from atom.accounts.models import Project
from atom.core import states as core_states
from atom.core.models import TimestampedModel
from atom.labeling import states
from atom.labeling.models.tasks import LabelTask


class WorkItem(TimestampedModel):
    """One sample of the task's version; `media` says where its bytes lie in which pack.

    `media` is `{pack, offset, size_bytes, media_type}`; `digest` is the BLAKE3 of the bytes.
    """

    label_task = models.ForeignKey(LabelTask, on_delete=models.CASCADE, related_name="items")
    path = models.CharField(max_length=4096)
    digest = models.CharField(max_length=64)
    media = models.JSONField()
    state = models.CharField(
        max_length=20, default=states.READY, choices=core_states.choices(states.ITEM_STATES)
    )
    priority = models.IntegerField(default=0)
    position = models.PositiveIntegerField()
    final_revision = models.ForeignKey(
        "labeling.AnnotationRevision", on_delete=models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["label_task", "path"], name="work_item_task_path"),
            core_states.constraint("work_item_state", states.ITEM_STATES),
            models.CheckConstraint(
                condition=~Q(state__in=[states.ACCEPTED, states.PUBLISHED])
                | Q(final_revision__isnull=False),
                name="work_item_final_revision",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["label_task", "state"]),
            models.Index(fields=["label_task", "position", "id"]),
        ]

    def __str__(self) -> str:
        """Return the path."""
        return self.path


class WorkSlotQuerySet(models.QuerySet["WorkSlot"]):
    """Reads of slots."""

    def in_project(self, project: Project) -> Self:
        """Keep the slots of one project."""
        return self.filter(label_task__project=project)

    def held_by(self, user: Any) -> Self:
        """Keep what `user` has to work on: leased and returned."""
        return self.filter(user=user, state__in=states.SLOT_HELD)

    def for_display(self) -> Self:
        """Join what an answer shows."""
        return self.select_related("work_item", "label_task", "revision")


class WorkSlot(TimestampedModel):
    """A place for one person's opinion on an item.

    Task, priority and position repeat the item's, so that a lease reads one partial index.
    `lease_no` fences: it grows with every hand-over, and work under an old number is stale.
    """

    work_item = models.ForeignKey(WorkItem, on_delete=models.CASCADE, related_name="slots")
    label_task = models.ForeignKey(LabelTask, on_delete=models.CASCADE, related_name="slots")
    slot_no = models.PositiveSmallIntegerField(default=0)
    role = models.CharField(max_length=10, choices=[(role, role) for role in states.ROLES])
    state = models.CharField(
        max_length=20, default=states.OPEN, choices=core_states.choices(states.SLOT_STATES)
    )
    priority = models.IntegerField(default=0)
    position = models.PositiveIntegerField()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    lease_no = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True)
    # The counted submission of a label slot; what an audit slot is about is its item's.
    revision = models.ForeignKey(
        "labeling.AnnotationRevision", on_delete=models.PROTECT, null=True, related_name="+"
    )
    returned_code = models.CharField(max_length=60, blank=True)
    returned_comment = models.TextField(blank=True)

    objects = WorkSlotQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["work_item", "role", "slot_no"], name="work_slot_item_role_no"
            ),
            # Nobody gives two opinions on one item, and nobody audits their own.
            models.UniqueConstraint(
                fields=["work_item", "user"],
                condition=Q(user__isnull=False),
                name="work_slot_one_person_once",
            ),
            core_states.constraint("work_slot_state", states.SLOT_STATES),
            models.CheckConstraint(
                condition=Q(state=states.OPEN, user__isnull=True)
                | Q(~Q(state=states.OPEN), user__isnull=False),
                name="work_slot_open_has_no_user",
            ),
            models.CheckConstraint(
                condition=Q(state=states.LEASED, expires_at__isnull=False)
                | Q(~Q(state=states.LEASED), expires_at__isnull=True),
                name="work_slot_leased_expires",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["label_task", "role", "-priority", "position"],
                condition=Q(state=states.OPEN),
                name="work_slot_open",
            ),
            models.Index(
                fields=["expires_at"], condition=Q(state=states.LEASED), name="work_slot_expiry"
            ),
            models.Index(
                fields=["user", "label_task"],
                condition=Q(state__in=sorted(states.SLOT_HELD)),
                name="work_slot_held",
            ),
        ]

    def __str__(self) -> str:
        """Return role and state."""
        return f"{self.role} {self.state}"


def held_counts(task_ids: list[Any], user: Any) -> dict[Any, dict[str, int]]:
    """Return `{task id: {slot state: count}}` of the label work that `user` holds."""
    rows = (
        WorkSlot.objects.held_by(user)
        .filter(label_task__in=task_ids, role=states.LABEL_ROLE)
        .values_list("label_task", "state")
        .annotate(n=Count("id"))
    )
    counts: dict[Any, dict[str, int]] = {task_id: {} for task_id in task_ids}
    for task_id, state, n in rows:
        counts[task_id][state] = n
    return counts
