"""Metrics of a run."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.errors import Invalid
from atom.jobs.api_base import RunScopedView
from atom.jobs.json_values import MetricValueField, number_of
from atom.jobs.metrics.actions import series
from atom.jobs.metrics.actions.curve_cache import Curve, Window
from atom.jobs.models import MetricSeries
from atom_sdk.runner.metric_rows import number
from atom_sdk.sentences import Sentence

MAX_KEYS = 100


METRIC = inline_serializer(
    "RunMetric",
    {
        "key": serializers.CharField(),
        "kind": serializers.ChoiceField(choices=["user", "system"]),
        "n": serializers.IntegerField(),
        "last": MetricValueField(allow_null=True),
        "last_step": serializers.IntegerField(allow_null=True),
        "vmin": serializers.FloatField(allow_null=True, help_text="Of finite values."),
        "vmax": serializers.FloatField(allow_null=True, help_text="Of finite values."),
        "step_min": serializers.IntegerField(),
        "step_max": serializers.IntegerField(),
    },
    many=True,
)
NUMBERS = serializers.ListField(child=MetricValueField())
CURVES = inline_serializer(
    "RunSeries",
    {
        "series": inline_serializer(
            "RunCurve",
            {
                "key": serializers.CharField(),
                "steps": serializers.ListField(child=serializers.IntegerField()),
                "values": NUMBERS,
                "ts": serializers.ListField(child=serializers.IntegerField()),
                "n": serializers.IntegerField(),
                "downsampled": serializers.BooleanField(),
            },
            many=True,
        )
    },
)


class MetricsView(RunScopedView):
    """`runs/<id>/metrics/`."""

    @extend_schema(operation_id="runs_metrics", responses=METRIC)
    def get(self, request: Request, run_id: UUID) -> Response:
        """List the run's metrics with their last values and ranges."""
        grouped = series.series_of(self.run)
        return Response([metric_of(key, some) for key, some in grouped.items()])


def metric_of(key: str, some: list[MetricSeries]) -> dict[str, Any]:
    """Return a metric with its last value and its range, over all attempts."""
    last = some[-1]
    lows = [one.vmin for one in some if one.vmin is not None]
    highs = [one.vmax for one in some if one.vmax is not None]
    return {
        "key": key,
        "kind": last.kind,
        "n": sum(one.n for one in some),
        "last": None if last.last is None else number(last.last),
        "last_step": last.last_step,
        "vmin": min(lows, default=None),
        "vmax": max(highs, default=None),
        "step_min": min((one.step_min for one in some if one.step_min is not None), default=0),
        "step_max": max((one.step_max for one in some if one.step_max is not None), default=0),
    }


class SeriesView(RunScopedView):
    """`runs/<id>/metrics/series/`."""

    @extend_schema(
        operation_id="runs_series",
        parameters=[
            OpenApiParameter("key", str, many=True, required=True),
            OpenApiParameter("points", int, description="Points per curve, at most 4,000."),
            OpenApiParameter("from_step", int),
            OpenApiParameter("to_step", int),
            OpenApiParameter("since_n", int, description="Skip so many of the first points."),
        ],
        responses=CURVES,
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return curves, downsampled so that peaks stay."""
        keys, window = wanted_curves(request)
        found = series.curves(self.run, keys, window)
        return Response({"series": [curve_of(curve) for curve in found]})


def wanted_curves(request: Request) -> tuple[list[str], Window]:
    """Return the metrics and the part of their curves that are asked for. Raises Invalid."""
    keys = list(dict.fromkeys(request.query_params.getlist("key")))
    if not 0 < len(keys) <= MAX_KEYS:
        raise Invalid(
            errors={
                "key": [Sentence("jobs.key_count", "Give 1 to {max_keys} keys.", max_keys=MAX_KEYS)]
            }
        )
    window = Window(
        points=number_of(request, "points", 1000) or 1000,
        from_step=number_of(request, "from_step"),
        to_step=number_of(request, "to_step"),
        since_n=max(0, number_of(request, "since_n", 0) or 0),
    )
    return keys, window


def curve_of(curve: Curve) -> dict[str, Any]:
    """Return a curve as JSON can hold it."""
    return {
        "key": curve.key,
        "steps": curve.points.steps.tolist(),
        "values": list(map(number, curve.points.values.tolist())),
        "ts": curve.points.ts_ms.tolist(),
        "n": curve.n,
        "downsampled": curve.downsampled,
    }
