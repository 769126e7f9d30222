"""Traces of the gateway: a span per request of people and programs, without its address."""

from __future__ import annotations

import httpx
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from atom.core import tracing
from atom.gateway.__main__ import ByPort
from tests.core.test_tracing import PARENT, TRACE, Collector, collector
from tests.datasets.pushing import png
from tests.gateway.test_media import link, stored

__all__ = ["collector"]
S3_PORT = 8002


async def _ask(method: str, path: str, port: int = 8001) -> httpx.Response:
    transport = httpx.ASGITransport(app=ByPort(S3_PORT), raise_app_exceptions=False)  # type: ignore[arg-type]
    base = f"http://gateway:{port}"
    async with httpx.AsyncClient(transport=transport, base_url=base) as client:
        return await client.request(method, path, headers={"traceparent": PARENT})


def _attributes(span: Span) -> dict[str, int]:
    return {one.key: one.value.int_value for one in span.attributes}


async def test_a_file_is_a_span_below_the_one_of_its_caller(collector: Collector) -> None:
    data = png(1)
    address = link(stored({"a/one.png": data}))
    assert (await _ask("GET", address)).content == data
    tracing.end()
    span = collector.named("GET media")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, "b7ad6b7169203331")
    assert span.kind == Span.SPAN_KIND_SERVER
    said = _attributes(span)
    assert said["http.response.status_code"] == 200
    assert said["http.response.body.size"] == len(data)
    # Whoever reads a trace must not be able to open the file.
    assert not any(part in str(span) for part in address.split("/")[2:])


@pytest.mark.django_db
async def test_a_request_of_an_s3_tool_is_a_span(collector: Collector) -> None:
    answer = await _ask("GET", "/secret-bucket/key", S3_PORT)
    assert answer.status_code == 403
    tracing.end()
    span = collector.named("GET s3")
    assert span.trace_id.hex() == TRACE
    assert _attributes(span)["http.response.status_code"] == 403
    assert "secret-bucket" not in str(span)


async def test_what_fails_here_is_an_error_in_its_trace(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = link(stored({"a.png": png(1)}))
    monkeypatch.setattr("atom.gateway.asgi.open_link", None)
    assert (await _ask("GET", address)).status_code == 500
    tracing.end()
    span = collector.named("GET media")
    assert span.status.code == span.status.STATUS_CODE_ERROR


async def test_probes_and_scrapes_are_no_spans(collector: Collector) -> None:
    assert (await _ask("GET", "/healthz")).status_code == 200
    await _ask("GET", "/metrics")
    tracing.end()
    assert collector.spans == []
