"""How the installation is: `/metrics` for Prometheus, `/api/v1/health/` for its administrators.

Both draw from what the applications tell of themselves (`atom.core.health_checks`). One part that
cannot be asked hides no other.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import httpx
import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from drf_spectacular.utils import extend_schema
from redis import RedisError
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.people_views import InstallationView
from atom.core import clock, health, heartbeats, metrics, redis, service_state, task_counts
from atom.core.health_checks import LEVELS, Finding, Gauge, Level, worst
from atom.web.composition import modules_of_apps

log = structlog.get_logger(__name__)

# Kombu keeps a list per step of priority, named with these two characters before the step.
_QUEUE: Final = "tasks:celery"
_PRIORITY_STEPS: Final = ("", *(f"\x06\x16{step}" for step in (3, 6, 9)))
_UNACKNOWLEDGED: Final = "tasks:unacked"
# Beat alone adds a few each second: behind this many, work waits for minutes.
LONG_QUEUE: Final = 1000
DISK_LOW: Final = 0.10
DISK_OUT: Final = 0.02
GATEWAY_TIMEOUT_S: Final = 2.0


# --- gauges -------------------------------------------------------------------------------------


def metrics_page() -> bytes:
    """Return all that is counted here and shared, as Prometheus' text format."""
    gauges: list[Gauge] = []
    for app, read in _sources("gauges"):
        started = time.perf_counter()
        failed = 0.0
        try:
            gauges += read()
        # Whatever it was: the other parts are told, and that this one is missing.
        except Exception as error:
            log.warning("figures_failed", app=app, error=f"{type(error).__name__}: {error}")
            failed = 1.0
        seconds = time.perf_counter() - started
        gauges.append(
            Gauge("atom_figures_seconds", "Time to read a part's figures.", seconds, {"part": app})
        )
        gauges.append(
            Gauge("atom_figures_failed", "1: a part's figures are missing.", failed, {"part": app})
        )
    try:
        tasks = task_counts.families(task_counts.counts())
    except RedisError:
        tasks = []
    return metrics.render(gauges, tasks)


def _sources(name: str) -> Iterator[tuple[str, Callable[[], Iterable[Any]]]]:
    for module in modules_of_apps("health_checks"):
        if read := getattr(module, name, None):
            yield module.__name__.split(".")[1], read
    yield "installation", _gauges if name == "gauges" else _findings


def _gauges() -> Iterator[Gauge]:
    disk = shutil.disk_usage(settings.ATOM_HOME)
    yield Gauge("atom_disk_free_bytes", "Free below ATOM_HOME, on this machine.", disk.free)
    yield Gauge("atom_disk_bytes", "Size of the disk of ATOM_HOME.", disk.total)
    waiting, taken = _queue()
    yield Gauge("atom_task_queue_length", "Tasks that no worker has taken.", waiting)
    yield Gauge("atom_tasks_taken", "Tasks that workers have and did not acknowledge.", taken)
    for kind in (heartbeats.WORKER, heartbeats.BEAT):
        ages = heartbeats.ages_s(kind)
        alive = sum(age < heartbeats.SILENT_AFTER_S for age in ages)
        of_kind = {"kind": kind}
        yield Gauge("atom_processes", "Processes that gave a sign lately.", alive, of_kind)


def _queue() -> tuple[int, int]:
    """Return how many tasks wait, and how many are taken."""
    with redis.client().pipeline(transaction=False) as pipeline:
        for step in _PRIORITY_STEPS:
            pipeline.llen(_QUEUE + step)
        pipeline.hlen(_UNACKNOWLEDGED)
        *waiting, taken = pipeline.execute()
    return sum(waiting), taken


# --- findings -----------------------------------------------------------------------------------


def all_findings() -> list[Finding]:
    """Return how every part is, services first."""
    found = list(_services())
    for app, read in _sources("findings"):
        try:
            found += read()
        except Exception as error:
            log.warning("findings_failed", app=app, error=f"{type(error).__name__}: {error}")
            found.append(
                Finding(
                    "part_unreadable",
                    "problem",
                    f"{app} cannot be asked: {type(error).__name__}.",
                    "Repair the services that do not answer; the log of the web process says more.",
                    {"part": app, "error": type(error).__name__},
                )
            )
    return found


def _services() -> Iterator[Finding]:
    for name, part in health.probe_all().items():
        if part["ok"]:
            figures = {"latency_ms": part["latency_ms"]}
            yield Finding(name, "ok", "It answers.", figures=figures)
        else:
            detail = str(part.get("detail") or f"It does not answer: {part['error']}.")
            action = "See its log in ATOM_HOME/logs; the launcher starts it again by itself."
            yield Finding(name, "problem", detail, action, {"error": part["error"]})
    yield from service_state.refusals()
    yield _gateway()


def _gateway() -> Finding:
    try:
        # Not by a proxy of the environment: it is beside this process.
        with httpx.Client(trust_env=False, timeout=GATEWAY_TIMEOUT_S) as client:
            answer = client.get(f"{settings.ATOM_GATEWAY_URL}/healthz").raise_for_status()
    except httpx.HTTPError as error:
        return Finding(
            "gateway",
            "problem",
            f"The gateway does not answer: {type(error).__name__}. Pictures and files are missing.",
            "See ATOM_HOME/logs/gateway.log; the launcher starts it again by itself.",
            {"error": type(error).__name__},
        )
    latency_ms = round(answer.elapsed.total_seconds() * 1000, 1)
    return Finding("gateway", "ok", "It answers.", figures={"latency_ms": latency_ms})


def _findings() -> Iterator[Finding]:
    yield _process(heartbeats.WORKER, "Nothing is placed, verified, committed or published.")
    yield _process(heartbeats.BEAT, "Interrupted work is not resumed, and nothing recurs.")
    waiting, taken = _queue()
    figures = {"waiting": waiting, "taken": taken}
    if waiting > LONG_QUEUE:
        yield Finding(
            "queue_long",
            "warning",
            f"{waiting} tasks wait for a worker.",
            "Start more workers, or see which tasks take long.",
            figures,
        )
    else:
        yield Finding("queue", "ok", f"{waiting} tasks wait, {taken} are taken.", figures=figures)
    yield _disk()
    if not settings.ATOM_SENDS_MAIL:
        yield Finding(
            "mail_missing",
            "ok",
            "No mail is sent: links are shown to copy.",
            "Set ATOM_EMAIL_URL to send invitations and links by mail.",
        )


def _process(kind: str, meanwhile: str) -> Finding:
    """Say whether a process of the kind gave a sign lately."""
    ages = heartbeats.ages_s(kind)
    alive = sum(age < heartbeats.SILENT_AFTER_S for age in ages)
    if alive:
        return Finding(kind, "ok", f"{alive} run.", figures={"total": alive})
    action = f"See ATOM_HOME/logs/{kind}.log; the launcher starts it again by itself."
    return Finding(f"{kind}_silent", "problem", f"No {kind} gives a sign. {meanwhile}", action)


def _disk() -> Finding:
    disk = shutil.disk_usage(settings.ATOM_HOME)
    share = disk.free / disk.total
    level: Level = "problem" if share < DISK_OUT else "warning" if share < DISK_LOW else "ok"
    return Finding(
        "disk" if level == "ok" else "disk_low",
        level,
        f"{share:.0%} of the disk of ATOM_HOME is free.",
        "" if level == "ok" else "Make room: collect garbage, shorten retention, or add a disk.",
        {"free_bytes": disk.free, "total_bytes": disk.total},
    )


# --- views --------------------------------------------------------------------------------------


class HealthFindingSerializer(serializers.Serializer[Finding]):
    """How one part is."""

    code = serializers.CharField()
    level = serializers.ChoiceField(choices=LEVELS)
    detail = serializers.CharField()
    action = serializers.CharField(allow_blank=True)
    figures = serializers.DictField()


class TaskCountSerializer(serializers.Serializer[task_counts.TaskCount]):
    """Runs of one task since they are counted; `last_at` is when it last ended, Unix time."""

    name = serializers.CharField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    again = serializers.IntegerField()
    seconds = serializers.FloatField()
    last_at = serializers.FloatField(allow_null=True)


class HealthSerializer(serializers.Serializer[Any]):
    """The installation as a whole."""

    level = serializers.ChoiceField(choices=LEVELS)
    at = serializers.DateTimeField()
    findings = HealthFindingSerializer(many=True)
    tasks = TaskCountSerializer(many=True)


class HealthView(InstallationView, APIView):
    """The health page of administrators."""

    @extend_schema(responses=HealthSerializer, operation_id="health_retrieve")
    def get(self, request: Request) -> Response:
        """Return how every part is, and what the workers did."""
        found = all_findings()
        try:
            tasks = task_counts.counts()
        except RedisError:
            tasks = []
        body = {"level": worst(found), "at": clock.now(), "findings": found, "tasks": tasks}
        return Response(HealthSerializer(body).data)


class _MetricsView(InstallationView, APIView):
    """Figures for administrators who look with a browser or a token of their own."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Return the page."""
        return HttpResponse(metrics_page(), content_type=metrics.CONTENT_TYPE)


_for_administrators = _MetricsView.as_view()


def metrics_for(request: HttpRequest) -> HttpResponseBase:
    """Answer Prometheus, which has ATOM_METRICS_TOKEN, and administrators of the installation."""
    if request.method == "GET" and metrics.may_scrape(request.headers.get("Authorization", "")):
        return HttpResponse(metrics_page(), content_type=metrics.CONTENT_TYPE)
    return _for_administrators(request)
