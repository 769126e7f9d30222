"""Shapes of ontologies: labels with tools, attributes and skeletons, and what relates them."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.core.names import NameField, TextField
from atom.labeling.engines.ontologies import (
    CLASSIFICATION,
    MAX_ATTRIBUTES,
    MAX_CHOICES,
    MAX_LABEL_ID,
    MAX_LABELS,
    MAX_NAME_LENGTH,
)
from atom.labeling.models import Ontology, OntologyVersion
from atom.labeling.models.tasks import MODALITIES

KINDS: Final = (
    "box", "rotated_box", "polygon", "polyline", "point", "keypoints", "mask", "track", "segment",
    "span",
)  # fmt: skip
TOOLS: Final = (CLASSIFICATION, *KINDS)
ATTRIBUTE_KINDS: Final = ("choice", "number", "text", "flag")
MAX_POINTS: Final = 200
_CHOICES: Final = {"type": "array", "items": {"type": "integer"}}


class IdField(serializers.IntegerField):
    """A small number that keeps its meaning over the versions of an ontology."""

    def __init__(self, **options: Any) -> None:
        """The options of an IntegerField."""
        super().__init__(min_value=0, max_value=MAX_LABEL_ID, **options)


class ChoiceSerializer(serializers.Serializer[Any]):
    """One choice of an attribute; its id is chosen when left out."""

    id = IdField(required=False)
    name = NameField(max_length=MAX_NAME_LENGTH)


@extend_schema_field({"anyOf": [*({"type": t} for t in ("number", "string", "boolean")), _CHOICES]})
class AttributeValueField(serializers.JSONField):
    """A value of an attribute: a choice's id or several, a number, a text or a flag."""


class ConditionSerializer(serializers.Serializer[Any]):
    """An attribute is asked for only while another one has one of these values."""

    attribute = IdField()
    # A Python keyword, so that it cannot be an attribute of the class.

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add the field `is`."""
        fields = super().get_fields()
        fields["is"] = serializers.ListField(
            child=AttributeValueField(), min_length=1, max_length=MAX_CHOICES
        )
        return fields


class AttributeSerializer(serializers.Serializer[Any]):
    """Something asked about an object or a picture."""

    id = IdField(required=False)
    name = NameField(max_length=MAX_NAME_LENGTH)
    kind = serializers.ChoiceField(choices=ATTRIBUTE_KINDS, default="choice")
    required = serializers.BooleanField(default=False)  # type: ignore[assignment]
    default = AttributeValueField(allow_null=True, default=None)  # type: ignore[assignment]
    choices = ChoiceSerializer(many=True, default=list, max_length=MAX_CHOICES)  # type: ignore[call-arg]
    multiple = serializers.BooleanField(default=False)
    min = serializers.FloatField(allow_null=True, default=None)
    max = serializers.FloatField(allow_null=True, default=None)
    step = serializers.FloatField(allow_null=True, default=None)
    pattern = TextField(max_length=500, allow_null=True, default=None)
    max_length = serializers.IntegerField(
        min_value=1, max_value=100_000, allow_null=True, default=None
    )
    per_frame = serializers.BooleanField(default=False)
    when = ConditionSerializer(allow_null=True, default=None)


class SkeletonPointSerializer(serializers.Serializer[Any]):
    """One point of a skeleton."""

    name = NameField(max_length=MAX_NAME_LENGTH)


def _pairs() -> serializers.ListField:
    number = serializers.IntegerField(min_value=0, max_value=MAX_POINTS - 1)
    pair = serializers.ListField(child=number, min_length=2, max_length=2)
    return serializers.ListField(child=pair, max_length=MAX_POINTS * 4, default=list)


class SkeletonSerializer(serializers.Serializer[Any]):
    """Points in a fixed order, the lines between them, and which two a mirror swaps."""

    points = SkeletonPointSerializer(many=True, min_length=1, max_length=MAX_POINTS)  # type: ignore[call-arg]
    edges = _pairs()
    flips = _pairs()
    sigmas = serializers.ListField(
        child=serializers.FloatField(min_value=0), max_length=MAX_POINTS, allow_null=True,
        default=None,
    )  # fmt: skip


class RelationKindSerializer(serializers.Serializer[Any]):
    """A relation between objects; `from` and `to` limit it to labels, null means any."""

    id = IdField(required=False)
    name = NameField(max_length=MAX_NAME_LENGTH)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add the fields `from` and `to`."""
        fields = super().get_fields()
        for name in ("from", "to"):
            fields[name] = serializers.ListField(
                child=IdField(), max_length=MAX_LABELS, allow_null=True,
                default=None,
            )  # fmt: skip
        return fields


class OntologySchemaSerializer(serializers.Serializer[Any]):
    """The part of an ontology that is about the whole picture, and its relations."""

    multiple = serializers.BooleanField(
        default=False, help_text="A picture may have several classes."
    )
    attributes = AttributeSerializer(many=True, default=list, max_length=MAX_ATTRIBUTES)  # type: ignore[call-arg]
    relations = RelationKindSerializer(many=True, default=list, max_length=MAX_ATTRIBUTES)  # type: ignore[call-arg]


class LabelSerializer(serializers.Serializer[Any]):
    """One class."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    color = serializers.CharField()
    hotkey = serializers.CharField(allow_blank=True)
    parent = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]
    tools = serializers.ListField(child=serializers.ChoiceField(choices=TOOLS))
    attributes = AttributeSerializer(many=True)
    skeleton = SkeletonSerializer(allow_null=True)
    ignore = serializers.BooleanField()


class NewLabelSerializer(serializers.Serializer[Any]):
    """One class as it is asked for; ids, colour and hotkey are chosen when left out."""

    id = IdField(required=False)
    name = NameField(max_length=MAX_NAME_LENGTH)
    color = serializers.RegexField(r"^#[0-9A-Fa-f]{6}$", required=False)
    hotkey = TextField(max_length=1, required=False, allow_blank=True)
    parent = IdField(allow_null=True, required=False)  # type: ignore[assignment]
    tools = serializers.ListField(
        child=serializers.ChoiceField(choices=TOOLS),
        min_length=1,
        max_length=len(TOOLS),
        required=False,
    )
    attributes = AttributeSerializer(many=True, required=False, max_length=MAX_ATTRIBUTES)  # type: ignore[call-arg]
    skeleton = SkeletonSerializer(allow_null=True, required=False)
    ignore = serializers.BooleanField(required=False)


class OntologyVersionSerializer(serializers.ModelSerializer[OntologyVersion]):
    """A label set with its guideline."""

    labels = LabelSerializer(many=True, source="full_labels")
    schema = OntologySchemaSerializer(source="full_schema")

    class Meta:
        model = OntologyVersion
        fields = ("id", "number", "labels", "schema", "guideline", "locked_at", "created_at")


class NewOntologyVersionSerializer(serializers.Serializer[Any]):
    """A new version of an ontology: labels, schema and guideline."""

    labels = NewLabelSerializer(many=True, max_length=MAX_LABELS)  # type: ignore[call-arg]  # of the list
    schema = OntologySchemaSerializer(required=False)
    guideline = TextField(allow_blank=True, default="", max_length=100_000)


class OntologySerializer(serializers.ModelSerializer[Ontology]):
    """An ontology with its versions, newest first."""

    versions = OntologyVersionSerializer(many=True, read_only=True)

    class Meta:
        model = Ontology
        fields = ("id", "name", "versions", "created_at", "updated_at")


class NewOntologySerializer(NewOntologyVersionSerializer):
    """A new ontology with its first version."""

    name = NameField(max_length=200)


class TemplateSerializer(serializers.Serializer[Any]):
    """An ontology that is ready to start with."""

    key = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    modality = serializers.ChoiceField(choices=MODALITIES)
    labels = LabelSerializer(many=True)
    schema = OntologySchemaSerializer()
    batch_size = serializers.IntegerField()


class ClassCountSerializer(serializers.Serializer[Any]):
    """A class and how many objects have it."""

    name = serializers.CharField()
    objects = serializers.IntegerField()


class VersionClassesParametersSerializer(serializers.Serializer[Any]):
    """The version whose classes are asked for."""

    dataset = serializers.CharField(help_text="name@ref, such as digits@v2")


class VersionClassesSerializer(serializers.Serializer[Any]):
    """Classes of a version's objects, as a new task or ontology takes them."""

    labels = LabelSerializer(many=True)
    schema = OntologySchemaSerializer()
    counts = ClassCountSerializer(many=True)
    pictures = serializers.IntegerField(help_text="Pictures of the layer that were read.")
    complete = serializers.BooleanField(help_text="All objects were read, and all classes fit.")
