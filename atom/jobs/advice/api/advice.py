"""Advice on a run: whether it waited for its data, and what to do."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.jobs.advice.actions import advice
from atom.jobs.advice.engines.advice import FindingCode
from atom.jobs.api_base import RunScopedView
from atom.jobs.json_values import names


class FindingSerializer(serializers.Serializer[Any]):
    """One finding of the advice after a run."""

    code = serializers.ChoiceField(choices=names(FindingCode))
    text = serializers.CharField()
    action = serializers.CharField(allow_blank=True)
    params = serializers.DictField(child=serializers.FloatField())


class AdviceView(RunScopedView):
    """`runs/<id>/advice/`."""

    @extend_schema(operation_id="runs_advice", responses=FindingSerializer(many=True))
    def get(self, request: Request, run_id: UUID) -> Response:
        """Say whether the run waited for its data, why, and what to do."""
        return Response(FindingSerializer(advice.advice_of(self.run), many=True).data)
