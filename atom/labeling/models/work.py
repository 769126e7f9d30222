"""Items and the slots through which people hold them."""

from __future__ import annotations

from typing import Any, ClassVar, Self
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, OuterRef, Q

from atom.accounts.models import Project
from atom.core import states as core_states
from atom.core.models import TimestampedModel
from atom.labeling import states
from atom.labeling.models.tasks import LabelTask

MAX_PAGE_LENGTH = 40


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
    # In pixels after the EXIF orientation; null until the picture's first bytes were read.
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    # Whether the picture is shown by tiles; null until its first bytes were read.
    tiled = models.BooleanField(null=True, blank=True)
    # The objects that the source version had: where a labeler begins. It counts for nothing.
    pre_label = models.ForeignKey(
        "labeling.AnnotationRevision",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    final_revision = models.ForeignKey(
        "labeling.AnnotationRevision", on_delete=models.PROTECT, null=True, related_name="+"
    )
    # The state that an item had when it was left out.
    left_out_from = models.CharField(max_length=20, blank=True, default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["label_task", "path"], name="work_item_task_path"),
            core_states.constraint("work_item_state", states.ITEM_STATES),
            models.CheckConstraint(
                condition=~Q(state__in=[states.ACCEPTED, states.PUBLISHED])
                | Q(final_revision__isnull=False),
                name="work_item_final_revision",
            ),
            models.CheckConstraint(
                condition=Q(width__isnull=True, height__isnull=True) | Q(width__gt=0, height__gt=0),
                name="work_item_size",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["label_task", "state"]),
            models.Index(fields=["label_task", "position", "id"]),
            models.Index(
                fields=["pre_label"],
                condition=Q(pre_label__isnull=False),
                name="work_item_pre_label",
            ),
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
        return self.select_related(
            "work_item__pre_label", "label_task__ontology_version", "revision"
        )


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
    # The page of the portal that holds the lease; empty for programs and for pages that were left.
    page = models.CharField(max_length=MAX_PAGE_LENGTH, blank=True, default="")
    # False while the page has only fetched the item ahead of time.
    on_screen = models.BooleanField(default=False)
    # The last time at which the page confirmed the lease.
    seen_at = models.DateTimeField(null=True, blank=True)
    # The person whose lease ran out and who may still submit, until somebody else leases it.
    lapsed_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    objects = WorkSlotQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["work_item", "role", "slot_no"], name="work_slot_item_role_no"
            ),
            # A person has one slot of an item: no second opinion, and no audit of their own label.
            models.UniqueConstraint(
                fields=["work_item", "user"],
                condition=Q(user__isnull=False),
                name="work_slot_one_person_once",
            ),
            core_states.constraint("work_slot_state", states.SLOT_STATES),
            models.CheckConstraint(
                condition=Q(state__in=sorted(states.SLOT_FREE), user__isnull=True)
                | Q(~Q(state__in=sorted(states.SLOT_FREE)), user__isnull=False),
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
            models.Index(
                fields=["lapsed_user", "label_task"],
                condition=Q(state=states.OPEN, lapsed_user__isnull=False),
                name="work_slot_lapsed",
            ),
        ]

    def __str__(self) -> str:
        """Return role and state."""
        return f"{self.role} {self.state}"

    @property
    def begun_with_id(self) -> UUID | None:
        """The pre-label with which a first answer begins, if the task begins with them."""
        return self.work_item.pre_label_id if self.label_task.pre_label else None


class Skip(TimestampedModel):
    """One person has passed an item on; they get it again only if they ask for it."""

    work_item = models.ForeignKey(WorkItem, on_delete=models.CASCADE, related_name="skips")
    label_task = models.ForeignKey(LabelTask, on_delete=models.CASCADE, related_name="skips")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["work_item", "user"], name="skip_item_user"),
        ]
        indexes: ClassVar = [models.Index(fields=["label_task", "user"], name="skip_task_user")]

    def __str__(self) -> str:
        """Return the reason."""
        return self.reason or "skipped"


def skipped_counts(task_ids: list[Any]) -> dict[Any, int]:
    """Return `{task id: number of skipped items that wait}`."""
    rows = Skip.objects.filter(label_task__in=task_ids, work_item__state=states.READY)
    counted = rows.values_list("label_task").annotate(n=Count("work_item", distinct=True))
    return dict(counted)


def audit_counts(task_ids: list[Any], user: Any) -> dict[Any, dict[str, int]]:
    """Return `{task id: {"to_audit": n, "own_audits": n}}`: for `user`, and of their own work.

    Items that others audit at the moment are in neither.
    """
    mine = WorkSlot.objects.filter(
        work_item=OuterRef("work_item"), role=states.LABEL_ROLE, user=user
    )
    waiting = WorkSlot.objects.filter(
        Q(state=states.OPEN) | Q(state=states.LEASED, user=user),
        label_task__in=task_ids,
        role=states.AUDIT_ROLE,
    )
    rows = waiting.annotate(own=Exists(mine)).values_list("label_task", "own")
    counts = {task_id: {"to_audit": 0, "own_audits": 0} for task_id in task_ids}
    for task_id, own, n in rows.annotate(n=Count("id")):
        counts[task_id]["own_audits" if own else "to_audit"] = n
    return counts


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
