"""Shapes of label tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.serializers import UserShortSerializer
from atom.core.names import NameField, TextField
from atom.core.stored_failures import FailureSerializer, stored_failure
from atom.labeling import permissions, states
from atom.labeling.actions.skips import SETTLEMENTS
from atom.labeling.api.ontology_serializers import (
    LabelSerializer,
    NewLabelSerializer,
    OntologySchemaSerializer,
)
from atom.labeling.engines.ontologies import MAX_LABELS
from atom.labeling.engines.templates import TEMPLATES
from atom.labeling.models import LabelTask
from atom.labeling.models.tasks import IMAGE_CLASSIFICATION, IMAGE_OBJECTS, MAX_PRIORITY, MODALITIES
from atom_sdk.manifests.query import MAX_TEXT_CHARACTERS
from atom_sdk.packs.paths import MAX_PATH_BYTES
from atom_sdk.sentences import Sentence

MAX_LISTED_PATHS = 10_000
MAX_ASSIGNEES = 500
# Objects are drawn one picture at a time; the rest is fetched ahead.
_BATCH_SIZES: Final = {IMAGE_CLASSIFICATION: 25, IMAGE_OBJECTS: 8}


class TaskFilterSerializer(serializers.Serializer[Any]):
    """Which entries become items: below a prefix, with or without a label (null: both)."""

    prefix = TextField(allow_blank=True, default="", max_length=4096)
    labelled = serializers.BooleanField(allow_null=True, default=False)
    where = TextField(
        allow_blank=True,
        default="",
        max_length=MAX_TEXT_CHARACTERS,
        help_text="A condition as after SQL's WHERE: label = 'cat'.",
    )


class NewTaskFilterSerializer(TaskFilterSerializer):
    """The same for a new task, which may also be about chosen files only."""

    paths = serializers.ListField(
        child=TextField(max_length=MAX_PATH_BYTES, trim_whitespace=False),
        max_length=MAX_LISTED_PATHS,
        default=list,
        help_text="Only these files; empty for all.",
    )
    view = TextField(
        allow_blank=True, default="", max_length=63, help_text="Only files that this view has."
    )


class AssigneesField(serializers.ListField):
    """User names of the people who get the work; empty for everybody who may label."""

    def __init__(self, **options: Any) -> None:
        """The options of a ListField."""
        name = TextField(max_length=150)
        super().__init__(child=name, max_length=MAX_ASSIGNEES, **options)


class PriorityField(serializers.IntegerField):
    """A higher number comes first among the tasks of a person."""

    def __init__(self, **options: Any) -> None:
        """The options of an IntegerField."""
        super().__init__(min_value=-MAX_PRIORITY, max_value=MAX_PRIORITY, **options)


class NewLabelTaskSerializer(serializers.Serializer[Any]):
    """A new label task; give `labels`, `ontology_version` or `template`."""

    name = NameField(max_length=200)
    modality = serializers.ChoiceField(choices=MODALITIES, required=False)
    dataset = serializers.CharField(help_text="name@ref, such as digits@v2")
    labels = NewLabelSerializer(many=True, required=False, max_length=MAX_LABELS)  # type: ignore[call-arg]
    schema = OntologySchemaSerializer(required=False)
    ontology_version = serializers.UUIDField(required=False)
    template = serializers.ChoiceField(choices=sorted(TEMPLATES), required=False)
    pre_label = serializers.BooleanField(
        default=True, help_text="Labelers begin with the objects that the version has."
    )
    assignees = AssigneesField(required=False)
    due_on = serializers.DateField(allow_null=True, default=None)
    priority = PriorityField(default=0)
    filter = NewTaskFilterSerializer(required=False)
    batch_size = serializers.IntegerField(min_value=1, max_value=200, required=False)
    audit_percent = serializers.FloatField(min_value=0, max_value=100, default=10.0)
    lease_ttl_s = serializers.IntegerField(min_value=300, max_value=14_400, default=1800)
    guideline = TextField(allow_blank=True, default="", max_length=100_000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one source of labels; the modality decides the size of a batch."""
        sources = [attrs.get(name) for name in ("labels", "ontology_version", "template")]
        if len([source for source in sources if source]) != 1:
            raise serializers.ValidationError(
                {
                    "labels": Sentence(
                        "labeling.ontology_missing", "Give labels, ontology_version or template."
                    )
                }
            )
        template = TEMPLATES.get(attrs.get("template", ""))
        modality = template.modality if template else IMAGE_CLASSIFICATION
        attrs.setdefault("modality", modality)
        attrs.setdefault("batch_size", _BATCH_SIZES[attrs["modality"]])
        return attrs


class LeftOutSerializer(serializers.Serializer[Any]):
    """Files that match the filter and cannot be shown as images: why, and how many."""

    not_images = serializers.IntegerField(help_text="Files of another type.")
    unreadable = serializers.IntegerField(help_text="Images that cannot be decoded.")


class TaskPreviewSerializer(serializers.Serializer[Any]):
    """The images that a new task would have."""

    items = serializers.IntegerField(source="count")
    left_out = LeftOutSerializer()


class TaskPreviewParametersSerializer(serializers.Serializer[Any]):
    """The part of a new task that decides what it is about."""

    dataset = serializers.CharField(help_text="name@ref, such as digits@v2")
    modality = serializers.ChoiceField(choices=MODALITIES, default=IMAGE_CLASSIFICATION)
    prefix = TextField(allow_blank=True, default="", max_length=4096)
    labelled = serializers.ChoiceField(["true", "false", "any"], default="false")
    where = TextField(allow_blank=True, default="", max_length=MAX_TEXT_CHARACTERS)
    view = TextField(allow_blank=True, default="", max_length=63)


class ProgressSerializer(serializers.Serializer[Any]):
    """Items by state; `accepted` includes what is published."""

    total = serializers.IntegerField()
    ready = serializers.IntegerField()
    labeling = serializers.IntegerField()
    audit = serializers.IntegerField()
    rework = serializers.IntegerField()
    accepted = serializers.IntegerField()
    published = serializers.IntegerField()
    blocked = serializers.IntegerField()
    left_out = serializers.IntegerField()
    skipped = serializers.IntegerField(help_text="Ready items that somebody skipped.")


class LeftOutStatesSerializer(serializers.Serializer[Any]):
    """Items that a publication left out, by the state that they had."""

    ready = serializers.IntegerField()
    labeling = serializers.IntegerField()
    audit = serializers.IntegerField()
    rework = serializers.IntegerField()
    replaced = serializers.IntegerField(
        help_text="Accepted, but the published version has other bytes there, or no such file."
    )


class LinkedTaskSerializer(serializers.Serializer[Any]):
    """Another task, by id and name."""

    id = serializers.UUIDField()
    name = serializers.CharField()


class LinkedOntologySerializer(serializers.Serializer[Any]):
    """An ontology, by id and name."""

    id = serializers.UUIDField()
    name = serializers.CharField()


class FillingSerializer(serializers.Serializer[Any]):
    """How far a worker is with the items of a large task."""

    done = serializers.IntegerField()
    total = serializers.IntegerField()


class MyWorkCountsSerializer(serializers.Serializer[Any]):
    """Counts of the caller's work."""

    leased = serializers.IntegerField()
    returned = serializers.IntegerField()
    to_audit = serializers.IntegerField(help_text="Submissions that the caller could audit now.")
    own_audits = serializers.IntegerField(help_text="The caller's own, which another one audits.")


class OutputVersionSerializer(serializers.Serializer[Any]):
    """The version that a task became."""

    id = serializers.UUIDField()
    dataset = serializers.CharField()
    ref = serializers.CharField()


class LabelTaskSerializer(serializers.ModelSerializer[LabelTask]):
    """A label task. The context carries the caller's role and counts, looked up once per page."""

    project = serializers.CharField(source="project.slug")
    dataset = serializers.CharField(source="dataset.name")
    dataset_ref = serializers.CharField(source="dataset_version.ref")
    ontology_version = serializers.UUIDField(source="ontology_version_id")
    ontology = LinkedOntologySerializer(source="ontology_version.ontology")
    ontology_number = serializers.IntegerField(source="ontology_version.number")
    labels = LabelSerializer(many=True, source="ontology_version.full_labels")
    schema = OntologySchemaSerializer(source="ontology_version.full_schema")
    assignees = UserShortSerializer(many=True)
    guideline = serializers.CharField(source="ontology_version.guideline")
    filter = TaskFilterSerializer(source="*")
    left_out = LeftOutSerializer(source="*")
    progress = serializers.SerializerMethodField()
    filling = serializers.SerializerMethodField(
        help_text="Null once every item is there; work can begin before."
    )
    my = serializers.SerializerMethodField()
    left_out_from = serializers.SerializerMethodField()
    offers = serializers.SerializerMethodField(
        help_text="The actions that the caller may take on the task now: a page offers these."
    )
    continues = LinkedTaskSerializer(allow_null=True)
    continued_by = LinkedTaskSerializer(allow_null=True, default=None)
    publish_error = serializers.SerializerMethodField()
    output_version = serializers.SerializerMethodField()
    created_by = UserShortSerializer(allow_null=True)

    class Meta:
        model = LabelTask
        fields = (
            "id", "project", "name", "state", "modality", "dataset", "dataset_ref",
            "ontology", "ontology_version", "ontology_number", "labels", "schema", "guideline",
            "filter", "batch_size", "audit_percent", "assignees", "pre_label", "due_on", "priority",
            "lease_ttl_s", "left_out", "progress", "filling", "my", "left_out_from",
            "offers", "continues", "continued_by", "publish_error", "output_version",
            "created_by", "created_at", "started_at", "published_at",
        )  # fmt: skip

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, task: LabelTask) -> dict[str, int]:
        """Return the counts of the page's one grouped query."""
        found = self.context["counts"].get(task.pk, {})
        progress = {state: found.get(state, 0) for state in states.ITEM_STATES}
        progress["accepted"] += progress[states.PUBLISHED]
        skipped = self.context["skipped"].get(task.pk, 0)
        return {"total": sum(found.values()), **progress, "skipped": skipped}

    @extend_schema_field(LeftOutStatesSerializer)
    def get_left_out_from(self, task: LabelTask) -> dict[str, int]:
        """Return where the left-out items were."""
        found = self.context["left_out"].get(task.pk, {})
        before = (states.READY, states.LABELING, states.AUDIT, states.REWORK)
        counts = {state: found.get(state, 0) for state in before}
        return {**counts, "replaced": found.get(states.ACCEPTED, 0)}

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(permissions.ACTIONS)))
    def get_offers(self, task: LabelTask) -> list[str]:
        """Return the actions that are the caller's."""
        mine = self.get_my(task)
        offers = offers_of(task, self.context["role"], self.get_progress(task), mine)
        assignees = {person.pk for person in task.assignees.all()}
        # People who are no longer assigned finish what they hold.
        holds = mine[states.LEASED] + mine[states.RETURNED] > 0
        is_theirs = not assignees or self.context["user"].pk in assignees or holds
        return [action for action in offers if action != permissions.LABEL or is_theirs]

    @extend_schema_field(FillingSerializer(allow_null=True))
    def get_filling(self, task: LabelTask) -> dict[str, int] | None:
        """Return how many items there are of how many."""
        if task.populated_at is not None or task.planned_items is None:
            return None
        done = sum(self.context["counts"].get(task.pk, {}).values())
        return {"done": done, "total": task.planned_items}

    @extend_schema_field(MyWorkCountsSerializer)
    def get_my(self, task: LabelTask) -> dict[str, int]:
        """Return how much of the task the caller holds."""
        held = self.context["held"].get(task.pk, {})
        counts = {state: held.get(state, 0) for state in (states.LEASED, states.RETURNED)}
        return {**counts, **self.context["audits"][task.pk]}

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_publish_error(self, task: LabelTask) -> dict[str, Any] | None:
        """Return why the last publication failed."""
        return stored_failure(task.publish_error_code, task.publish_error_detail)

    @extend_schema_field(OutputVersionSerializer(allow_null=True))
    def get_output_version(self, task: LabelTask) -> dict[str, str] | None:
        """Return the published version."""
        if task.output_version is None:
            return None
        version = task.output_version
        return {"id": str(version.pk), "dataset": task.dataset.name, "ref": version.ref}


def offers_of(
    task: LabelTask, role: str | None, progress: Mapping[str, int], mine: Mapping[str, int]
) -> list[str]:
    """Return the actions that this role may take, and that have something to act on."""
    something = {
        permissions.AUDIT: mine["to_audit"] > 0,
        permissions.PUBLISH: progress["accepted"] > 0 and task.populated_at is not None,
        permissions.SETTLE_SKIPPED: progress["skipped"] + progress["left_out"] > 0,
        permissions.CONTINUE: progress["left_out"] > 0,
    }
    return [
        action
        for action in permissions.ACTIONS
        if something.get(action, True) and permissions.is_offered(role, action, task.state)
    ]


class TaskSettingsSerializer(serializers.Serializer[Any]):
    """The settings of a task that can change while it takes work; those left out stay."""

    audit_percent = serializers.FloatField(min_value=0, max_value=100, required=False)
    assignees = AssigneesField(required=False)
    pre_label = serializers.BooleanField(required=False)
    due_on = serializers.DateField(allow_null=True, required=False)
    priority = PriorityField(required=False)


class MoveOntologySerializer(serializers.Serializer[Any]):
    """The newer version of the same ontology that a task goes on with."""

    ontology_version = serializers.UUIDField()


class SettleSkippedSerializer(serializers.Serializer[Any]):
    """A decision about skipped items: all of them, or those named."""

    how = serializers.ChoiceField(choices=SETTLEMENTS)
    items = serializers.ListField(
        child=serializers.UUIDField(), max_length=MAX_LISTED_PATHS, required=False
    )


class SettledSerializer(serializers.Serializer[Any]):
    """How many items were put back, left out, or wait for the caller again."""

    count = serializers.IntegerField()


class PublishSerializer(serializers.Serializer[Any]):
    """How to publish."""

    partial = serializers.BooleanField(default=False)  # type: ignore[assignment]  # DRF lifts it
