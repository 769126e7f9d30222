"""Retention of logs and outputs: the policy of a project, and the choice for one run."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.accounts.models import Project
from atom.core import clock
from atom.core.bodies import check
from atom.core.errors import Invalid
from atom.core.query import refuse_unknown
from atom.jobs.api_base import RunScopedView
from atom.jobs.artifacts.actions.run_retention import bytes_of, due_runs, keep_run, set_run_policy
from atom.jobs.models import Run, RunKeeping, RunPolicy
from atom_sdk.sentences import Sentence

MAX_DAYS = 36_500
_SHOWN = 50


def _days_field(**options: Any) -> serializers.IntegerField:
    return serializers.IntegerField(min_value=1, max_value=MAX_DAYS, allow_null=True, **options)


class DueRunSerializer(serializers.Serializer[Any]):
    """A run whose logs and outputs would go."""

    id = serializers.UUIDField()
    number = serializers.IntegerField()
    name = serializers.CharField()
    finished_at = serializers.DateTimeField()


class RunPolicySerializer(serializers.Serializer[Any]):
    """How long logs and outputs of ended runs stay, and what goes under that."""

    days = _days_field(help_text="null: for ever.")
    due_count = serializers.IntegerField(read_only=True)
    due_bytes = serializers.IntegerField(read_only=True)
    due = DueRunSerializer(many=True, read_only=True, help_text="The first of them, oldest first.")


class RunKeepingSerializer(serializers.Serializer[Any]):
    """Retention of the logs and outputs of a run."""

    days = _days_field(
        write_only=True, help_text="Keep them for so many days from now; null: as the project."
    )
    until = serializers.DateTimeField(read_only=True, allow_null=True)
    due_at = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="Announced: from then on they are removed."
    )
    removed_at = serializers.DateTimeField(read_only=True, allow_null=True)
    removed_bytes = serializers.IntegerField(read_only=True)
    project_days = serializers.IntegerField(read_only=True, allow_null=True)


class RunPolicyView(ProjectScopedView, APIView):
    """`projects/<p>/run-retention/`."""

    required_roles: ClassVar[dict[str, str]] = {"PUT": "admin"}

    @extend_schema(
        operation_id="run_policy_get",
        parameters=[
            OpenApiParameter(
                "days", int, description="Days to try: shows what would go; 0 is for ever."
            )
        ],
        responses=RunPolicySerializer,
    )
    def get(self, request: Request, project: str) -> Response:
        """Return the policy, or what another one would remove."""
        refuse_unknown(request, ("days",))
        asked = _asked_days(request)
        return Response(_shown(self.project, _days_of(self.project) if asked is None else asked))

    @extend_schema(
        operation_id="run_policy_set", request=RunPolicySerializer, responses=RunPolicySerializer
    )
    def put(self, request: Request, project: str) -> Response:
        """Set the policy; what is due is announced, and removed three days later."""
        body = RunPolicySerializer(data=request.data)
        check(body)
        policy = set_run_policy(self.project, body.validated_data["days"], user_of(request))
        return Response(_shown(self.project, policy.days))


class RunKeepingView(RunScopedView):
    """`runs/<id>/retention/`."""

    @extend_schema(operation_id="run_keeping_get", responses=RunKeepingSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return until when its logs and outputs stay, or when they went."""
        return Response(_keeping(self.run))

    @extend_schema(
        operation_id="run_keeping_set",
        request=RunKeepingSerializer,
        responses=RunKeepingSerializer,
    )
    def put(self, request: Request, run_id: UUID) -> Response:
        """Keep them for longer or shorter than the project does; a star keeps them for ever."""
        body = RunKeepingSerializer(data=request.data)
        check(body)
        keep_run(self.run, body.validated_data["days"], user_of(request))
        return Response(_keeping(self.run))


def _asked_days(request: Request) -> int | None:
    text = request.query_params.get("days", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MAX_DAYS))):
        raise Invalid(
            errors={
                "days": [
                    Sentence(
                        "fields.whole_number_to",
                        "Give a whole number from 0 to {max}.",
                        max=MAX_DAYS,
                    )
                ]
            }
        )
    return int(text)


def _days_of(project: Project) -> int | None:
    return RunPolicy.objects.filter(project=project).values_list("days", flat=True).first()


def _shown(project: Project, days: int | None) -> dict[str, Any]:
    found = due_runs(project, days or None, clock.now())
    rows = found.values("id", "number", "name", "finished_at")[:_SHOWN]
    return {
        "days": days or None,
        "due_count": found.count(),
        "due_bytes": bytes_of(found),
        "due": list(rows),
    }


def _keeping(run: Run) -> dict[str, Any]:
    keeping = RunKeeping.objects.filter(run=run).first() or RunKeeping(run=run)
    names = ("until", "due_at", "removed_at", "removed_bytes")
    said = {name: getattr(keeping, name) for name in names}
    return {**said, "project_days": _days_of(run.project)}
