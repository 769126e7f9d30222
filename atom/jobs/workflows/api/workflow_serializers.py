"""Shapes of workflows: forms that start runs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.jobs.models import Workflow


class ResourcesSerializer(serializers.Serializer[Any]):
    """Resources that a run needs on a machine."""

    cpus = serializers.IntegerField(min_value=1, max_value=4096)
    memory_bytes = serializers.IntegerField(min_value=16 << 20, max_value=1 << 50)
    gpus = serializers.IntegerField(min_value=0, max_value=1024)


class PartialResourcesSerializer(ResourcesSerializer):
    """Resources of which the rest has defaults."""

    cpus = serializers.IntegerField(min_value=1, max_value=4096, required=False)
    memory_bytes = serializers.IntegerField(min_value=16 << 20, max_value=1 << 50, required=False)
    gpus = serializers.IntegerField(min_value=0, max_value=1024, required=False)


class ParameterSerializer(serializers.Serializer[Any]):
    """One field of a workflow's form."""

    name = serializers.CharField()
    type = serializers.ChoiceField(
        choices=["int", "float", "string", "bool", "enum", "dataset", "model", "name"]
    )
    title = serializers.CharField()
    help = serializers.CharField()
    default = serializers.JSONField(allow_null=True)
    min = serializers.FloatField(allow_null=True)
    max = serializers.FloatField(allow_null=True)
    choices = serializers.ListField(child=serializers.CharField())
    required = serializers.BooleanField()  # type: ignore[assignment]  # the field's own name


class ParameterTextSerializer(serializers.Serializer[Any]):
    """A parameter's words in another language."""

    title = serializers.CharField(required=False)
    help = serializers.CharField(required=False)


class LanguageTextSerializer(serializers.Serializer[Any]):
    """A workflow's words in one language; what is missing is shown in English."""

    title = serializers.CharField(required=False)
    description = serializers.CharField(required=False)
    parameters = serializers.DictField(child=ParameterTextSerializer(), required=False)


class WorkflowSerializer(serializers.ModelSerializer[Workflow]):
    """A predefined job."""

    parameters = ParameterSerializer(source="definition.parameters", many=True)
    # The part of each dataset parameter that the code sees.
    inputs = serializers.DictField(source="definition.inputs", default=dict)
    resources = PartialResourcesSerializer(source="definition.resources")
    translations = serializers.DictField(
        child=LanguageTextSerializer(), source="definition.translations", default=dict
    )

    class Meta:
        model = Workflow
        fields = (
            "slug",
            "version",
            "title",
            "description",
            "parameters",
            "inputs",
            "resources",
            "translations",
        )
