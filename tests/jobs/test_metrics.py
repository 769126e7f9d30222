"""Metrics: each batch once, chunks of 4,096 points, curves that fit a screen."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.core.errors import Invalid
from atom.jobs.actions import metrics
from atom.jobs.errors import MetricsGap
from atom.jobs.models import Attempt, MetricChunk
from tests.factories.accounts import make_member
from tests.factories.jobs import make_attempt, runner_headers

pytestmark = pytest.mark.django_db


def rows(key: str, start: int, count: int) -> list[metrics.PointRow]:
    return [(key, step, 1000 + step, step / 2) for step in range(start, start + count)]


def read(attempt: Attempt, **params: Any) -> Any:
    api = APIClient()
    api.force_authenticate(make_member(attempt.run.project))
    answer = api.get(f"/api/v1/runs/{attempt.run_id}/metrics/series/", params)
    assert answer.status_code == 200, answer.json()
    return answer.json()["series"]


def test_points_fill_chunks_of_4096() -> None:
    attempt, start = make_attempt(), 0
    for seq, count in enumerate([10, 5000, 4000, 1]):
        assert metrics.ingest(attempt, seq, rows("loss", start, count)) == seq + 1
        start += count
    chunks = list(MetricChunk.objects.order_by("seq"))
    assert [chunk.n for chunk in chunks] == [4096, 4096, 819]
    assert [(c.step_min, c.step_max) for c in chunks] == [(0, 4095), (4096, 8191), (8192, 9010)]
    series = attempt.series.get()
    assert (series.n, series.last, series.vmin, series.vmax) == (9011, 4505.0, 0.0, 4505.0)
    (curve,) = read(attempt, key="loss", points=4000, from_step=4000, to_step=4200)
    assert curve["steps"] == list(range(4000, 4201))
    assert curve["values"][0] == 2000.0


def test_a_batch_that_comes_again_counts_once_and_a_gap_is_refused() -> None:
    attempt = make_attempt()
    assert metrics.ingest(attempt, 0, rows("loss", 0, 5)) == 1
    assert metrics.ingest(attempt, 0, rows("loss", 0, 5)) == 1
    with pytest.raises(MetricsGap) as refused:
        metrics.ingest(attempt, 2, rows("loss", 5, 5))
    assert refused.value.extra == {"next_seq": 1}
    assert attempt.series.get().n == 5


def test_curves_are_downsampled_on_the_server() -> None:
    attempt = make_attempt()
    metrics.ingest(attempt, 0, rows("loss", 0, 20_000))
    (curve,) = read(attempt, key="loss", points=500)
    assert curve["downsampled"]
    assert curve["n"] == 20_000
    assert len(curve["steps"]) <= 500
    assert (curve["steps"][0], curve["steps"][-1]) == (0, 19_999)


def test_only_new_points_are_read_again() -> None:
    attempt = make_attempt()
    metrics.ingest(attempt, 0, rows("loss", 0, 5000))
    (curve,) = read(attempt, key="loss", since_n=4990, points=4000)
    assert curve["steps"] == list(range(4990, 5000))


def test_values_that_json_cannot_hold() -> None:
    attempt = make_attempt()
    body = json.dumps(
        {
            "seq": 0,
            "points": [["loss", 0, 1, 1.0], ["loss", 1, 2, "NaN"], ["loss", 2, 3, "Infinity"]],
        }
    )
    answer = APIClient().post(
        "/api/v1/runner/metrics/",
        body,
        content_type="application/json",
        headers=runner_headers(attempt),
    )
    assert answer.json() == {"next_seq": 1}
    (curve,) = read(attempt, key="loss")
    assert curve["values"] == [1.0, None, None]
    series = attempt.series.get()
    assert series.last is not None
    assert math.isinf(series.last)
    attempt.run.refresh_from_db()
    assert attempt.run.metrics_summary == {}


def test_system_metrics_are_kept_apart() -> None:
    attempt = make_attempt()
    metrics.ingest(attempt, 0, [("loss", 1, 1, 0.5), ("system/cpu_percent", 1, 1, 99.0)])
    api = APIClient()
    api.force_authenticate(make_member(attempt.run.project))
    found = api.get(f"/api/v1/runs/{attempt.run_id}/metrics/").json()
    assert {one["key"]: one["kind"] for one in found} == {
        "loss": "user",
        "system/cpu_percent": "system",
    }
    attempt.run.refresh_from_db()
    assert attempt.run.metrics_summary == {"loss": 0.5}


def test_a_resumed_run_has_one_curve() -> None:
    first = make_attempt()
    metrics.ingest(first, 0, rows("loss", 0, 10))
    second = make_attempt(first.run)
    metrics.ingest(second, 0, [("loss", step, 5000, -1.0) for step in range(5, 15)])
    (curve,) = read(second, key="loss")
    assert curve["steps"] == list(range(15))
    assert curve["values"][4:7] == [2.0, -1.0, -1.0]


@pytest.mark.parametrize(
    "points",
    [
        [["loss", 0, 1]],
        [["loss", 0, 1, 2.0, 3.0]],
        [["loss", "x", 1, 2.0]],
        [["loss", None, 1, 2.0]],
        [["loss", 0, 1, [2.0, 3.0]]],
        [["", 0, 1, 2.0]],
        [[3, 0, 1, 2.0]],
        [[["loss"], 0, 1, 2.0]],
        [[]],
        [7],
    ],
)
def test_points_of_another_shape_are_refused(points: Any) -> None:
    with pytest.raises(Invalid):
        metrics.ingest(make_attempt(), 0, points)
