"""Changes of code: of one run since its commit, and from one run to another."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView
from atom.core.query import refuse_unknown
from atom.jobs.api_base import RunScopedView
from atom.jobs.code.engines.code_diff import STATUSES
from atom.jobs.comparing.actions import code_diffs, compare
from atom.jobs.comparing.api.comparing import names_of


class FileDiffSerializer(serializers.Serializer[Any]):
    """A file that differs."""

    path = serializers.CharField()
    status = serializers.ChoiceField(choices=STATUSES)
    hunks = serializers.CharField(
        help_text="A unified diff, without the lines before the first `@@`."
    )
    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    omitted = serializers.ChoiceField(
        choices=["", "binary", "large"], help_text="Why the hunks are left out."
    )


class CodeDiffSerializer(serializers.Serializer[Any]):
    """Files that differ; without any, `reason` says why."""

    files = FileDiffSerializer(many=True)
    truncated = serializers.BooleanField(help_text="More files differ than these.")
    reason = serializers.ChoiceField(choices=code_diffs.REASONS)
    commit = serializers.CharField(help_text="The commit that the changes of one run are based on.")


class CodeChangesView(RunScopedView):
    """`runs/<id>/code/changes/`."""

    @extend_schema(operation_id="runs_code_changes", responses=CodeDiffSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return what the run's code has that its commit has not, as its client sent it."""
        return Response(CodeDiffSerializer(code_diffs.changes_of(self.run)).data)


class CompareCodeView(ProjectScopedView, APIView):
    """`projects/<project>/runs/compare/code/`."""

    @extend_schema(
        operation_id="runs_compare_code",
        parameters=[
            OpenApiParameter("runs", str, required=True, description="Two numbers or ids.")
        ],
        responses=CodeDiffSerializer,
    )
    def get(self, request: Request, project: str) -> Response:
        """Return what differs from the code of the first run to that of the second."""
        refuse_unknown(request, ("runs",))
        names = code_diffs.two_of(names_of(request))
        found = compare.chosen(self.project, names).select_related("code")
        old, new = compare.in_order(found, names)
        return Response(CodeDiffSerializer(code_diffs.between(old, new)).data)
