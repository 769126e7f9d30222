"""Prometheus metrics of this process, and their rendering.

Counters of requests and sockets are those of one process, the gateway, or of all web processes
(`atom.web.shared_counters`). Shared state is not counted here but read at each scrape
(`atom.core.health_checks`, `atom.core.task_counts`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from hmac import compare_digest
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, Counter, Histogram, generate_latest
from prometheus_client import Gauge as ProcessGauge
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import REGISTRY, Collector, CollectorRegistry

from atom.core.health_checks import Gauge

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
# There are hundreds of routes, so few boundaries: fast, good for a page, slow, stuck.
_SECONDS: Final = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_UNKNOWN: Final = "unknown"

REQUESTS: Final = Histogram(
    "atom_http_request_seconds",
    "Requests that Django answered, by route; addresses that lead nowhere are `unknown`.",
    ["method", "route", "status"],
    buckets=_SECONDS,
)
# The sum over all web processes.
UNDER_WAY: Final = ProcessGauge(
    "atom_http_requests_under_way", "Requests being answered now.", multiprocess_mode="livesum"
)
SOCKETS: Final = ProcessGauge(
    "atom_websockets_open", "Open WebSockets.", ["kind"], multiprocess_mode="livesum"
)
MEDIA: Final = Histogram(
    "atom_gateway_request_seconds",
    "Answers of the gateway, until the last byte: media, thumbnails, S3.",
    ["kind", "status"],
    buckets=_SECONDS,
)
MEDIA_BYTES: Final = Counter(
    "atom_gateway_sent_bytes", "Bytes of bodies that the gateway sent.", ["kind"]
)


class MeasureRequests:
    """Counts and times each request under the route that answered it, never under its address."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer; an exception has become an answer further in."""
        started = time.perf_counter()
        with UNDER_WAY.track_inprogress():
            response = self._get_response(request)
        match = request.resolver_match
        route = match.route if match else _UNKNOWN
        labels = (_method(request), route, f"{response.status_code // 100}xx")
        REQUESTS.labels(*labels).observe(time.perf_counter() - started)
        return response


def _method(request: HttpRequest) -> str:
    """Return the method; unknown methods share one value, so that the label stays bounded."""
    known = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
    return request.method if request.method in known else _UNKNOWN


def may_scrape(authorization: str) -> bool:
    """Return whether `Authorization` carries ATOM_METRICS_TOKEN; False if that is not set."""
    wanted = settings.ATOM_METRICS_TOKEN
    given = authorization.removeprefix("Bearer ").strip()
    return bool(wanted) and compare_digest(given.encode(), wanted.encode())


def render(gauges: Iterable[Gauge] = (), more: Iterable[Metric] = ()) -> bytes:
    """Return what was counted, and what is given, as Prometheus' text format."""
    shared = CollectorRegistry(auto_describe=False)
    shared.register(_Collected([*_families(gauges), *more]))
    return generate_latest(_counted()) + generate_latest(shared)


def _counted() -> CollectorRegistry:
    """Return the counters of this process, or of all with which it shares them."""
    # The name is that of prometheus_client, which has read it too.
    if not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        return REGISTRY
    registry = CollectorRegistry(auto_describe=False)
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def _families(gauges: Iterable[Gauge]) -> Iterable[Metric]:
    """Return one family per name, in the order in which the names come."""
    families: dict[str, GaugeMetricFamily] = {}
    for gauge in gauges:
        family = families.get(gauge.name)
        if family is None:
            family = GaugeMetricFamily(gauge.name, gauge.help, labels=list(gauge.labels))
            families[gauge.name] = family
        family.add_metric(list(gauge.labels.values()), gauge.value)
    return families.values()


class _Collected(Collector):
    """A collector of what is known already."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """Return the families."""
        return self._families
