"""Runs and workflows: parse, permit, act, render."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE, ProjectScopedView, user_of
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.idempotency import idempotent
from atom.jobs.api_base import PAGE, RunScopedView, listing, page_of
from atom.jobs.models import Run, attempts_to_show
from atom.jobs.reads import find_whole_run
from atom.jobs.runs.actions import descriptions, explain, moves, runs
from atom.jobs.runs.actions.forecasts import preview
from atom.jobs.runs.actions.plan import plan_run
from atom.jobs.runs.actions.requests import RunRequest
from atom.jobs.runs.api.explanation_serializers import ExplanationSerializer, RunPreviewSerializer
from atom.jobs.runs.api.request_serializers import (
    CloneRequestSerializer,
    MoveRequestSerializer,
    RunRequestSerializer,
)
from atom.jobs.runs.api.run_changes import DescriptionSerializer, parse_description
from atom.jobs.runs.api.run_serializers import (
    AttemptSerializer,
    RunEventSerializer,
    RunSerializer,
)


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
        """Return where a run would go and what it would wait for, without starting it."""
        plan = plan_run(self.project, user_of(request), parse_request(request))
        return Response(preview(plan))


def render_run(run_id: UUID, status: int = 200) -> Response:
    """Return the whole run, read again."""
    found = find_whole_run(run_id)
    if found is None:
        raise NotFound
    return Response(RunSerializer(found).data, status=status)


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


class MoveView(RunScopedView):
    """`runs/<id>/move/`."""

    @extend_schema(operation_id="runs_move", request=MoveRequestSerializer, responses=RunSerializer)
    @idempotent
    def post(self, request: Request, run_id: UUID) -> Response:
        """Let the run go on in another registered cluster, from its last checkpoint."""
        body = MoveRequestSerializer(data=request.data)
        check(body)
        run = moves.move_run(self.run.pk, user_of(request), **body.validated_data)
        return render_run(run.pk)


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
        """Return why the run is, or is not, running."""
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
        attempts = attempts_to_show(for_list=False).filter(run=self.run)
        return page_of(self, attempts, AttemptSerializer)
