"""Traces: one from a request over its task to the run that it asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from celery import Celery
from celery.contrib.testing.worker import start_worker
from celery.signals import before_task_publish, task_postrun, task_prerun
from django.test import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from atom.core import tracing
from atom.core.clock import now
from atom.jobs import states
from atom.jobs.attempts.actions.traces import trace_attempt
from atom.jobs.models import Run
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_attempt

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


class Collector:
    """An OTLP collector that keeps the spans it receives, by name."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.headers: list[Any] = []
        hear = self._hear

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                hear(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def _hear(self, request: BaseHTTPRequestHandler) -> None:
        assert request.path == "/v1/traces"
        body = request.rfile.read(int(request.headers["Content-Length"]))
        self.headers.append(request.headers)
        for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for of_scope in of_resource.scope_spans:
                self.spans += of_scope.spans
        request.send_response(200)
        request.end_headers()

    def named(self, name: str) -> Span:
        [found] = [span for span in self.spans if span.name == name]
        return found

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def collector(settings: Any) -> Iterator[Collector]:
    collector = Collector()
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
    settings.OTEL_EXPORTER_OTLP_HEADERS = "x-team=vision, x-key=a=b"
    tracing.begin("test")
    yield collector
    tracing.end()
    collector.close()


@pytest.mark.django_db
def test_a_request_is_a_span_below_the_one_of_its_caller(collector: Collector) -> None:
    client = Client()
    project = make_project()
    client.force_login(make_member(project, "viewer"))
    client.get(f"/api/v1/projects/{project.slug}/overview/", headers={"traceparent": PARENT})
    tracing.end()
    span = collector.named("GET api/v1/projects/<str:project>/overview/")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, "b7ad6b7169203331")
    assert span.kind == Span.SPAN_KIND_SERVER
    assert project.slug not in str(span)
    assert (collector.headers[0]["x-team"], collector.headers[0]["x-key"]) == ("vision", "a=b")


@pytest.mark.django_db
@pytest.mark.parametrize("sent", ["", "rubbish", "00-0-0-01", "00-" + "0" * 32 + "-" + "0" * 16])
def test_a_wrong_parent_is_none(collector: Collector, sent: str) -> None:
    assert Client().get("/api/v1/auth/session/", headers={"traceparent": sent}).status_code == 200
    tracing.end()
    assert collector.named("GET api/v1/auth/session/").parent_span_id == b""


def test_a_task_is_a_span_below_the_request_that_sent_it(collector: Collector) -> None:
    app = Celery("traced", broker="memory://", backend="cache+memory://")

    @app.task(name="traced.fails")
    def fails() -> None:
        raise ValueError("on purpose")

    before_task_publish.connect(tracing.send_along)
    task_prerun.connect(tracing.begin_task)
    task_postrun.connect(tracing.end_task)
    try:
        with start_worker(app, pool="threads", perform_ping_check=False):
            with tracing.span("POST somewhere", "SERVER", PARENT):
                result = fails.apply_async()
            with pytest.raises(ValueError, match="on purpose"):
                result.get(timeout=60)
    finally:
        before_task_publish.disconnect(tracing.send_along)
        task_prerun.disconnect(tracing.begin_task)
        task_postrun.disconnect(tracing.end_task)
    tracing.end()
    request, task = collector.named("POST somewhere"), collector.named("traced.fails")
    assert (task.trace_id.hex(), task.parent_span_id) == (TRACE, request.span_id)
    assert task.status.code == task.status.STATUS_CODE_ERROR


@pytest.mark.django_db
def test_a_run_keeps_its_trace_and_tells_its_phases(
    collector: Collector, django_capture_on_commit_callbacks: Any
) -> None:
    attempt = make_attempt()
    run = attempt.run
    at = now()
    Run.objects.filter(pk=run.pk).update(trace_parent=PARENT, queued_at=at - timedelta(seconds=60))
    run.refresh_from_db()
    attempt.created_at = at - timedelta(seconds=50)
    attempt.started_at = at - timedelta(seconds=40)
    attempt.finalizing_since = at - timedelta(seconds=10)
    attempt.finished_at = at
    attempt.state = states.FAILED
    with django_capture_on_commit_callbacks(execute=True):
        trace_attempt(run, attempt)
    tracing.end()
    whole = collector.named("attempt 1")
    assert whole.trace_id.hex() == TRACE
    assert whole.status.code == whole.status.STATUS_CODE_ERROR
    lasted = {span.name: _seconds(span) for span in collector.spans}
    assert lasted == {
        "attempt 1": 60,
        "waiting": 10,
        "preparing": 10,
        "command": 30,
        "finalizing": 10,
    }
    phases = [span for span in collector.spans if span.name != "attempt 1"]
    assert {span.parent_span_id for span in phases} == {whole.span_id}


def _seconds(span: Span) -> int:
    return round((span.end_time_unix_nano - span.start_time_unix_nano) / 1e9)


def test_without_a_collector_nothing_is_traced(settings: Any) -> None:
    assert settings.OTEL_EXPORTER_OTLP_ENDPOINT == ""
    tracing.begin("test")
    assert not tracing.is_on()
    with tracing.span("x", "SERVER") as under_way:
        assert under_way is None
    headers: dict[str, Any] = {}
    tracing.send_along(headers=headers)
    assert (headers, tracing.current()) == ({}, "")
