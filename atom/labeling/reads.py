"""Reads that join several tables, each a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import (
    Aggregate,
    Count,
    Exists,
    F,
    FloatField,
    IntegerField,
    Max,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Sum,
    prefetch_related_objects,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Now

from atom.accounts.models import ROLES, Project, User
from atom.accounts.reads import bindings_reaching, named, people
from atom.datasets.models import Dataset
from atom.labeling import states
from atom.labeling.engines import edit_distance
from atom.labeling.models import (
    AnnotationRevision,
    AuditDecision,
    Draft,
    Issue,
    IssueComment,
    LabelTask,
    Skip,
    WorkItem,
    WorkSlot,
)
from atom.labeling.models.revisions import HUMAN
from atom.labeling.states import SILENT_AFTER

MAX_LABELS_OF_PATH = 50


class Median(Aggregate):
    """PostgreSQL's continuous median."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


def with_drafts(slots: Sequence[WorkSlot], user: User) -> list[WorkSlot]:
    """Return the slots with what an answer shows and the user's drafts as `my_drafts`."""
    order = {slot.pk: index for index, slot in enumerate(slots)}
    drafts = Prefetch("drafts", Draft.objects.filter(user=user), to_attr="my_drafts")
    found = WorkSlot.objects.filter(pk__in=list(order)).for_display()
    found = found.prefetch_related(drafts, _with_issues("work_item__issues"))
    return sorted(found, key=lambda slot: order[slot.pk])


def _with_issues(lookup: str) -> Prefetch[Any]:
    return Prefetch(lookup, issues())


def issues() -> QuerySet[Issue]:
    """Return issues with what an answer shows, the oldest first."""
    comments = Prefetch(
        "comments", IssueComment.objects.select_related("author").order_by("created_at", "id")
    )
    joined = Issue.objects.select_related("author", "resolved_by", "work_item")
    return joined.prefetch_related(comments).order_by("created_at", "id")


def audits_for_display(slots: Sequence[WorkSlot]) -> list[WorkSlot]:
    """Return audit slots with their issues, in the same order."""
    prefetch_related_objects(list(slots), _with_issues("work_item__issues"))
    return list(slots)


def held_work(task: LabelTask, user: User) -> list[WorkSlot]:
    """Return what the user has to label in the task: returned work first, then leased."""
    held = WorkSlot.objects.held_by(user).filter(label_task=task, role=states.LABEL_ROLE)
    return with_drafts(list(held.order_by("-state", "-priority", "position")), user)


def holders_of(task: LabelTask, user: User, role: str) -> list[dict[str, Any]]:
    """Return one row per other person who holds work of the task: name, how much, until when.

    `until` is when the last of it comes free if its holder does nothing more; None for returned
    work, which waits for its person. `working` says that a page confirmed it lately.
    """
    held = WorkSlot.objects.filter(label_task=task, role=role, state__in=states.SLOT_HELD)
    alive = Q(seen_at__gte=Now() - SILENT_AFTER)
    rows = (
        held.exclude(user=user)
        .values("state", name=F("user__username"), full_name=F("user__full_name"))
        .annotate(items=Count("pk"), until=Max("expires_at"), alive=Count("pk", filter=alive))
        .order_by("name", "state")
    )
    return [
        {
            "name": row["full_name"] or row["name"],
            "returned": row["state"] == states.RETURNED,
            "items": row["items"],
            "until": row["until"],
            "working": row["alive"] > 0,
        }
        for row in rows
    ]


def open_for(task: LabelTask, user: User, role: str) -> int:
    """Return how many items the person would get if they asked now."""
    if task.state != states.ACTIVE:
        return 0
    open_ones = Q(state=states.OPEN) | Q(state=states.LEASED, expires_at__lt=Now())
    theirs = assigned_to(user) if role == states.LABEL_ROLE else available_to(user)
    return theirs.filter(open_ones, label_task=task, role=role).count()


def assigned_to(user: User) -> QuerySet[WorkSlot]:
    """Keep label slots that a lease may give to this person: of tasks that are theirs, too."""
    people = LabelTask.assignees.through.objects.filter(labeltask=OuterRef("label_task"))
    theirs = ~Exists(people) | Exists(people.filter(user=user))
    return available_to(user).filter(theirs, role=states.LABEL_ROLE)


def available_to(user: User) -> QuerySet[WorkSlot]:
    """Keep slots that may be this person's: not of items that they hold, did or skipped."""
    other = WorkSlot.objects.filter(work_item=OuterRef("work_item"), user=user)
    skipped = Skip.objects.filter(work_item=OuterRef("work_item"), user=user)
    return WorkSlot.objects.filter(~Exists(other), ~Exists(skipped))


def labelers_of(project: Project, q: str = "") -> QuerySet[User]:
    """Return people who may label in the project and whose name holds `q`, by name."""
    labeling = bindings_reaching(project).filter(role__in=ROLES[1:], user=OuterRef("pk"))
    able = people().filter(Exists(labeling), is_active=True)
    return named(able, q).order_by("username")


def skipped_by(task: LabelTask, user: User) -> int:
    """Return how many items that the person skipped still wait for somebody."""
    waiting = Skip.objects.filter(label_task=task, user=user, work_item__state=states.READY)
    return waiting.count()


def label_slots_of(audits: Sequence[WorkSlot]) -> dict[Any, WorkSlot]:
    """Return `{item id: label slot}` with the submissions that the audits are about."""
    items = [slot.work_item_id for slot in audits]
    slots = WorkSlot.objects.filter(work_item__in=items, role=states.LABEL_ROLE)
    joined = slots.select_related("revision__parent", "user")
    return {slot.work_item_id: slot for slot in joined}


def items_of(
    task: LabelTask,
    state: str = "",
    *,
    skipped: bool = False,
    held: bool = False,
    replaced: bool = False,
) -> QuerySet[WorkItem]:
    """Return the task's items, with their slots as `all_slots`, their skips and open issues.

    `skipped` keeps those that somebody skipped, `held` those that somebody labels or audits now,
    `replaced` accepted ones that a publication left out, for their picture was replaced or removed.
    """
    slots = WorkSlot.objects.select_related("revision", "user").defer("revision__document")
    skips = Skip.objects.select_related("user").order_by("created_at")
    open_ones = Issue.objects.filter(state=states.ISSUE_OPEN).only("work_item")
    items = task.items.prefetch_related(
        Prefetch("slots", slots, to_attr="all_slots"),
        Prefetch("skips", skips),
        # Not counted in the statement, which would count those of every item of the task.
        Prefetch("issues", open_ones, to_attr="open_issues"),
    )
    items = items.select_related("final_revision").defer("final_revision__document")
    if skipped:
        items = items.filter(Exists(Skip.objects.filter(work_item=OuterRef("pk"))))
    if held:
        holding = WorkSlot.objects.filter(state__in=states.SLOT_HELD)
        items = items.filter(Exists(holding.filter(work_item=OuterRef("pk"))))
    if replaced:
        items = items.filter(state=states.LEFT_OUT, left_out_from=states.ACCEPTED)
    return items.filter(state=state) if state else items


def revisions_of(item: WorkItem) -> QuerySet[AnnotationRevision]:
    """Return every submission for the item, with verdicts."""
    return item.revisions.select_related("user", "audit_decision__auditor")


def corrections_of(task: LabelTask, labeler: User) -> QuerySet[AuditDecision]:
    """Return the person's work that auditors corrected, without the documents."""
    theirs = AuditDecision.objects.filter(
        revision__work_item__label_task=task, revision__user=labeler, correction__isnull=False
    )
    joined = theirs.select_related("revision__work_item", "auditor")
    return joined.defer("revision__document")


def labels_of_path(dataset: Dataset, path: str) -> QuerySet[AnnotationRevision]:
    """Return the newest counted labels of a path, from all tasks over the dataset."""
    revisions = AnnotationRevision.objects.filter(
        work_item__label_task__dataset=dataset, work_item__path=path, accepted=True
    )
    joined = revisions.select_related(
        "user", "audit_decision__auditor", "ontology_version", "work_item__label_task"
    )
    return joined.order_by("-created_at", "-id")[:MAX_LABELS_OF_PATH]


def labeler_stats(task: LabelTask) -> list[dict[str, Any]]:
    """Return one row per person who sent anything, by name.

    `pre_label_edits` adds up the last answers to pictures; None where none began with a pre-label.
    """
    counted = Q(accepted=True)
    rows = (
        # Neither what a version brought along nor what an auditor corrected.
        AnnotationRevision.objects.filter(
            work_item__label_task=task, source=HUMAN, slot__role=states.LABEL_ROLE
        )
        .values(labeler=F("user__username"))
        .annotate(
            submitted=Count("pk", filter=counted),
            stale=Count("pk", filter=~counted),
            returned=Count("pk", filter=Q(audit_decision__verdict=states.RETURN)),
            # Not yet "accepted": that would hide the column of this name.
            final=Count("pk", filter=Q(work_item__final_revision=F("pk"))),
            median_active_ms=Median("active_ms", filter=counted),
            **{f"edits_{name}": _sum_of_edits(name) for name in edit_distance.COUNTS},
        )
        .order_by("labeler")
    )
    found: list[dict[str, Any]] = [dict(row) for row in rows]
    return [{"accepted": row.pop("final"), **_with_edits(row)} for row in found]


def _sum_of_edits(name: str) -> Sum:
    count = Cast(KeyTextTransform(name, "pre_label_edits"), IntegerField())
    return Sum(count, filter=Q(slot__revision=F("pk")))


def _with_edits(row: dict[str, Any]) -> dict[str, Any]:
    edits = {name: row.pop(f"edits_{name}") for name in edit_distance.COUNTS}
    return {**row, "pre_label_edits": None if None in edits.values() else edits}
