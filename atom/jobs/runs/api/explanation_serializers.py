"""Shapes of answers about a run: its placement, its wait, and what slowed it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.jobs.json_values import names
from atom.jobs.models import Runtime
from atom.jobs.runs.actions.explanations import AnswerCode, ReasonKind
from atom.jobs.runs.actions.forecasts import Outlook
from atom.jobs.scheduling.engines.placement import PlacementCode


class PlacementSerializer(serializers.Serializer[Any]):
    """Where a run would go, and why; no node while there is none for it."""

    cluster = serializers.CharField()
    node = serializers.CharField(allow_null=True)
    why = serializers.CharField()
    code = serializers.ChoiceField(choices=names(PlacementCode))
    params = serializers.DictField()


class WarmthSerializer(serializers.Serializer[Any]):
    """How much of the data the node has already; `coverage` is 0 to 1."""

    bytes_missing = serializers.IntegerField()
    coverage = serializers.FloatField()


class RuntimeStateSerializer(serializers.ModelSerializer[Runtime]):
    """Whether the environment is built."""

    class Meta:
        model = Runtime
        fields = ("digest", "state")


class ReasonSerializer(serializers.Serializer[Any]):
    """One thing that a run waits for, or why it ended."""

    kind = serializers.ChoiceField(choices=names(ReasonKind))
    text = serializers.CharField()
    action = serializers.CharField()
    params = serializers.DictField()


class ExplanationSerializer(serializers.Serializer[Any]):
    """Why a run is, or is not, running."""

    code = serializers.ChoiceField(choices=names(AnswerCode))
    answer = serializers.CharField()
    reasons = ReasonSerializer(many=True)


class RunPreviewSerializer(serializers.Serializer[Any]):
    """A forecast for a run like this one."""

    valid = serializers.BooleanField()
    errors = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))  # type: ignore[assignment]
    outlook = serializers.ChoiceField(choices=names(Outlook))
    placement = PlacementSerializer()
    queue_position = serializers.IntegerField()
    warm = WarmthSerializer(allow_null=True)
    # None: the image of the cluster's pods is enough.
    runtime = RuntimeStateSerializer(allow_null=True)
