"""Label tasks: the unlabelled part of a dataset version, handed out to people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, ClassVar, Final, Self

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Case, Count, Max, Q, Value, When
from django.db.models.functions import Coalesce

from atom.accounts.models import Project
from atom.core import states as core_states
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField
from atom.datasets.models import Dataset, Version
from atom.labeling import states
from atom.labeling.models.ontologies import OntologyVersion

IMAGE_CLASSIFICATION: Final = "image-classification"
IMAGE_OBJECTS: Final = "image-objects"
MODALITIES: Final = (IMAGE_CLASSIFICATION, IMAGE_OBJECTS)
MAX_PRIORITY: Final = 100
_NEVER: Final = Value(date.max)
# Orders of a list of tasks, over `by_urgency`; equals come newest first.
ORDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "created": ("-created_at", "-id"),
    "urgency": ("is_over", "-priority", "due_key", "-id"),
    "due": ("is_over", "due_key", "-priority", "-id"),
}


class LabelTaskQuerySet(models.QuerySet["LabelTask"]):
    """Reads of label tasks."""

    def visible_to(self, user: Any) -> Self:
        """Keep the tasks of projects that `user` sees."""
        return self.filter(project__in=Project.objects.visible_to(user))

    def by_urgency(self) -> Self:
        """Add the keys of `ORDERS`: finished tasks come last, and those without a date late."""
        taking = Q(state__in=[states.DRAFT, *sorted(states.TASK_TAKES_WORK)])
        return self.annotate(
            is_over=Case(When(taking, then=0), default=1, output_field=models.SmallIntegerField()),
            due_key=Coalesce("due_on", _NEVER, output_field=models.DateField()),
        )

    def for_display(self) -> Self:
        """Join what every answer shows, so that a list costs one query."""
        return self.select_related(
            "project__unit",
            "dataset",
            "dataset_version",
            "ontology_version__ontology",
            "output_version",
            "created_by",
            "continues",
            "continued_by",
        ).prefetch_related("assignees")


class LabelTask(TimestampedModel):
    """One piece of labeling work over one dataset version with one ontology version."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="label_tasks")
    name = models.CharField(max_length=200)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="label_tasks")
    dataset_version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="+")
    ontology_version = models.ForeignKey(
        OntologyVersion, on_delete=models.PROTECT, related_name="label_tasks"
    )
    modality = models.CharField(
        max_length=40, default=IMAGE_CLASSIFICATION, choices=[(kind, kind) for kind in MODALITIES]
    )
    # Without any, everybody who may label in the project gets work.
    assignees = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+", blank=True)
    # Labelers begin with the objects that the version has.
    pre_label = models.BooleanField(default=True)
    due_on = models.DateField(null=True, blank=True)
    # Tasks of a higher priority come first in lists.
    priority = models.SmallIntegerField(default=0)
    state = models.CharField(
        max_length=20, default=states.DRAFT, choices=core_states.choices(states.TASK_STATES)
    )
    # Which entries of the version become items; labelled None means both.
    prefix = models.CharField(max_length=4096, blank=True)
    labelled = models.BooleanField(null=True, default=False)
    # The same as a question in the query language, which a view may have been part of.
    where = models.TextField(blank=True, default="")
    # How many items there will be, while a worker makes them.
    planned_items = models.PositiveIntegerField(null=True, blank=True)
    # Files that match and are no items: they cannot be shown as images.
    not_images = models.PositiveIntegerField(default=0)
    unreadable = models.PositiveIntegerField(default=0)
    overlap = models.PositiveSmallIntegerField(default=1, validators=[MaxValueValidator(1)])
    lease_ttl_s = models.PositiveIntegerField(
        default=1800, validators=[MinValueValidator(300), MaxValueValidator(14_400)]
    )
    batch_size = models.PositiveSmallIntegerField(
        default=25, validators=[MinValueValidator(1), MaxValueValidator(200)]
    )
    audit_percent = models.FloatField(
        default=10.0, validators=[MinValueValidator(0), MaxValueValidator(100)]
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # None until every entry of the version has been looked at.
    populated_at = models.DateTimeField(null=True, blank=True)
    # The version's layout by which it was last seen that the items' places are its own.
    items_layout = models.CharField(max_length=64, blank=True, default="")
    started_at = models.DateTimeField(null=True, blank=True)
    publish_partial = models.BooleanField(default=False)
    publish_requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True
    )
    publish_requested_at = models.DateTimeField(null=True, blank=True)
    publish_error_code = models.CharField(max_length=60, blank=True)
    publish_error_detail = SentenceField(blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    output_version = models.ForeignKey(
        Version, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )

    # The published task whose left-out items this one finishes.
    continues = models.OneToOneField(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="continued_by"
    )

    objects = LabelTaskQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="label_task_project_name"),
            core_states.constraint("label_task_state", states.TASK_STATES),
            models.CheckConstraint(
                condition=Q(modality__in=MODALITIES), name="label_task_modality"
            ),
            # More than one opinion per item needs agreement and adjudication.
            models.CheckConstraint(condition=Q(overlap=1), name="label_task_overlap_one"),
        ]
        indexes: ClassVar = [models.Index(fields=["project", "-created_at", "-id"])]

    def __str__(self) -> str:
        """Return the name."""
        return self.name


def planned_total(task: LabelTask) -> int:
    """Return how many items the task has once all are there; positions count from 0."""
    if task.planned_items is not None:
        return task.planned_items
    last = task.items.aggregate(last=Max("position"))["last"]
    return 0 if last is None else int(last) + 1


def left_out_counts(task_ids: list[Any]) -> dict[Any, dict[str, int]]:
    """Return `{task id: {state before: count}}` of the items that were left out."""
    from atom.labeling.models.work import WorkItem

    rows = WorkItem.objects.filter(label_task__in=task_ids, state=states.LEFT_OUT)
    counts: dict[Any, dict[str, int]] = {task_id: {} for task_id in task_ids}
    for task_id, before, n in rows.values_list("label_task", "left_out_from").annotate(
        n=Count("id")
    ):
        counts[task_id][before] = n
    return counts


def item_counts(task_ids: list[Any]) -> dict[Any, dict[str, int]]:
    """Return `{task id: {item state: count}}` for all the tasks in one query."""
    from atom.labeling.models.work import WorkItem

    rows = (
        WorkItem.objects.filter(label_task__in=task_ids)
        .values_list("label_task", "state")
        .annotate(n=Count("id"))
    )
    counts: dict[Any, dict[str, int]] = {task_id: {} for task_id in task_ids}
    for task_id, state, n in rows:
        counts[task_id][state] = n
    return counts
