"""The labels of one file of a dataset: labelers, times and verdicts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView
from atom.core.errors import Invalid
from atom.core.query import refuse_unknown
from atom.core.sentences import required
from atom.datasets.catalog.reads import find_dataset
from atom.labeling import reads, states
from atom.labeling.engines.documents import is_objects
from atom.labeling.models import AnnotationRevision


class CountedClassSerializer(serializers.Serializer[Any]):
    """How many objects of a class an answer has."""

    name = serializers.CharField()
    color = serializers.CharField()
    count = serializers.IntegerField()


class GivenLabelSerializer(serializers.ModelSerializer[AnnotationRevision]):
    """One person's label for a file, in one task."""

    task_id = serializers.UUIDField(source="work_item.label_task_id")
    task_name = serializers.CharField(source="work_item.label_task.name")
    label = serializers.SerializerMethodField()  # type: ignore[assignment]  # a column
    classes = serializers.SerializerMethodField()
    document = serializers.SerializerMethodField(help_text="Null for a class of the picture.")
    labeler = serializers.CharField(source="user.username")
    is_final = serializers.SerializerMethodField()
    verdict = serializers.ChoiceField(
        source="audit_decision.verdict", choices=states.VERDICTS, allow_null=True, default=None
    )
    auditor = serializers.CharField(
        source="audit_decision.auditor.username", allow_null=True, default=None
    )

    class Meta:
        model = AnnotationRevision
        fields = (
            "id",
            "task_id",
            "task_name",
            "label",
            "n_objects",
            "classes",
            "document",
            "labeler",
            "is_final",
            "verdict",
            "auditor",
            "created_at",
        )

    def get_label(self, revision: AnnotationRevision) -> str | None:
        """Return the label's name, null where the ontology has none of this number."""
        names = {one["id"]: one["name"] for one in revision.ontology_version.labels}
        return names.get(revision.label_id)

    @extend_schema_field(CountedClassSerializer(many=True))
    def get_classes(self, revision: AnnotationRevision) -> list[dict[str, Any]]:
        """Return how many objects there are of each label, in the ontology's order."""
        if not revision.n_objects:
            return []
        labels = revision.ontology_version.full_labels
        counts = Counter(one["label"] for one in revision.decoded["objects"])
        return [
            {"name": label["name"], "color": label["color"], "count": counts[label["id"]]}
            for label in labels
            if counts[label["id"]]
        ]

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_document(self, revision: AnnotationRevision) -> dict[str, Any] | None:
        """Return the document of objects."""
        document = revision.decoded
        return document if is_objects(document) else None

    def get_is_final(self, revision: AnnotationRevision) -> bool:
        """Return whether it is the task's answer for the file."""
        return revision.work_item.final_revision_id == revision.pk


class GivenLabelsSerializer(serializers.Serializer[Any]):
    """Labels of a file, the newest first."""

    results = GivenLabelSerializer(many=True)


class ItemLabelsView(ProjectScopedView, APIView):
    """Labels that people gave one file."""

    @extend_schema(
        operation_id="labelx_item_labels",
        parameters=[
            OpenApiParameter("dataset", str, required=True),
            OpenApiParameter("path", str, required=True),
        ],
        responses=GivenLabelsSerializer,
    )
    def get(self, request: Request, project: str) -> Response:
        """Return the newest labels of the file at this path, from all tasks over the dataset."""
        refuse_unknown(request, ("dataset", "path"))
        dataset = find_dataset(self.project, _required(request, "dataset"))
        found = reads.labels_of_path(dataset, _required(request, "path"))
        return Response({"results": GivenLabelSerializer(found, many=True).data})


def _required(request: Request, name: str) -> str:
    value: str = request.query_params.get(name, "")
    if not value:
        raise Invalid(errors={name: [required()]})
    return value
