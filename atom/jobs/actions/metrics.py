"""Metrics: batches of points become chunks, each batch exactly once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar
from uuid import UUID

from django.db import models, transaction
from django.db.models import F, Value
from django.db.models.expressions import CombinedExpression

from atom.core import live
from atom.core.errors import Invalid
from atom.jobs.engines import points as codec
from atom.jobs.engines.points import CHUNK_POINTS, Points
from atom.jobs.errors import MetricsGap
from atom.jobs.models import Attempt, MetricChunk, MetricSeries, Run

SYSTEM_PREFIX = "system/"
MAX_KEY_LENGTH = 250
MAX_KEYS = 2000

PointRow = tuple[str, int, int, float | None]
Number = TypeVar("Number", int, float)


def ingest(attempt: Attempt, seq: int, rows: Iterable[PointRow]) -> int:
    """Store batch number `seq` of an attempt and return the number of the next one.

    A batch that was stored before is skipped. Raises MetricsGap if one before it is missing.
    """
    batches = _by_key(rows)
    with transaction.atomic():
        # Lock first: a runner that timed out sends the same batch again while we store it.
        locked = Attempt.objects.select_for_update().only("metrics_next_seq").get(pk=attempt.pk)
        if seq < locked.metrics_next_seq:
            return locked.metrics_next_seq
        if seq > locked.metrics_next_seq:
            expected = locked.metrics_next_seq
            raise MetricsGap(f"Batch {expected} comes next, not {seq}.", next_seq=expected)
        series = _store(attempt, batches)
        Attempt.objects.filter(pk=attempt.pk).update(metrics_next_seq=seq + 1)
    _summarise(attempt.run_id, series)
    return seq + 1


def append(attempt: Attempt, rows: Iterable[PointRow]) -> None:
    """Store points that come without the number of a batch, beside those of a runner."""
    batches = _by_key(rows)
    if not batches:
        return
    # What fails here is undone as a whole, whoever began the transaction.
    with transaction.atomic(savepoint=False):
        # Lock first: two programs, or a program and the runner, may extend one series.
        Attempt.objects.select_for_update().only("pk").get(pk=attempt.pk)
        series = _store(attempt, batches)
    _summarise(attempt.run_id, series)


def _store(attempt: Attempt, batches: dict[str, Points]) -> list[MetricSeries]:
    series = _series_of(attempt, list(batches))
    _extend(series, batches)
    return series


def _by_key(rows: Iterable[PointRow]) -> dict[str, Points]:
    grouped: dict[str, list[PointRow]] = defaultdict(list)
    try:
        for row in rows:
            grouped[row[0]].append(row)
        found = {key: codec.points_from(some) for key, some in grouped.items()}
    except (TypeError, ValueError, OverflowError, LookupError) as error:
        raise Invalid(
            errors={"points": [f"Expected [key, step, ts_ms, value]: {error}"]}
        ) from error
    for key in found:
        if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_LENGTH:
            raise Invalid(errors={"points": [f"A key has 1 to {MAX_KEY_LENGTH} characters."]})
    return found


def _series_of(attempt: Attempt, keys: list[str]) -> list[MetricSeries]:
    """Return the series of the keys; those that are new are not in the database yet."""
    found = {one.key: one for one in attempt.series.filter(key__in=keys)}
    missing = [key for key in keys if key not in found]
    if missing and attempt.series.count() + len(missing) > MAX_KEYS:
        raise Invalid(errors={"points": [f"An attempt may have {MAX_KEYS} different metrics."]})
    new = [
        MetricSeries(run_id=attempt.run_id, attempt=attempt, key=key, kind=_kind(key))
        for key in missing
    ]
    return [*found.values(), *new]


def _kind(key: str) -> str:
    return "system" if key.startswith(SYSTEM_PREFIX) else "user"


def _extend(series: list[MetricSeries], batches: dict[str, Points]) -> None:
    tails = {
        chunk.series_id: chunk
        for chunk in MetricChunk.objects.filter(series__in=series, n__lt=CHUNK_POINTS)
    }
    chunks: list[MetricChunk] = []
    for one in series:
        new, tail = batches[one.key], tails.get(one.pk)
        # Every chunk before the last one is full, so the count gives the number of the tail.
        seq = one.n // CHUNK_POINTS
        whole = codec.join(codec.decode(bytes(tail.data)), new) if tail else new
        chunks += [_chunk(one, seq + place, part) for place, part in enumerate(codec.split(whole))]
        _count(one, new)
    # Upserts: many times faster than an UPDATE with a CASE for each field of each row.
    MetricSeries.objects.bulk_create(
        series,
        update_conflicts=True,
        unique_fields=["attempt", "key"],
        update_fields=_SERIES_FIELDS,
    )
    MetricChunk.objects.bulk_create(
        chunks, update_conflicts=True, unique_fields=["series", "seq"], update_fields=_CHUNK_FIELDS
    )


_CHUNK_FIELDS = ["n", "step_min", "step_max", "vmin", "vmax", "data"]
_SERIES_FIELDS = [
    "n", "step_min", "step_max", "vmin", "vmax", "last", "last_step", "last_ts_ms", "updated_at",
]  # fmt: skip


def _chunk(series: MetricSeries, seq: int, points: Points) -> MetricChunk:
    vmin, vmax = points.value_range()
    return MetricChunk(
        series=series,
        seq=seq,
        n=len(points),
        step_min=int(points.steps.min()),
        step_max=int(points.steps.max()),
        vmin=vmin,
        vmax=vmax,
        data=codec.encode(points),
    )


def _count(series: MetricSeries, new: Points) -> None:
    vmin, vmax = new.value_range()
    series.n += len(new)
    series.step_min = _least(series.step_min, int(new.steps.min()))
    series.step_max = _most(series.step_max, int(new.steps.max()))
    series.vmin, series.vmax = _least(series.vmin, vmin), _most(series.vmax, vmax)
    at = new.latest()
    latest = int(new.steps[at]), int(new.ts_ms[at])
    if series.last_step is None or latest >= (series.last_step, series.last_ts_ms or 0):
        series.last = float(new.values[at])
        series.last_step, series.last_ts_ms = latest


def _least(one: Number | None, other: Number | None) -> Number | None:
    return min((value for value in (one, other) if value is not None), default=None)


def _most(one: Number | None, other: Number | None) -> Number | None:
    return max((value for value in (one, other) if value is not None), default=None)


def _summarise(run_id: UUID, series: list[MetricSeries]) -> None:
    """Copy the last values to the run, for lists, and tell the pages how long the curves are."""
    last = {one.key: one.last for one in series if one.kind == "user" and one.last is not None}
    finite = {key: value for key, value in last.items() if math.isfinite(value)}
    if finite:
        # In the database: a runner and a program may report at once.
        added = Value(finite, models.JSONField())
        merged = CombinedExpression(F("metrics_summary"), "||", added)
        Run.objects.filter(pk=run_id).update(metrics_summary=merged)
    live.publish(f"run.{run_id}", {"type": "metrics", "keys": {one.key: one.n for one in series}})
