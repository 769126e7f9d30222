"""Metrics: each batch once, chunks of 4,096 points, curves that fit a screen."""

from __future__ import annotations

import json
import math
from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from atom.core.errors import Invalid
from atom.jobs.errors import MetricsGap
from atom.jobs.metrics.actions import metrics, series
from atom.jobs.metrics.actions.curve_cache import KEPT_FROM_POINTS, Window
from atom.jobs.models import Attempt, MetricChunk, Run
from atom_sdk.client.metric_floats import run_with_floats
from tests.factories.accounts import make_member
from tests.factories.jobs import make_attempt, make_run, runner_headers

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
        assert metrics.ingest(attempt, seq, rows("loss", start, count)).next_seq == seq + 1
        start += count
    chunks = list(MetricChunk.objects.order_by("seq"))
    assert [chunk.n for chunk in chunks] == [4096, 4096, 819]
    assert [(c.step_min, c.step_max) for c in chunks] == [(0, 4095), (4096, 8191), (8192, 9010)]
    found = attempt.series.get()
    assert (found.n, found.last, found.vmin, found.vmax) == (9011, 4505.0, 0.0, 4505.0)
    (curve,) = read(attempt, key="loss", points=4000, from_step=4000, to_step=4200)
    assert curve["steps"] == list(range(4000, 4201))
    assert curve["values"][0] == 2000.0


def test_a_batch_that_comes_again_counts_once_and_a_gap_is_refused() -> None:
    attempt = make_attempt()
    assert metrics.ingest(attempt, 0, rows("loss", 0, 5)).next_seq == 1
    assert metrics.ingest(attempt, 0, rows("loss", 0, 5)).next_seq == 1
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
    assert answer.json() == {"next_seq": 1, "refused": 0, "said": ""}
    (curve,) = read(attempt, key="loss")
    assert curve["values"] == [1.0, "NaN", "Infinity"]
    found = attempt.series.get()
    assert found.last is not None
    assert math.isinf(found.last)
    attempt.run.refresh_from_db()
    assert attempt.run.metrics_summary == {"loss": "Infinity"}


def test_a_curve_that_diverges_says_so_in_lists_until_it_recovers() -> None:
    attempt = make_attempt()
    metrics.ingest(attempt, 0, [("loss", 0, 1, 0.5), ("acc", 0, 1, 0.9)])
    metrics.ingest(attempt, 1, [("loss", 1, 2, float("nan"))])
    attempt.run.refresh_from_db()
    assert attempt.run.metrics_summary == {"acc": 0.9, "loss": "NaN"}
    metrics.ingest(attempt, 2, [("loss", 2, 3, 0.25)])
    attempt.run.refresh_from_db()
    assert attempt.run.metrics_summary == {"acc": 0.9, "loss": 0.25}


@pytest.mark.parametrize(
    ("last", "word"),
    [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")],
    ids=["nan", "inf", "-inf"],
)
def test_values_that_are_no_numbers_of_json_are_told_apart_everywhere(
    last: float, word: str
) -> None:
    attempt = make_attempt()
    run, project = attempt.run, attempt.run.project
    metrics.ingest(attempt, 0, [("loss", 0, 1, 0.5), ("loss", 1, 2, last)])
    other = make_attempt(make_run(project))
    metrics.ingest(other, 0, [("loss", 0, 1, 0.25)])
    api = APIClient()
    api.force_authenticate(make_member(project))

    def ask(path: str, **params: Any) -> Any:
        answer = api.get(f"/api/v1/{path}", params)
        assert answer.status_code == 200, answer.content
        # As a strict reader of JSON would.
        return json.loads(answer.content, parse_constant=pytest.fail)

    (curve,) = ask(f"runs/{run.pk}/metrics/series/", key="loss")["series"]
    assert curve["values"] == [0.5, word]
    (metric,) = ask(f"runs/{run.pk}/metrics/")
    assert (metric["last"], metric["vmin"], metric["vmax"]) == (word, 0.5, 0.5)
    assert ask(f"runs/{run.pk}/")["metrics_summary"] == {"loss": word}
    listed = ask(f"projects/{project.slug}/runs/", column="metric.loss", sort="number")
    assert listed["results"][0]["values"] == {"metric.loss": word}
    compared = ask(f"projects/{project.slug}/runs/compare/", runs=f"{run.pk},{other.run_id}")
    assert compared["runs"][0]["metrics"][0]["last"] == word
    assert compared["metrics"][0]["best"] == [str(other.run_id)]
    key = {"runs": f"{run.pk},{other.run_id}", "key": "loss"}
    drawn = ask(f"projects/{project.slug}/runs/compare/series/", **key)
    assert drawn["series"][0]["values"] == [0.5, word]
    assert run_with_floats({"metrics_summary": {"loss": word}})["metrics_summary"][
        "loss"
    ] == pytest.approx(last, nan_ok=True)


def test_an_upgrade_fills_in_diverged_metrics_of_earlier_runs() -> None:
    attempt = make_attempt()
    metrics.ingest(
        attempt, 0, [("loss", 0, 1, math.nan), ("acc", 0, 1, 0.5), ("up", 0, 1, math.inf)]
    )
    Run.objects.filter(pk=attempt.run_id).update(metrics_summary={"acc": 0.5})
    migration = import_module("atom.jobs.migrations.0019_values_of_diverged_metrics")
    with connection.cursor() as cursor:
        for statement, summary in (
            (migration._FILL, {"acc": 0.5, "loss": "NaN", "up": "Infinity"}),
            (migration._EMPTY, {"acc": 0.5}),
        ):
            cursor.execute(statement)
            attempt.run.refresh_from_db()
            assert attempt.run.metrics_summary == summary


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
        [["lo\0ss", 0, 1, 2.0]],
        [["\ud800", 0, 1, 2.0]],
    ],
)
def test_points_of_another_shape_are_refused(points: Any) -> None:
    with pytest.raises(Invalid):
        metrics.ingest(make_attempt(), 0, points)


def test_a_bad_point_costs_no_other_of_its_batch() -> None:
    attempt = make_attempt()
    bad: list[Any] = [["x" * 251, 0, 1, 1.0], ["loss", 2**70, 1, 1.0], ["acc", 0, 1, "high"]]
    done = metrics.ingest(attempt, 0, [*rows("loss", 0, 5), *bad, ("acc", 1, 1, 0.5)])
    assert (done.next_seq, done.refused) == (1, 3)
    assert done.first_reason
    assert len(series.points_of(attempt.run, "loss")) == 5
    assert len(series.points_of(attempt.run, "acc")) == 1


def post_rows(attempt: Attempt, seq: int, body: Any) -> Any:
    return APIClient().post(
        "/api/v1/runner/metrics/",
        json.dumps({"seq": seq, "rows": body}),
        content_type="application/json",
        headers=runner_headers(attempt),
    )


def row(step: Any, **values: Any) -> dict[str, Any]:
    return {"step": step, "ts_ms": 1000, "values": values}


def test_rows_with_other_keys_each_keep_the_order_of_a_curve() -> None:
    attempt = make_attempt()
    body = [row(3, loss=1), row(2, acc="NaN", loss=2.5), row(1, loss=None), row(0), row(0, acc=4)]
    assert post_rows(attempt, 0, body).json() == {"next_seq": 1, "refused": 0, "said": ""}
    loss, acc = series.points_of(attempt.run, "loss"), series.points_of(attempt.run, "acc")
    assert (loss.steps.tolist(), loss.ts_ms.tolist()) == ([3, 2, 1], [1000] * 3)
    assert loss.values[:2].tolist() == [1.0, 2.5]
    assert math.isnan(loss.values[2])
    assert acc.steps.tolist() == [2, 0]
    assert math.isnan(acc.values[0])
    assert acc.values[1] == 4.0
    attempt.run.refresh_from_db()
    assert attempt.run.metrics_summary == {"acc": "NaN", "loss": 1.0}


@pytest.mark.parametrize(
    "bad",
    [
        7,
        None,
        [],
        "text",
        {"step": 1, "ts_ms": 1},
        {"step": 1, "ts_ms": 1, "values": ["loss"]},
        {"step": 1, "ts_ms": 1, "values": "loss"},
        row("x", loss=1),
        row(2**70, loss=1),
        row([1], loss=1),
        row(None, loss=1),
        row(1, loss=[1.0]),
        row(1, loss="high"),
        row(1, loss=10**400),
        row(1, **{"x" * 251: 1}),
        row(1, **{"": 1}),
        row(1, **{"lo\0ss": 1}),
        row(1, **{"\ud800": 1}),
    ],
)
def test_a_bad_row_costs_no_other_of_its_batch(bad: Any) -> None:
    attempt = make_attempt()
    answer = post_rows(attempt, 0, [row(0, loss=1.0), bad, row(1, loss=2.0, acc=3.0)]).json()
    assert (answer["next_seq"], answer["refused"]) == (1, 1)
    assert answer["said"]
    assert series.points_of(attempt.run, "loss").values.tolist() == [1.0, 2.0]
    assert series.points_of(attempt.run, "acc").values.tolist() == [3.0]
    assert post_rows(attempt, 1, [bad]).status_code == 400


def test_rows_that_come_again_count_once_and_a_gap_is_refused() -> None:
    attempt = make_attempt()
    assert post_rows(attempt, 0, [row(0, loss=1.0)]).json()["next_seq"] == 1
    assert post_rows(attempt, 0, [row(0, loss=1.0)]).json()["next_seq"] == 1
    gap = post_rows(attempt, 2, [row(1, loss=1.0)])
    assert (gap.status_code, gap.json()["next_seq"]) == (409, 1)
    assert len(series.points_of(attempt.run, "loss")) == 1


@pytest.mark.parametrize("body", [None, {}, "rows", 7])
def test_rows_that_are_no_list_are_refused(body: Any) -> None:
    assert post_rows(make_attempt(), 0, body).status_code == 400


def test_metrics_beyond_the_limit_cost_those_that_are_there_nothing() -> None:
    attempt = make_attempt()
    many = [(f"layer/{n}", 0, 1, 1.0) for n in range(metrics.MAX_KEYS - 1)]
    assert metrics.ingest(attempt, 0, [("loss", 0, 1, 1.0), *many]).refused == 0
    done = metrics.ingest(attempt, 1, [("loss", 1, 2, 0.5), ("one/more", 0, 1, 1.0)])
    assert (done.next_seq, done.refused) == (2, 1)
    assert done.first_reason == "An attempt may have 2000 different metrics."
    assert len(series.points_of(attempt.run, "loss")) == 2
    assert attempt.series.count() == metrics.MAX_KEYS


def test_small_batches_are_put_behind_each_other_and_merged(
    django_assert_max_num_queries: Any,
) -> None:
    attempt = make_attempt()
    expected: list[metrics.PointRow] = []
    for seq, count in enumerate([1, 300, 7, 203, 1, 2, 3600, 5]):
        part = rows("loss", len(expected), count)
        metrics.ingest(attempt, seq, [*part, ("rare", seq, seq, float("nan"))])
        expected += part
    chunks = list(MetricChunk.objects.filter(series__key="loss").order_by("seq"))
    assert [(one.n, one.step_min, one.step_max, one.vmax) for one in chunks] == [
        (4096, 0, 4095, 2047.5),
        (23, 4096, 4118, 2059.0),
    ]
    found = series.points_of(attempt.run, "loss")
    assert found.steps.tolist() == [step for _, step, _, _ in expected]
    assert found.ts_ms.tolist() == [ts_ms for _, _, ts_ms, _ in expected]
    assert found.values.tolist() == [value for *_, value in expected]
    rare = MetricChunk.objects.get(series__key="rare")
    assert (rare.n, rare.step_min, rare.step_max, rare.vmin) == (8, 0, 7, None)
    with django_assert_max_num_queries(12):
        metrics.ingest(attempt, 8, [(f"many/{n}", 1, 1, 1.0) for n in range(100)])


def test_a_long_curve_is_answered_from_what_was_answered_before() -> None:
    attempt = make_attempt()
    metrics.ingest(attempt, 0, rows("loss", 0, KEPT_FROM_POINTS))
    first = read(attempt, key="loss", points=100)
    with CaptureQueriesContext(connection) as queries:
        assert read(attempt, key="loss", points=100) == first
    assert not any("jobs_metricchunk" in query["sql"] for query in queries)
    metrics.ingest(attempt, 1, rows("loss", KEPT_FROM_POINTS, 1))
    (longer,) = read(attempt, key="loss", points=100)
    assert longer["steps"][-1] == KEPT_FROM_POINTS


def test_long_curves_are_read_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    attempt = make_attempt()
    keys = ["a", "b", "c", "d"]
    metrics.ingest(attempt, 0, [row for key in keys for row in rows(key, 0, 10)])
    whole = series.curves(attempt.run, keys, Window())
    monkeypatch.setattr(series, "HELD_POINTS", 25)
    with django_assert_num_queries(3):
        in_pieces = series.curves(attempt.run, keys, Window())
    assert [curve.key for curve in in_pieces] == keys
    assert [curve.points.values.tolist() for curve in in_pieces] == [
        curve.points.values.tolist() for curve in whole
    ]
