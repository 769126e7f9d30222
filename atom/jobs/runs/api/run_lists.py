"""The list of runs: its filters, order, columns and sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, Sum
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView, user_of
from atom.core.errors import Invalid
from atom.core.idempotency import idempotent
from atom.core.pagination import parse_limit
from atom.core.query import check_choices, refuse_unknown
from atom.core.sorted_pages import sorted_page
from atom.core.states import all_states
from atom.jobs import states
from atom.jobs.api_base import PAGE, listing
from atom.jobs.models import Run, RunQuerySet, run_values
from atom.jobs.reads import listed_runs
from atom.jobs.runs import run_sorting
from atom.jobs.runs.actions import runs
from atom.jobs.runs.api import run_rows
from atom.jobs.runs.api.request_serializers import RunRequestSerializer
from atom.jobs.runs.api.run_serializers import ListedRunSerializer, RunSerializer
from atom.jobs.runs.api.views import parse_request, render_run
from atom.jobs.runs.run_search import on_cluster, searched
from atom_sdk.sentences import Sentence

FILTERS = (
    *("state", "q", "tag", "created_by", "origin", "experiment", "workflow", "cluster"),
    "search",
)
# Filters that hold the whole value, each with its condition.
_EXACT: dict[str, Callable[[str], Q]] = {
    "tag": lambda tag: Q(tags__contains=[tag]),
    "created_by": lambda username: Q(created_by__username=username),
    "workflow": lambda slug: Q(workflow__slug=slug),
    "cluster": on_cluster,
}
MAX_COLUMNS = 30
# Names of parameters and metrics are taken from this many of the newest runs.
_SAMPLED = 500
_MAX_NAMES = 200

_DESCRIBED = [
    OpenApiParameter(
        "search",
        str,
        description="Conditions that must all hold: `lr>0.01 state:failed tag:baseline "
        'metric.loss<0.3 author:ann created>=2026-11-01 "free words"`, a minus sign before one '
        "that must not.",
    ),
    OpenApiParameter("state", str, description="One state, or several with commas."),
    OpenApiParameter("q", str, description="A part of the name, or the number."),
    OpenApiParameter("tag", str),
    OpenApiParameter("created_by", str, description="A username."),
    OpenApiParameter("workflow", str, description="The short name of a workflow."),
    OpenApiParameter(
        "cluster", str, description="The name of a cluster; `local` for Atom's own machines."
    ),
    OpenApiParameter("origin", str, enum=states.RUN_ORIGINS),
    OpenApiParameter("experiment", str, description="The name of an experiment, or its id."),
]


class RunsView(ProjectScopedView, APIView):
    """`projects/<project>/runs/`."""

    @extend_schema(
        operation_id="runs_list",
        parameters=[
            *PAGE,
            *_DESCRIBED,
            OpenApiParameter(
                "sort",
                str,
                description="created, number, name, duration, cpu_hours, gpu_hours, param.NAME or "
                "metric.NAME; a minus sign before it turns it around. `-created` by default.",
            ),
            OpenApiParameter(
                "column",
                str,
                many=True,
                description="param.NAME or metric.NAME, told in `values` of each run.",
            ),
        ],
        responses=listing(ListedRunSerializer, "RunPage"),
    )
    def get(self, request: Request, project: str) -> Response:
        """List the runs of a project, newest first."""
        refuse_unknown(request, ("limit", "cursor", "sort", "column", *FILTERS))
        columns = _columns(request)
        found = filtered(self, request)
        sorting = run_sorting.sorting_of(request.query_params.get("sort") or run_sorting.DEFAULT)
        cursor = request.query_params.get("cursor")
        # Parameters are read only where they are shown.
        more = run_rows.VALUE_COLUMNS if columns else ()
        page, following = sorted_page(
            found, sorting, parse_limit(request), cursor, lambda ids: listed_runs(ids, *more)
        )
        return Response({"results": run_rows.rows_of(page, columns), "next": following})

    @extend_schema(
        operation_id="runs_create", request=RunRequestSerializer, responses={201: RunSerializer}
    )
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Start a run."""
        run = runs.create_run(self.project, user_of(request), parse_request(request))
        return render_run(run.pk, status=201)


def filtered(view: ProjectScopedView, request: Request) -> RunQuerySet:
    """Return the project's runs that the filters leave. Raises Invalid, InvalidRunSearch."""
    params = request.query_params
    found = Run.objects.filter(project=view.project)
    found = searched(found, view.project, user_of(request), params.get("search", ""))
    if wanted := params.get("state"):
        names = [name.strip() for name in wanted.split(",") if name.strip()]
        check_choices("state", names, all_states(states.RUN_STATES))
        found = found.filter(state__in=names)
    if text := params.get("q"):
        number = Q(number=int(text)) if text.isdecimal() and len(text) < 10 else Q()
        found = found.filter(Q(name__icontains=text) | number)
    for name, condition in _EXACT.items():
        if value := params.get(name):
            found = found.filter(condition(value))
    if origin := params.get("origin"):
        check_choices("origin", [origin], states.RUN_ORIGINS)
        found = found.filter(origin=origin)
    if experiment := params.get("experiment"):
        found = found.filter(Q(experiment__name=experiment) | _experiment_of_id(experiment))
    return found


def _columns(request: Request) -> list[str]:
    """Return the chosen columns. Raises Invalid for what is neither parameter nor metric."""
    names = list(dict.fromkeys(request.query_params.getlist("column")))
    if len(names) > MAX_COLUMNS:
        raise Invalid(
            errors={
                "column": [
                    Sentence(
                        "jobs.too_many_columns",
                        "At most {max} columns can be shown.",
                        max=MAX_COLUMNS,
                    )
                ]
            }
        )
    for name in names:
        kind, _, key = name.partition(".")
        if kind not in ("param", "metric") or not key:
            raise Invalid(
                errors={
                    "column": [
                        Sentence(
                            "jobs.column_unknown",
                            "{column}? Write param.NAME or metric.NAME.",
                            column=repr(name),
                        )
                    ]
                }
            )
    return names


class RunSumsSerializer(serializers.Serializer[Any]):
    """Sums over the runs of a list: their number, their states and the hours they took."""

    count = serializers.IntegerField()
    states = serializers.DictField(child=serializers.IntegerField())
    cpu_hours = serializers.FloatField()
    gpu_hours = serializers.FloatField()


class RunSumsView(ProjectScopedView, APIView):
    """`projects/<project>/runs/sums/`."""

    @extend_schema(operation_id="runs_sums", parameters=_DESCRIBED, responses=RunSumsSerializer)
    def get(self, request: Request, project: str) -> Response:
        """Count the runs that the filters leave, and sum the hours that they ran."""
        refuse_unknown(request, FILTERS)
        grouped = (
            filtered(self, request)
            .order_by()
            .values("state")
            .annotate(
                count=Count("pk"),
                cpu_hours=Sum(run_values.hours_of("cpus")),
                gpu_hours=Sum(run_values.hours_of("gpus")),
            )
        )
        rows = list(grouped)
        return Response(
            {
                "count": sum(row["count"] for row in rows),
                "states": {row["state"]: row["count"] for row in rows},
                "cpu_hours": round(sum(row["cpu_hours"] for row in rows), 4),
                "gpu_hours": round(sum(row["gpu_hours"] for row in rows), 4),
            }
        )


class RunColumnsSerializer(serializers.Serializer[Any]):
    """Names that may be columns, by how many of the newest runs have them."""

    parameters = serializers.ListField(child=serializers.CharField())
    metrics = serializers.ListField(child=serializers.CharField())


class RunColumnsView(ProjectScopedView, APIView):
    """`projects/<project>/runs/columns/`."""

    @extend_schema(
        operation_id="runs_columns", parameters=_DESCRIBED, responses=RunColumnsSerializer
    )
    def get(self, request: Request, project: str) -> Response:
        """Name the parameters and metrics of the newest runs that the filters leave."""
        refuse_unknown(request, FILTERS)
        newest = filtered(self, request).order_by("-created_at", "-id")
        parameters: dict[str, int] = {}
        metrics: dict[str, int] = {}
        for given, logged, summary in newest.values_list(
            "parameters", "logged_parameters", "metrics_summary"
        )[:_SAMPLED]:
            for key in {**given, **logged}:
                parameters[key] = parameters.get(key, 0) + 1
            for key in summary:
                metrics[key] = metrics.get(key, 0) + 1
        return Response({"parameters": _most(parameters), "metrics": _most(metrics)})


def _most(counts: dict[str, int]) -> list[str]:
    return sorted(counts, key=lambda key: (-counts[key], key))[:_MAX_NAMES]


def _experiment_of_id(text: str) -> Q:
    """Return what matches the experiment of an id, as links of MLflow name it; no other."""
    try:
        return Q(experiment=UUID(text))
    except ValueError:
        return Q(pk__in=[])
