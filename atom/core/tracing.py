"""OpenTelemetry traces: from a request over its tasks to the run that it started.

Off unless OTEL_EXPORTER_OTLP_ENDPOINT names a collector; nothing of OpenTelemetry is loaded then.
Context crosses processes as a W3C `traceparent`: in a request's header, in a task's message, in a
run's row, and from there in the variable TRACEPARENT of its command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, SpanKind, Tracer

PARENT: Final = "traceparent"
PARENT_CHARACTERS: Final = 55
_NAME: Final = "atom"
_SERVER_ERROR: Final = 500
_SPAN: Final = "atom_span"

# The tracer of this process, if it traces.
_providers: list[TracerProvider] = []


def is_on() -> bool:
    """Return whether this process traces."""
    return bool(_providers)


def begin(service: str, exporter: SpanExporter | None = None) -> None:
    """Trace from now on as `service`, if a collector is named or an exporter is given.

    To be called in the process that traces, after it forked: what sends spans is a thread.
    """
    if exporter is None and not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        return
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(settings.OTEL_TRACES_SAMPLER_ARG)),
        resource=Resource.create({"service.name": f"{_NAME}-{service}"}),
    )
    provider.add_span_processor(BatchSpanProcessor(exporter or _exporter()))
    _providers[:] = [provider]


def end() -> None:
    """Send what is left, and trace no more."""
    while _providers:
        _providers.pop().shutdown()
    _tracer.cache_clear()


def _exporter() -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    address = settings.OTEL_EXPORTER_OTLP_ENDPOINT.rstrip("/")
    pairs = (one.split("=", 1) for one in settings.OTEL_EXPORTER_OTLP_HEADERS.split(",") if one)
    headers = {name.strip(): value.strip() for name, value in pairs}
    return OTLPSpanExporter(endpoint=f"{address}/v1/traces", headers=headers)


@lru_cache(maxsize=1)
def _tracer() -> Tracer:
    return _providers[0].get_tracer(_NAME)


@contextmanager
def span(
    name: str, kind: str, parent: str = "", attributes: Mapping[str, Any] | None = None
) -> Iterator[Span | None]:
    """Make what happens inside a span below `parent`, or below the one that is under way.

    `kind` is a name of OpenTelemetry's SpanKind. Yields None while nothing is traced.
    """
    if not is_on():
        yield None
        return
    with _tracer().start_as_current_span(
        name, context=_context(parent), kind=_kind(kind), attributes=dict(attributes or {})
    ) as under_way:
        yield under_way


def past_span(
    name: str,
    parent: str,
    times: tuple[datetime, datetime],
    attributes: Mapping[str, Any] | None = None,
    *,
    is_error: bool = False,
) -> str:
    """Record a finished span; return its `traceparent`, "" while nothing is traced."""
    if not is_on():
        return ""
    from opentelemetry.trace import set_span_in_context
    from opentelemetry.trace.status import Status, StatusCode

    begun, ended = (int(at.timestamp() * 1e9) for at in times)
    past = _tracer().start_span(
        name, context=_context(parent), attributes=dict(attributes or {}), start_time=begun
    )
    if is_error:
        past.set_status(Status(StatusCode.ERROR))
    past.end(end_time=max(begun, ended))
    return _written(set_span_in_context(past))


def current() -> str:
    """Return the `traceparent` of the span under way, or "" if there is none."""
    if not is_on():
        return ""
    from opentelemetry.context import get_current

    return _written(get_current())


def _written(context: Context) -> str:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier, context)
    return carrier.get(PARENT, "")


def _context(parent: str) -> Context | None:
    """Return the context that a `traceparent` means; a wrong one is none."""
    if not parent:
        return None
    from opentelemetry.context import get_current
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract({PARENT: parent}, get_current())


def _kind(name: str) -> SpanKind:
    from opentelemetry.trace import SpanKind

    return SpanKind[name]


# --- requests -----------------------------------------------------------------------------------


class TraceRequests:
    """Makes each request a span, below the one that its header `traceparent` names."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
            raise MiddlewareNotUsed
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer; the span gets the route afterwards, and never the address."""
        method = request.method or ""
        parent = request.headers.get(PARENT, "")
        with span(method, "SERVER", parent, {"http.request.method": method}) as under_way:
            response = self._get_response(request)
            if under_way is not None:
                _describe(under_way, request, response)
        return response


def _describe(under_way: Span, request: HttpRequest, response: HttpResponse) -> None:
    if match := request.resolver_match:
        under_way.update_name(f"{request.method} {match.route}")
        under_way.set_attribute("http.route", match.route)
    describe_answer(under_way, response.status_code)


def describe_answer(under_way: Span, status: int) -> None:
    """Write into a request's span how it was answered."""
    from opentelemetry.trace.status import Status, StatusCode

    under_way.set_attribute("http.response.status_code", status)
    if status >= _SERVER_ERROR:
        under_way.set_status(Status(StatusCode.ERROR))


# --- tasks --------------------------------------------------------------------------------------


def send_along(headers: dict[str, Any] | None = None, **_: Any) -> None:
    """Put the span under way into a message: receiver of Celery's `before_task_publish`."""
    if headers is not None and (parent := current()):
        headers[PARENT] = parent


def begin_task(task: Any = None, task_id: str = "", **_: Any) -> None:
    """Begin a task's span: receiver of `task_prerun`.

    Tasks of beat have no parent and get no span: each would be a trace of its own.
    """
    parent = getattr(task.request, PARENT, None)
    if not is_on() or not parent:
        return
    under_way = span(task.name, "CONSUMER", parent, {"messaging.message.id": task_id})
    under_way.__enter__()
    setattr(task.request, _SPAN, under_way)


def end_task(task: Any = None, state: str | None = None, **_: Any) -> None:
    """End it: receiver of `task_postrun`."""
    under_way = getattr(task.request, _SPAN, None)
    if under_way is None:
        return
    if state == "FAILURE":
        from opentelemetry.trace import get_current_span
        from opentelemetry.trace.status import Status, StatusCode

        get_current_span().set_status(Status(StatusCode.ERROR))
    under_way.__exit__(None, None, None)
