"""`projects/<project>/queue/`: waiting runs with reason and order, and placed runs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView
from atom.core.query import refuse_unknown
from atom.jobs.machines.actions.queue import queue_of
from atom.jobs.runs.api.explanation_serializers import ExplanationSerializer
from atom.jobs.runs.api.run_serializers import RunShortSerializer


class HeldSerializer(serializers.Serializer[Any]):
    """Resources that runs hold together."""

    runs = serializers.IntegerField()
    cpus = serializers.IntegerField()
    memory_bytes = serializers.IntegerField()
    gpus = serializers.IntegerField()


class WaitingRunSerializer(serializers.Serializer[Any]):
    """A run without a machine, and why."""

    run = RunShortSerializer()
    position = serializers.IntegerField(
        allow_null=True, help_text="Counted from 1, over all projects; null between two attempts."
    )
    ahead_elsewhere = serializers.IntegerField(
        help_text="How many runs of other projects come before it."
    )
    explanation = ExplanationSerializer()


class QueueSerializer(serializers.Serializer[Any]):
    """The queue of a project; runs of other projects appear only as numbers."""

    waiting = WaitingRunSerializer(many=True)
    waiting_count = serializers.IntegerField()
    waiting_elsewhere = serializers.IntegerField()
    holding = RunShortSerializer(many=True)
    held = HeldSerializer()
    held_elsewhere = HeldSerializer()


class QueueView(ProjectScopedView, APIView):
    """`projects/<project>/queue/`."""

    @extend_schema(operation_id="queue_get", responses=QueueSerializer)
    def get(self, request: Request, project: str) -> Response:
        """Show what waits in which order and for what, and what holds a machine."""
        refuse_unknown(request, ())
        return Response(QueueSerializer(queue_of(self.project)).data)
