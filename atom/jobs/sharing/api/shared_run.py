"""`shared-run/`: one run for the holders of a link to it; no view here needs a sign-in.

The serializers list every field and derive from no other shape. So a field that is added for
members does not become public.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from django.db.models import Prefetch
from django.utils.functional import cached_property
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.core import clock
from atom.core.errors import Invalid
from atom.core.query import refuse_unknown
from atom.jobs import states
from atom.jobs.errors import ShareUnknown
from atom.jobs.failures.api.failure_serializers import RunFailureSerializer, failure_of
from atom.jobs.failures.engines.failure_codes import FAILURE_CLASSES
from atom.jobs.failures.engines.public_messages import public_message
from atom.jobs.json_values import MetricValueField, names, number_of
from atom.jobs.logs.actions import logs
from atom.jobs.logs.api.logs import DEFAULT_LOG_BYTES
from atom.jobs.metrics.actions import series
from atom.jobs.metrics.actions.metrics import SYSTEM_PREFIX
from atom.jobs.metrics.api.metrics import CURVES, METRIC, curve_of, metric_of, wanted_curves
from atom.jobs.models import Run, RunInput, RunShare
from atom.jobs.sharing.actions.shares import open_share
from atom.jobs.tracking.actions.tracked import parameters_of
from atom_sdk.runner.metric_rows import number
from atom_sdk.sentences import Sentence

HEADER = "Atom-Share"
MAX_LOG_BYTES = 1 << 20
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}
_TOKEN = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    required=True,
    description="The text behind # in the link. A link that does not work, for whatever reason, "
    "is answered with 404 `share_unknown`.",
)


class SharedDatasetSerializer(serializers.Serializer[Any]):
    """A dataset version that the run reads, by name."""

    dataset = serializers.CharField()
    version = serializers.CharField()


class SharedRunSerializer(serializers.Serializer[Any]):
    """All that a link shows of a run, beside its curves and, if it was wanted, its log."""

    name = serializers.CharField()
    state = serializers.CharField()
    failure_class = serializers.ChoiceField(choices=names(FAILURE_CLASSES), allow_null=True)
    failure_reason = serializers.CharField(allow_null=True)
    failure = RunFailureSerializer(allow_null=True)
    progress = serializers.FloatField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    duration_s = serializers.FloatField(allow_null=True)
    created_by = serializers.CharField(allow_null=True, help_text="A full name, if there is one.")
    workflow = serializers.CharField(allow_null=True)
    parameters = serializers.DictField()
    metrics = serializers.DictField(child=MetricValueField(), help_text="The last value of each.")
    datasets = SharedDatasetSerializer(many=True)
    commit = serializers.CharField(allow_null=True)
    notes = serializers.CharField()
    attempts = serializers.IntegerField()
    expires_at = serializers.DateTimeField(help_text="Until when the link works.")
    with_log = serializers.BooleanField()


class SharedRunView(APIView):
    """`shared-run/`, and what the views below it share."""

    permission_classes = (AllowAny,)
    # A user who is signed in sees no more than others, and leaves no trace.
    authentication_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Open the link before anything else is answered."""
        super().initial(request, *args, **kwargs)
        _ = self.share

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        """Add what keeps the answer, also that of a failure, out of caches and indexes."""
        found: Response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in _HEADERS.items():
            found[name] = value
        return found

    @cached_property
    def share(self) -> RunShare:
        """Return the link of the request's header. Raises ShareUnknown, Throttled."""
        return open_share(self.request.headers.get(HEADER, ""), self.request._request)

    @extend_schema(
        operation_id="shared_run", parameters=[_TOKEN], responses=SharedRunSerializer, auth=[]
    )
    def get(self, request: Request) -> Response:
        """Return the run of a link."""
        refuse_unknown(request, ())
        return Response(SharedRunSerializer(_shown(self.share)).data)


class SharedMetricsView(SharedRunView):
    """`shared-run/metrics/`."""

    @extend_schema(
        operation_id="shared_run_metrics", parameters=[_TOKEN], responses=METRIC, auth=[]
    )
    def get(self, request: Request) -> Response:
        """List the metrics that the run's program reported, with last values and ranges."""
        refuse_unknown(request, ())
        grouped = series.series_of(self.share.run)
        return Response([metric_of(key, some) for key, some in grouped.items() if _is_public(key)])


class SharedSeriesView(SharedRunView):
    """`shared-run/metrics/series/`."""

    @extend_schema(
        operation_id="shared_run_series",
        parameters=[
            _TOKEN,
            OpenApiParameter("key", str, many=True, required=True),
            OpenApiParameter("points", int, description="Points per curve, at most 4,000."),
            OpenApiParameter("from_step", int),
            OpenApiParameter("to_step", int),
            OpenApiParameter("since_n", int, description="Skip so many of the first points."),
        ],
        responses=CURVES,
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """Return curves of these metrics, downsampled so that peaks stay."""
        keys, window = wanted_curves(request)
        told = [key for key in keys if _is_public(key)]
        found = series.curves(self.share.run, told, window)
        return Response({"series": [curve_of(curve) for curve in found]})


class SharedLogView(SharedRunView):
    """`shared-run/log/`."""

    @extend_schema(
        operation_id="shared_run_log",
        parameters=[
            _TOKEN,
            OpenApiParameter("attempt", int, description="The last one if left out."),
            OpenApiParameter("from", int, description="Byte offset."),
            OpenApiParameter("limit_bytes", int, description="At most 1 MiB."),
        ],
        responses=inline_serializer(
            "SharedLog",
            {
                "attempt": serializers.IntegerField(),
                "frames": inline_serializer(
                    "SharedLogFrame",
                    {
                        "byte_off": serializers.IntegerField(),
                        "ts_ns": serializers.IntegerField(),
                        "fd": serializers.IntegerField(help_text="1: stdout, 2: stderr."),
                        "text": serializers.CharField(),
                    },
                    many=True,
                ),
                "next": serializers.IntegerField(),
                "eof": serializers.BooleanField(),
            },
        ),
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """Return a part of the run's log, as it is stored: secrets are masked in it."""
        if not self.share.with_log:
            raise ShareUnknown
        refuse_unknown(request, ("attempt", "from", "limit_bytes"))
        return Response(_log(self.share.run, request))


def _is_public(key: str) -> bool:
    # Metrics of the machine are not for people outside.
    return not key.startswith(SYSTEM_PREFIX)


def _shown(share: RunShare) -> dict[str, Any]:
    inputs = RunInput.objects.select_related("version__dataset").order_by("alias")
    rows = Run.objects.select_related("workflow", "code", "created_by")
    run = rows.prefetch_related(Prefetch("inputs", inputs)).get(pk=share.run_id)
    last = run.attempts.order_by("-number").first()
    failed = run.state == states.FAILED
    told = public_message(
        failure_of(last) if failed else None, run.failure_reason, with_log=share.with_log
    )
    return {
        "name": run.name,
        "state": run.state,
        "failure_class": (run.failure_class or None) if failed else None,
        "failure_reason": told.reason,
        "failure": {"code": told.code, "params": told.params} if told.code else None,
        "progress": run.progress,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "duration_s": _duration_s(run, clock.now()),
        # A user name is half of what one signs in with.
        "created_by": (run.created_by.full_name if run.created_by else "") or None,
        "workflow": run.workflow.slug if run.workflow else None,
        "parameters": parameters_of(run),
        "metrics": {k: number(v) for k, v in run.metrics_summary.items() if _is_public(k)},
        "datasets": [
            {"dataset": one.version.dataset.name, "version": one.version.ref}
            for one in run.inputs.all()
        ],
        "commit": _commit(run),
        "notes": run.notes,
        "attempts": last.number if last else 0,
        "expires_at": share.expires_at,
        "with_log": share.with_log,
    }


def _duration_s(run: Run, now: datetime) -> float | None:
    if run.started_at is None:
        return None
    open_s = (now - run.running_since).total_seconds() if run.running_since else 0.0
    return round(max(0.0, run.ran_s + open_s), 3)


def _commit(run: Run) -> str | None:
    # The client that sent the code chose this value, so check that it is a commit.
    said = (run.code.git or {}).get("commit") if run.code else None
    return said if isinstance(said, str) and _COMMIT.fullmatch(said) else None


def _log(run: Run, request: Request) -> dict[str, Any]:
    number = number_of(request, "attempt")
    rows = run.attempts.order_by("-number")
    attempt = (rows if number is None else rows.filter(number=number)).first()
    if attempt is None:
        if number is not None:
            raise Invalid(
                errors={
                    "attempt": [
                        Sentence("jobs.shared_attempt_unknown", "The run has no such attempt.")
                    ]
                }
            )
        return {"attempt": 0, "frames": [], "next": 0, "eof": False}
    start = max(0, number_of(request, "from", 0) or 0)
    wanted = number_of(request, "limit_bytes", DEFAULT_LOG_BYTES) or 1
    found = logs.read(attempt, start, max(1, min(wanted, MAX_LOG_BYTES)))
    return {
        "attempt": attempt.number,
        "frames": [
            {
                "byte_off": one.byte_off,
                "ts_ns": one.ts_ns,
                "fd": one.fd,
                "text": text,
            }
            for one, text in zip(found.frames, logs.texts(found), strict=True)
        ],
        "next": found.next,
        # An attempt that was over before its supervisor started has no log that could end.
        "eof": found.eof or attempt.state in states.TERMINAL,
    }
