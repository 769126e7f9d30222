"""Reads that join several tables, each a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Aggregate, Count, F, FloatField, Prefetch, Q, QuerySet

from atom.accounts.models import User
from atom.datasets.models import Dataset
from atom.labeling import states
from atom.labeling.models import AnnotationRevision, Draft, LabelTask, WorkItem, WorkSlot

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
    found = WorkSlot.objects.filter(pk__in=list(order)).for_display().prefetch_related(drafts)
    return sorted(found, key=lambda slot: order[slot.pk])


def held_work(task: LabelTask, user: User) -> list[WorkSlot]:
    """Return what the user has to label in the task: returned work first, then leased."""
    held = WorkSlot.objects.held_by(user).filter(label_task=task, role=states.LABEL_ROLE)
    return with_drafts(list(held.order_by("-state", "-priority", "position")), user)


def label_slots_of(audits: Sequence[WorkSlot]) -> dict[Any, WorkSlot]:
    """Return `{item id: label slot}` with the submissions that the audits are about."""
    items = [slot.work_item_id for slot in audits]
    slots = WorkSlot.objects.filter(work_item__in=items, role=states.LABEL_ROLE)
    return {slot.work_item_id: slot for slot in slots.select_related("revision", "user")}


def items_of(task: LabelTask, state: str = "") -> QuerySet[WorkItem]:
    """Return the task's items, with their label slots as `label_slots`."""
    slots = WorkSlot.objects.filter(role=states.LABEL_ROLE).select_related("revision", "user")
    items = task.items.prefetch_related(Prefetch("slots", slots, to_attr="label_slots"))
    return items.filter(state=state) if state else items


def revisions_of(item: WorkItem) -> QuerySet[AnnotationRevision]:
    """Return every submission for the item, with verdicts."""
    return item.revisions.select_related("user", "audit_decision__auditor")


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
    """Return one row per person who sent anything, by name."""
    counted = Q(accepted=True)
    rows = (
        AnnotationRevision.objects.filter(work_item__label_task=task)
        .values(labeler=F("user__username"))
        .annotate(
            submitted=Count("pk", filter=counted),
            stale=Count("pk", filter=~counted),
            returned=Count("pk", filter=Q(audit_decision__verdict=states.RETURN)),
            # Not yet "accepted": that would hide the column of this name.
            final=Count("pk", filter=Q(work_item__final_revision=F("pk"))),
            median_active_ms=Median("active_ms", filter=counted),
        )
        .order_by("labeler")
    )
    found: list[dict[str, Any]] = [dict(row) for row in rows]
    return [{"accepted": row.pop("final"), **row} for row in found]
