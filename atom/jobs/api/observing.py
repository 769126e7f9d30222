"""What a run leaves: metrics, files and logs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.errors import Invalid, NotFound
from atom.core.query import choice
from atom.jobs import states
from atom.jobs.actions import advice, logs, series
from atom.jobs.actions.attempts import find_attempt
from atom.jobs.actions.curve_cache import Curve, Window
from atom.jobs.actions.logs import LogSlice
from atom.jobs.api.explanation_serializers import FindingSerializer
from atom.jobs.api.run_serializers import ArtifactSerializer
from atom.jobs.api.values import MetricValueField, number_of
from atom.jobs.api.views import PAGE, RunScopedView, listing, page_of
from atom.jobs.engines import log_text
from atom.jobs.engines.log_search import MAX_PATTERN, Query, Search
from atom.jobs.models import Attempt, MetricSeries
from atom_sdk.runner.frames import STREAM_NAMES, Frame
from atom_sdk.runner.metric_rows import number

DEFAULT_LOG_BYTES = 256 << 10
MAX_LOG_BYTES = 4 << 20
# A search looks at so much in one request and answers where to go on.
SEARCHED_BYTES = 32 << 20
MAX_MATCHES = 1000
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
        raise Invalid(errors={"key": [f"Give 1 to {MAX_KEYS} keys."]})
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


class AdviceView(RunScopedView):
    """`runs/<id>/advice/`."""

    @extend_schema(operation_id="runs_advice", responses=FindingSerializer(many=True))
    def get(self, request: Request, run_id: UUID) -> Response:
        """Say whether the run waited for its data, why, and what to do."""
        return Response(FindingSerializer(advice.advice_of(self.run), many=True).data)


class FilesView(RunScopedView):
    """`runs/<id>/files/`."""

    keyset = ("-created_at", "-id")
    filters = ("kind", "path")

    @extend_schema(
        operation_id="runs_files",
        parameters=[
            *PAGE,
            OpenApiParameter("kind", str, enum=states.ARTIFACT_KINDS),
            OpenApiParameter("path", str),
        ],
        responses=listing(ArtifactSerializer, "ArtifactPage"),
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """List the files that the run left, newest first."""
        found = self.run.artifacts.select_related("attempt")
        if kind := choice(request, "kind", states.ARTIFACT_KINDS):
            found = found.filter(kind=kind)
        if path := request.query_params.get("path"):
            found = found.filter(path=path)
        return page_of(self, found, ArtifactSerializer)


LOG_PARAMETERS = [
    OpenApiParameter("attempt", str, description="Number or id; the last one if left out."),
    OpenApiParameter("stream", str, enum=["stdout", "stderr", "all"]),
    OpenApiParameter("from", int, description="Byte offset; negative counts from the end."),
    OpenApiParameter("limit_bytes", int),
    OpenApiParameter("q", str, description="Only lines that contain this."),
]
LOG = inline_serializer(
    "RunLog",
    {
        "attempt": serializers.IntegerField(),
        "attempt_id": serializers.UUIDField(),
        "streams": inline_serializer(
            "RunLogStream",
            {
                "stream": serializers.CharField(),
                "bytes": serializers.IntegerField(),
                "lines": serializers.IntegerField(),
                "eof": serializers.BooleanField(),
            },
            many=True,
        ),
        "frames": inline_serializer(
            "RunLogFrame",
            {
                "stream": serializers.CharField(),
                "seq": serializers.IntegerField(),
                "byte_off": serializers.IntegerField(),
                "ts_ns": serializers.IntegerField(),
                "fd": serializers.IntegerField(),
                "text": serializers.CharField(),
            },
            many=True,
        ),
        "next": serializers.IntegerField(),
        "eof": serializers.BooleanField(),
    },
)


class LogsView(RunScopedView):
    """`runs/<id>/logs/`: one byte sequence per attempt, resumed by one offset."""

    @extend_schema(operation_id="runs_logs", parameters=LOG_PARAMETERS, responses=LOG)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return a part of the log, or its lines that match."""
        try:
            attempt = find_attempt(self.run, request.query_params.get("attempt", ""))
        except NotFound:
            if request.query_params.get("attempt"):
                raise
            return Response(_NO_LOG_YET)
        query = request.query_params.get("q", "")
        limit = SEARCHED_BYTES if query else number_of(request, "limit_bytes", DEFAULT_LOG_BYTES)
        start = _start(attempt, number_of(request, "from", 0) or 0)
        cap = SEARCHED_BYTES if query else MAX_LOG_BYTES
        found = logs.read(attempt, start, max(1, min(limit or 1, cap)))
        wanted = choice(request, "stream", ("all", *STREAM_NAMES.values()), default="all")
        fds = {fd for fd, name in STREAM_NAMES.items() if wanted in ("all", name)}
        rows = _matches(found.frames, Query(query[:MAX_PATTERN])) if query else _rows(found)
        return Response(_log(attempt, found, [row for row in rows if row["fd"] in fds]))


_NO_LOG_YET: dict[str, Any] = {
    "attempt": 0,
    "attempt_id": None,
    "streams": [],
    "frames": [],
    "next": 0,
    "eof": False,
}


def _start(attempt: Attempt, start: int) -> int:
    return start if start >= 0 else max(0, logs.read(attempt, 1 << 62, 1).total_bytes + start)


def _rows(found: LogSlice) -> list[dict[str, Any]]:
    shown = zip(found.frames, logs.texts(found), strict=True)
    return [_row(one.fd, one.byte_off, one.ts_ns, text) for one, text in shown]


def _matches(frames: list[Frame], query: Query) -> list[dict[str, Any]]:
    looking = Search(query)
    for frame in frames:
        looking.feed(frame)
    looking.finish()
    lines = [match.line for match in looking.matches[:MAX_MATCHES]]
    return [
        _row(one.fd, one.byte_off, one.ts_ns, f"{log_text.text_of(one.raw)}\n") for one in lines
    ]


def _row(fd: int, byte_off: int, ts_ns: int, text: str) -> dict[str, Any]:
    # A frame is named by its offset: unique in its stream and rising, as a sequence number is.
    return {
        "stream": STREAM_NAMES[fd],
        "seq": byte_off,
        "byte_off": byte_off,
        "ts_ns": ts_ns,
        "fd": fd,
        "text": text,
    }


def _log(attempt: Attempt, found: LogSlice, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "attempt": attempt.number,
        "attempt_id": str(attempt.pk),
        "streams": [
            {
                "stream": logs.MAIN,
                "bytes": found.total_bytes,
                "lines": found.lines,
                "eof": found.eof,
            }
        ],
        "frames": rows,
        "next": found.next,
        # An attempt that was over before its supervisor started has no log that could end.
        "eof": found.eof or attempt.state in states.TERMINAL,
    }
