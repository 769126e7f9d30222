"""A project at a glance: the one read that draws from every application."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.db.models import Count, Q
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.accounts.models import Project, User
from atom.accounts.permissions import role_in
from atom.action_items import LEVELS, action_items_of, active_runs
from atom.cache.agents.actions.plan_progress import running_plans
from atom.cache.agents.api.plan_shapes import RunningPlanSerializer
from atom.core import clock
from atom.datasets.catalog.api.serializers import DatasetSerializer
from atom.datasets.models import Dataset
from atom.jobs import states as job_states
from atom.jobs.models import Run
from atom.jobs.runs.api.run_serializers import RunShortSerializer
from atom.labeling import states as label_states
from atom.labeling.api.serializers import LabelTaskSerializer
from atom.labeling.api.views.tasks import render_tasks
from atom.labeling.models import LabelTask
from atom.labeling.permissions import LABEL, may
from atom.labeling.reads import assigned_to
from atom.models_registry import reads as model_reads
from atom.models_registry.api.serializers import ModelSerializer
from atom.models_registry.api.views import render_models

SHOWN: Final = 5
_FAILED_WITHIN = timedelta(hours=24)
_NEWEST: Final = ("-created_at", "-id")
_LATELY: Final = ("-updated_at", "-id")


class NeedSerializer(serializers.Serializer[Any]):
    """One thing that needs the caller."""

    code = serializers.CharField()
    level = serializers.ChoiceField(choices=LEVELS)
    id = serializers.CharField()
    name = serializers.CharField()
    count = serializers.IntegerField()
    at = serializers.DateTimeField(allow_null=True)
    data = serializers.DictField()  # type: ignore[assignment]  # the metaclass takes it


class RunsOverviewSerializer(serializers.Serializer[Any]):
    """Counts of runs and the newest of them."""

    queued = serializers.IntegerField()
    running = serializers.IntegerField()
    failed_24h = serializers.IntegerField()
    mine = RunShortSerializer(many=True, help_text="The caller's that have not ended.")
    recent = RunShortSerializer(many=True)


class LabelingOverviewSerializer(serializers.Serializer[Any]):
    """Items that the caller could label now, and the newest tasks."""

    open_items = serializers.IntegerField()
    tasks = LabelTaskSerializer(many=True)


class OverviewSerializer(serializers.Serializer[Any]):
    """A project at a glance."""

    needs = NeedSerializer(many=True)
    runs = RunsOverviewSerializer()
    labeling = LabelingOverviewSerializer()
    warm_plans = RunningPlanSerializer(many=True, help_text="The newest that run.")
    datasets = DatasetSerializer(many=True)
    models = ModelSerializer(many=True)


class OverviewView(ProjectScopedView, APIView):
    """The portal's first page."""

    @extend_schema(responses=OverviewSerializer, operation_id="overview_retrieve")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return what needs the caller, counts and the newest, in a fixed number of queries."""
        project, user = self.project, user_of(request)
        tasks = LabelTask.objects.for_display().filter(project=project).order_by(*_NEWEST)
        datasets = Dataset.objects.in_project(project).with_summary().order_by(*_LATELY)
        models = list(model_reads.models_of(project).order_by(*_LATELY)[:SHOWN])
        return Response(
            {
                "needs": NeedSerializer(action_items_of(user, project), many=True).data,
                "runs": _runs(project, user),
                "labeling": {
                    "open_items": _open_items(project, user),
                    "tasks": render_tasks(list(tasks[:SHOWN]), user),
                },
                "warm_plans": RunningPlanSerializer(running_plans(project, SHOWN), many=True).data,
                "datasets": DatasetSerializer(datasets[:SHOWN], many=True).data,
                "models": render_models(models),
            }
        )


def _runs(project: Project, user: User) -> dict[str, Any]:
    runs = Run.objects.filter(project=project, archived_at=None)
    # Two questions, each by an index: of most runs, which ended long ago, nothing is asked.
    counts = runs.filter(state__in=sorted(job_states.ACTIVE)).aggregate(
        queued=Count("pk", filter=Q(state__in=sorted(job_states.WAITING))),
        running=Count("pk", filter=~Q(state__in=sorted(job_states.WAITING))),
    )
    lately = clock.now() - _FAILED_WITHIN
    failed = runs.filter(state=job_states.FAILED, finished_at__gte=lately).count()
    mine = active_runs(user, project)[:SHOWN]
    recent = runs.for_lists().order_by(*_NEWEST)[:SHOWN]
    return {
        **counts,
        "failed_24h": failed,
        "mine": RunShortSerializer(mine, many=True).data,
        "recent": RunShortSerializer(recent, many=True).data,
    }


def _open_items(project: Project, user: User) -> int:
    """Return how many items this person could label now; none for people who may not."""
    if not may(role_in(user, project), LABEL):
        return 0
    open_ones = assigned_to(user).filter(
        label_task__project=project,
        label_task__state=label_states.ACTIVE,
        state=label_states.OPEN,
    )
    return open_ones.count()
