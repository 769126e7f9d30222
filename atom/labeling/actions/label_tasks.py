"""Making, starting and pausing label tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from rest_framework.exceptions import ErrorDetail

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.accounts.reads import bindings_reaching
from atom.core import clock, outbox
from atom.core.background import enqueue
from atom.core.locks import only_worker
from atom.datasets.browsing.queries import query_of
from atom.datasets.catalog.actions.catalogue import pin
from atom.datasets.models import Version
from atom.labeling import states
from atom.labeling.actions.items import add_items
from atom.labeling.actions.ontologies import (
    LabelInput,
    OntologyContent,
    create_ontology,
    lock_version,
)
from atom.labeling.actions.progress import notify_progress
from atom.labeling.actions.samples import ImageSelection
from atom.labeling.actions.settings import require_tools
from atom.labeling.actions.transitions import transition
from atom.labeling.engines import layers, objects
from atom.labeling.engines.checking import ontology_of
from atom.labeling.engines.selection import ExcludedCounts
from atom.labeling.errors import NoImages, NoItems, TaskNameTaken, TooManyItems
from atom.labeling.models import LabelTask, OntologyVersion
from atom.labeling.models.tasks import IMAGE_CLASSIFICATION, IMAGE_OBJECTS
from atom_sdk.manifests.query import Query
from atom_sdk.sentences import Sentence

PIN_HOLDER = "label_task"
# Up to this many files the items are made in the request.
FILLED_AT_ONCE = 5_000
MAX_ITEMS = 1_000_000
# By name: tasks import actions, never the reverse.
_FILL_TASK = "atom.labeling.tasks.fill_items"
_TOLD_LABELERS = 500


@dataclass(frozen=True)
class TaskPlan:
    """A request for a label task, with either `ontology_version` or `labels` (and `guideline`).

    `labelled` False takes only entries without a label, True only those with one, None both.
    """

    name: str
    version: Version
    ontology_version: OntologyVersion | None = None
    labels: Sequence[LabelInput] = ()
    schema: Mapping[str, Any] = field(default_factory=dict)
    guideline: str = ""
    modality: str = IMAGE_CLASSIFICATION
    # Labelers begin with the objects that the version has.
    pre_label: bool = True
    # Empty for everybody who may label.
    assignees: Sequence[User] = ()
    due_on: date | None = None
    priority: int = 0
    prefix: str = ""
    # Only these files; empty for all below the prefix.
    paths: frozenset[str] = frozenset()
    labelled: bool | None = False
    # Only files that match this query.
    where: Query | None = None
    batch_size: int = 25
    audit_percent: float = 10.0
    lease_ttl_s: int = 1800


@transaction.atomic
def create_task(project: Project, user: User, plan: TaskPlan) -> LabelTask:
    """Make a draft task and its items.

    Files that cannot be shown as images are left out; the task keeps how many they are. The
    version is pinned until the task is published. The items of a large version are counted here
    and made by a worker: `planned_items` is their number.

    Raises TaskNameTaken, NoItems, NoImages, TooManyItems, InvalidLabels.
    """
    # First, so that the error names the task and not its ontology, which gets the same name.
    if LabelTask.objects.filter(project=project, name=plan.name).exists():
        raise TaskNameTaken(errors={"name": [ErrorDetail("This name is taken.", code="unique")]})
    content = OntologyContent(plan.labels, plan.guideline, plan.schema)
    ontology_version = plan.ontology_version or create_ontology(project, user, plan.name, content)
    require_tools(ontology_version, plan.modality)
    task = _insert(project, user, plan, ontology_version)
    task.assignees.set(plan.assignees)
    chosen = selection_of(task, plan.where, plan.paths)
    if plan.paths or plan.version.file_count <= FILLED_AT_ONCE:
        found = add_items(task, chosen.samples())
    else:
        found = _plan_items(task, chosen)
    if not found:
        raise _nothing_to_label(chosen.left_out)
    task.not_images, task.unreadable = chosen.left_out.not_images, chosen.left_out.unreadable
    task.save(update_fields=["not_images", "unreadable", "planned_items", "updated_at"])
    pin(plan.version, PIN_HOLDER, str(task.pk))
    audit.record(user, "label_task.created", task, project, plan.version.dataset, name=task.name)
    task.refresh_from_db(fields=["populated_at"])
    return task


def _plan_items(task: LabelTask, chosen: ImageSelection) -> int:
    """Count the items, and have a worker make them. Raises TooManyItems."""
    found = chosen.counted(MAX_ITEMS).count
    if found > MAX_ITEMS:
        raise TooManyItems(
            Sentence(
                "labeling.too_many_files", "More than {max_items} files match.", max_items=MAX_ITEMS
            ),
            errors={"filter": [ErrorDetail("Too many files match.", code="too_many_match")]},
            limit=MAX_ITEMS,
        )
    task.planned_items = found
    enqueue(_FILL_TASK, str(task.pk))
    return found


def fill_task(task_id: UUID) -> None:
    """Make the items that a task lacks; return quietly if it has all of them.

    Safe to run again after a kill at any line: what is there already is left.
    """
    with only_worker(task_id) as mine:
        task = LabelTask.objects.for_display().filter(pk=task_id).first()
        if not mine or task is None or task.populated_at is not None:
            return
        add_items(task, selection_of(task, query_of(task.where)).samples())


def selection_of(
    task: LabelTask, where: Query | None, paths: frozenset[str] = frozenset()
) -> ImageSelection:
    """Return the images that the task is about."""
    version = task.ontology_version
    of_objects = task.modality == IMAGE_OBJECTS
    return ImageSelection(
        task.dataset_version,
        task.prefix,
        task.labelled,
        paths,
        where,
        kind=objects.KIND if of_objects else layers.KIND,
        # Stored in any case, so that the task may start or stop to begin with them later.
        ontology=ontology_of(version.full_labels, version.full_schema) if of_objects else None,
    )


def _nothing_to_label(left_out: ExcludedCounts) -> NoItems:
    if left_out == ExcludedCounts():
        return NoItems(
            errors={"filter": [ErrorDetail("No file of this version matches.", code="no_match")]}
        )
    reason = Sentence(
        "labeling.no_images",
        "{not_images} files that match are no images and {unreadable} are images that cannot be "
        "read.",
        not_images=left_out.not_images,
        unreadable=left_out.unreadable,
    )
    return NoImages(
        reason,
        errors={"filter": [reason]},
        not_images=left_out.not_images,
        unreadable=left_out.unreadable,
    )


def _insert(
    project: Project, user: User, plan: TaskPlan, ontology_version: OntologyVersion
) -> LabelTask:
    try:
        with transaction.atomic():
            return LabelTask.objects.create(
                project=project,
                name=plan.name,
                dataset=plan.version.dataset,
                dataset_version=plan.version,
                ontology_version=ontology_version,
                modality=plan.modality,
                pre_label=plan.pre_label,
                due_on=plan.due_on,
                priority=plan.priority,
                prefix=plan.prefix,
                labelled=plan.labelled,
                where=plan.where.text if plan.where else "",
                batch_size=plan.batch_size,
                audit_percent=plan.audit_percent,
                lease_ttl_s=plan.lease_ttl_s,
                created_by=user,
            )
    except IntegrityError as exc:
        raise TaskNameTaken(
            errors={"name": [ErrorDetail("This name is taken.", code="unique")]}
        ) from exc


def start_task(task: LabelTask, user: User) -> LabelTask:
    """Hand out work from now on; the labels are fixed from here. Starting again is fine."""
    return _switch(task, user, states.ACTIVE, "label_task.started")


def pause_task(task: LabelTask, user: User) -> LabelTask:
    """Hand out no more work; what people hold may still come in. Pausing again is fine."""
    return _switch(task, user, states.PAUSED, "label_task.paused")


@transaction.atomic
def _switch(task: LabelTask, user: User, new: str, verb: str) -> LabelTask:
    locked = LabelTask.objects.for_display().select_for_update(of=("self",)).get(pk=task.pk)
    if locked.state == new:
        return locked
    transition(locked, new, states.TASK_STATES)
    if new == states.ACTIVE:
        lock_version(locked.ontology_version_id)
        locked.started_at = locked.started_at or clock.now()
    locked.save(update_fields=["state", "started_at", "updated_at"])
    audit.record(user, verb, locked, locked.project, locked.dataset, name=locked.name)
    if new == states.ACTIVE:
        _notify_labelers(locked, user)
    notify_progress(locked.pk)
    return locked


def _notify_labelers(task: LabelTask, user: User) -> None:
    """Notify the assigned people, else those with the role labeler; others label on their own."""
    labelers = bindings_reaching(task.project).filter(role="labeler").exclude(user=user)
    assigned = [person.pk for person in task.assignees.all() if person.pk != user.pk]
    outbox.emit(
        task.project_id,
        "label_task.started",
        people=assigned or labelers.values_list("user", flat=True).distinct()[:_TOLD_LABELERS],
        subject=task.pk,
        task=str(task.pk),
        name=task.name,
    )
