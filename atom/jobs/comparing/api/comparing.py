"""Several runs beside each other: what differs, and one metric of all of them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView
from atom.core.errors import Invalid
from atom.core.query import choice, refuse_unknown
from atom.jobs.comparing.actions import compare
from atom.jobs.comparing.actions.compare import Measured, RunCurve
from atom.jobs.json_values import MetricValueField, number_of
from atom.jobs.metrics.actions.curve_cache import Window
from atom.jobs.metrics.api.metrics import NUMBERS
from atom.jobs.metrics.engines import metric_direction
from atom.jobs.models import Run
from atom.jobs.runs.api.run_serializers import CodeSnapshotSerializer, RunShortSerializer
from atom_sdk.runner.metric_rows import number
from atom_sdk.sentences import Sentence

VALUES = ("last", "min", "max")
MAX_KEY = 250
RUNS = OpenApiParameter(
    "runs", str, required=True, description="2 to 50 numbers or ids of runs, with commas."
)


class MeasuredSerializer(serializers.Serializer[Any]):
    """A metric of a run."""

    key = serializers.CharField()
    n = serializers.IntegerField()
    last = MetricValueField(allow_null=True)
    last_step = serializers.IntegerField(allow_null=True)
    min = serializers.FloatField(allow_null=True, help_text="Of finite values.")
    max = serializers.FloatField(allow_null=True, help_text="Of finite values.")


class RequirementsSerializer(serializers.Serializer[Any]):
    """The Python and the requirements that a run's environment was built from."""

    python = serializers.CharField()
    requirements = serializers.CharField()


class ComparedRunSerializer(RunShortSerializer):
    """A run with everything that may differ from another's; context: `measured`."""

    parameters = serializers.DictField()
    command = serializers.ListField(child=serializers.CharField())
    runtime = RequirementsSerializer(allow_null=True)
    code = CodeSnapshotSerializer(allow_null=True)
    env = serializers.SerializerMethodField()
    metrics = serializers.SerializerMethodField()

    class Meta(RunShortSerializer.Meta):
        fields = (
            *RunShortSerializer.Meta.fields, "parameters", "command", "runtime", "code", "env",
            "workflow_version", "timeout_s", "max_retries", "metrics",
        )  # fmt: skip

    def get_env(self, run: Run) -> list[str]:
        """Return the names only: the values may be secrets."""
        return sorted(run.env)

    @extend_schema_field(MeasuredSerializer(many=True))
    def get_metrics(self, run: Run) -> list[dict[str, Any]]:
        """Return its metrics, by key."""
        found: dict[str, Measured] = self.context["measured"][run.pk]
        return [
            {
                "key": key,
                "n": one.n,
                "last": None if one.last is None else number(one.last),
                "last_step": one.last_step,
                "min": one.min,
                "max": one.max,
            }
            for key, one in found.items()
        ]


class ComparedMetricSerializer(serializers.Serializer[Any]):
    """A metric that at least one of the runs has."""

    key = serializers.CharField()
    goal = serializers.ChoiceField(
        choices=["max", "min"], allow_null=True, help_text="Null where the name does not tell."
    )
    best = serializers.ListField(
        child=serializers.UUIDField(), help_text="Several where they are equal."
    )


class ComparisonSerializer(serializers.Serializer[Any]):
    """Runs beside each other."""

    runs = ComparedRunSerializer(many=True)
    metrics = ComparedMetricSerializer(many=True)


class ComparedCurveSerializer(serializers.Serializer[Any]):
    """One metric of one run."""

    run = serializers.UUIDField()
    number = serializers.IntegerField()
    steps = serializers.ListField(child=serializers.IntegerField())
    values = NUMBERS
    ts = serializers.ListField(child=serializers.IntegerField())
    n = serializers.IntegerField()
    downsampled = serializers.BooleanField()
    coarse = serializers.BooleanField(
        help_text="Drawn from the smallest and largest value of each 4,096 points; times are "
        "interpolated. A shorter range of steps is exact."
    )


class ComparedCurvesSerializer(serializers.Serializer[Any]):
    """One metric of all runs that have it."""

    key = serializers.CharField()
    series = ComparedCurveSerializer(many=True)


def names_of(request: Request) -> list[str]:
    """Return the runs that the address names."""
    text = request.query_params.get("runs", "")
    return [name.strip() for name in text.split(",") if name.strip()]


class CompareView(ProjectScopedView, APIView):
    """`projects/<project>/runs/compare/`."""

    @extend_schema(
        operation_id="runs_compare",
        parameters=[
            RUNS,
            OpenApiParameter(
                "value",
                str,
                enum=VALUES,
                description="The value of a metric that decides which run is best.",
            ),
        ],
        responses=ComparisonSerializer,
    )
    def get(self, request: Request, project: str) -> Response:
        """Set runs side by side: parameters, metrics, configuration, the best of each metric."""
        refuse_unknown(request, ("runs", "value"))
        names = names_of(request)
        value = choice(request, "value", VALUES, default="last")
        found = compare.chosen(self.project, names).with_parts().select_related("runtime", "code")
        runs = compare.in_order(found, names)
        measured = compare.measured(runs)
        keys = sorted({key for some in measured.values() for key in some})
        context = {"measured": measured}
        return Response(
            {
                "runs": ComparedRunSerializer(runs, many=True, context=context).data,
                "metrics": [_metric(key, runs, measured, value) for key in keys],
            }
        )


def _metric(key: str, runs: list[Run], measured: Any, value: str) -> dict[str, Any]:
    goal = metric_direction.goal_of(key)
    measurements = {str(run.pk): measured[run.pk].get(key) for run in runs}
    values = {
        run_id: chosen
        for run_id, one in measurements.items()
        if one is not None and (chosen := getattr(one, value)) is not None
    }
    return {"key": key, "goal": goal, "best": metric_direction.best(values, goal)}


class CompareSeriesView(ProjectScopedView, APIView):
    """`projects/<project>/runs/compare/series/`."""

    @extend_schema(
        operation_id="runs_compare_series",
        parameters=[
            RUNS,
            OpenApiParameter("key", str, required=True),
            OpenApiParameter(
                "points", int, description="Points per curve, at most 4,000, and 25,000 in all."
            ),
            OpenApiParameter("from_step", int),
            OpenApiParameter("to_step", int),
        ],
        responses=ComparedCurvesSerializer,
    )
    def get(self, request: Request, project: str) -> Response:
        """Return one metric of each run, downsampled so that peaks stay."""
        refuse_unknown(request, ("runs", "key", "points", "from_step", "to_step"))
        key = request.query_params.get("key", "")
        if not 0 < len(key) <= MAX_KEY or "\0" in key:
            raise Invalid(
                errors={
                    "key": [
                        Sentence(
                            "jobs.metric_name_invalid",
                            "Give a metric's name, of 1 to {max_characters} characters.",
                            max_characters=MAX_KEY,
                        )
                    ]
                }
            )
        names = names_of(request)
        runs = compare.in_order(compare.chosen(self.project, names), names)
        window = Window(
            points=number_of(request, "points", 500) or 500,
            from_step=_step(request, "from_step"),
            to_step=_step(request, "to_step"),
        )
        found = compare.curves(runs, key, window)
        return Response({"key": key, "series": [_curve(one) for one in found]})


def _step(request: Request, name: str) -> int | None:
    """Return a step as the database can compare it; a larger one is no bound of any series."""
    step = number_of(request, name)
    return None if step is None else max(-(1 << 63), min(step, (1 << 63) - 1))


def _curve(one: RunCurve) -> dict[str, Any]:
    return {
        "run": str(one.run.pk),
        "number": one.run.number,
        "steps": one.points.steps.tolist(),
        "values": list(map(number, one.points.values.tolist())),
        "ts": one.points.ts_ms.tolist(),
        "n": one.n,
        "downsampled": one.downsampled,
        "coarse": one.coarse,
    }
