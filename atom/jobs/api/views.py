"""Runs and workflows: parse, permit, act, render."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.functional import cached_property
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE, ProjectScopedView, ScopedView, authorize, user_of
from atom.accounts.models import Project
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.jobs.actions import code, descriptions, explain, runs, workflows
from atom.jobs.actions.requests import RunRequest, plan_run
from atom.jobs.api.explanation_serializers import ExplanationSerializer, RunPreviewSerializer
from atom.jobs.api.request_serializers import (
    CloneRequestSerializer,
    CodeRequestSerializer,
    CodeStateSerializer,
    RunRequestSerializer,
)
from atom.jobs.api.run_changes import DescriptionSerializer, parse_description
from atom.jobs.api.run_serializers import (
    AttemptSerializer,
    RunEventSerializer,
    RunSerializer,
)
from atom.jobs.api.workflow_serializers import WorkflowSerializer
from atom.jobs.models import CodeSnapshot, Run, Workflow
from atom.jobs.reads import find_run, find_whole_run


def page_of(view: APIView, queryset: Any, serializer: type[Any]) -> Response:
    """Return one keyset page of a queryset; the view's `keyset` orders it."""
    paginator = KeysetPagination()
    rows = paginator.paginate_queryset(queryset, view.request, view)
    return paginator.get_paginated_response(serializer(rows, many=True).data)


def listing(serializer: type[Any], name: str) -> Any:
    """Describe `{results, next}` for OpenAPI."""
    return inline_serializer(
        name,
        {"results": serializer(many=True), "next": serializers.CharField(allow_null=True)},
    )


PAGE = [OpenApiParameter("limit", int), OpenApiParameter("cursor", str)]


class WorkflowsView(ScopedView, APIView):
    """`workflows/`: what may be started with a form."""

    keyset = ("slug", "id")
    filters = ("project",)

    @extend_schema(
        operation_id="workflows_list",
        parameters=[*PAGE, OpenApiParameter("project", str)],
        responses=listing(WorkflowSerializer, "WorkflowPage"),
    )
    def get(self, request: Request) -> Response:
        """List the built-in workflows and those of a project."""
        project = _project_of_query(request)
        visible = Q(project=None) | Q(project=project) if project else Q(project=None)
        return page_of(self, Workflow.objects.filter(visible), WorkflowSerializer)


class WorkflowView(ScopedView, APIView):
    """`workflows/<slug>/`."""

    @extend_schema(
        operation_id="workflows_get",
        parameters=[OpenApiParameter("project", str)],
        responses=WorkflowSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return one workflow with its typed parameters."""
        found = workflows.find(_project_of_query(request), slug)
        if found is None:
            raise NotFound
        return Response(WorkflowSerializer(found).data)


def _project_of_query(request: Request) -> Project | None:
    slug = request.query_params.get("project")
    if not slug:
        return None
    project = Project.objects.visible_to(user_of(request)).filter(slug=slug).first()
    if project is None:
        raise NotFound
    authorize(request, project, "viewer")
    return project


def parse_request(request: Request) -> RunRequest:
    """Return the body as a run request. Raises Invalid."""
    serializer = RunRequestSerializer(data=request.data)
    check(serializer)
    given = {name: value for name, value in serializer.validated_data.items() if value is not None}
    return RunRequest(**given)


class PreviewView(ProjectScopedView, APIView):
    """`projects/<project>/runs/preview/`."""

    @extend_schema(
        operation_id="runs_preview",
        request=RunRequestSerializer,
        responses=RunPreviewSerializer,
    )
    def post(self, request: Request, project: str) -> Response:
        """Say where a run would go and what it would wait for, without starting it."""
        plan = plan_run(self.project, user_of(request), parse_request(request))
        return Response(explain.preview(plan))


def render_run(run_id: UUID, status: int = 200) -> Response:
    """Return the whole run, read again."""
    found = find_whole_run(run_id)
    if found is None:
        raise NotFound
    return Response(RunSerializer(found).data, status=status)


class RunScopedView(APIView):
    """A view under `runs/<uuid:run_id>/`; who may not see the run gets 404."""

    required_role = "researcher"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, then authorize for the run's project."""
        super().initial(request, *args, **kwargs)
        _ = self.run

    @cached_property
    def run(self) -> Run:
        """Return the run of the path, for which the request is authorized.

        Raises NotFound for strangers and PermissionDenied for members who may not do this.
        """
        found = self.find(self.kwargs["run_id"])
        if found is None:
            raise NotFound
        role = "viewer" if self.request.method in SAFE else self.required_role
        authorize(self.request, found.project, role)
        return found

    def find(self, run_id: UUID) -> Run | None:
        """Return the run with what this view needs of it."""
        return find_run(run_id)


class RunView(RunScopedView):
    """`runs/<id>/`."""

    @extend_schema(operation_id="runs_get", responses=RunSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return one run."""
        return Response(RunSerializer(self.run).data)

    def find(self, run_id: UUID) -> Run | None:
        """Return the run with all that is shown, which is asked for once."""
        return find_whole_run(run_id) if self.request.method in SAFE else super().find(run_id)

    @extend_schema(
        operation_id="runs_describe", request=DescriptionSerializer, responses=RunSerializer
    )
    def patch(self, request: Request, run_id: UUID) -> Response:
        """Change its name, notes, tags or star; 409 `run_changed` if others did meanwhile."""
        said, expected = parse_description(request)
        descriptions.describe_run(self.run.pk, user_of(request), said, expected)
        return render_run(self.run.pk)


class CancelView(RunScopedView):
    """`runs/<id>/cancel/`."""

    @extend_schema(operation_id="runs_cancel", request=None, responses=RunSerializer)
    def post(self, request: Request, run_id: UUID) -> Response:
        """Ask the run to stop."""
        return render_run(runs.cancel_run(self.run.pk, user_of(request)).pk)


class RetryView(RunScopedView):
    """`runs/<id>/retry/`."""

    @extend_schema(operation_id="runs_retry", request=None, responses=RunSerializer)
    @idempotent
    def post(self, request: Request, run_id: UUID) -> Response:
        """Start another attempt, from the last durable checkpoint."""
        return render_run(runs.retry_run(self.run.pk, user_of(request)).pk)


class CloneView(RunScopedView):
    """`runs/<id>/clone/`."""

    @extend_schema(
        operation_id="runs_clone", request=CloneRequestSerializer, responses={201: RunSerializer}
    )
    @idempotent
    def post(self, request: Request, run_id: UUID) -> Response:
        """Start a new run like this one, but for what the body names."""
        body = CloneRequestSerializer(data=request.data)
        check(body)
        made = runs.clone_run(self.run, user_of(request), body.validated_data)
        return render_run(made.pk, status=201)


class ExplainView(RunScopedView):
    """`runs/<id>/explain/`."""

    @extend_schema(operation_id="runs_explain", responses=ExplanationSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Say why the run is, or is not, running."""
        return Response(ExplanationSerializer(explain.explain(self.run)).data)


class EventsView(RunScopedView):
    """`runs/<id>/events/`: the timeline, oldest first."""

    keyset = ("id",)

    @extend_schema(
        operation_id="runs_events",
        parameters=PAGE,
        responses=listing(RunEventSerializer, "RunEventPage"),
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """List the run's events."""
        return page_of(self, self.run.events.select_related("attempt"), RunEventSerializer)


class AttemptsView(RunScopedView):
    """`runs/<id>/attempts/`: oldest first."""

    keyset = ("number",)

    @extend_schema(
        operation_id="runs_attempts",
        parameters=PAGE,
        responses=listing(AttemptSerializer, "AttemptPage"),
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """List the run's attempts."""
        return page_of(self, self.run.attempts.select_related("node"), AttemptSerializer)


class CodeSnapshotsView(ProjectScopedView, APIView):
    """`projects/<project>/code-snapshots/`."""

    @extend_schema(
        operation_id="code_snapshots_create",
        request=CodeRequestSerializer,
        responses={201: CodeStateSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        """Announce a tar.gz of code; the answer says where to put it."""
        serializer = CodeRequestSerializer(data=request.data)
        check(serializer)
        snapshot = code.announce(self.project, **serializer.validated_data)
        return Response(_state_of(snapshot), status=201)


class CodeCompleteView(ScopedView, APIView):
    """`code-snapshots/<id>/complete/`."""

    @extend_schema(
        operation_id="code_snapshots_complete", request=None, responses=CodeStateSerializer
    )
    def post(self, request: Request, snapshot_id: UUID, project: str = "") -> Response:
        """Have the uploaded code checked."""
        found = CodeSnapshot.objects.filter(pk=snapshot_id).select_related("project__unit").first()
        if found is None:
            raise NotFound
        authorize(request, found.project, "researcher")
        return Response(_state_of(code.complete(snapshot_id, user_of(request))))


def _state_of(snapshot: CodeSnapshot) -> dict[str, Any]:
    return {
        "id": str(snapshot.pk),
        "state": "present" if snapshot.ready else "upload",
        "put_url": None if snapshot.ready else code.put_url(snapshot),
    }
