"""Reads curves: the points of a run's metrics, no more than a screen can show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db.models import Q

from atom.jobs.metrics.actions import curve_cache
from atom.jobs.metrics.actions.curve_cache import Curve, Window
from atom.jobs.metrics.engines import points as codec
from atom.jobs.metrics.engines.downsampling import downsample
from atom.jobs.metrics.engines.points import CHUNK_POINTS, Points
from atom.jobs.models import MetricChunk, MetricSeries, Run

# Points of one answer's curves that are in memory at once: as stored, tens of megabytes.
HELD_POINTS = 2_500_000


def curves(run: Run, keys: Sequence[str], window: Window) -> list[Curve]:
    """Return the curves of the keys that the run has, in the order asked for.

    User metrics go on over the attempts of a run; system metrics are those of the last one.
    """
    series = series_of(run, keys)
    kept = curve_cache.find(series, window)
    left = {key: some for key, some in series.items() if key not in kept}
    drawn: dict[str, Curve] = {}
    for some_keys in _in_batches(left):
        chunks = _chunks(some_keys, window)
        drawn |= {key: _curve(key, some, chunks, window) for key, some in some_keys.items()}
    curve_cache.keep({key: series[key] for key in drawn}, window, drawn)
    return [kept.get(key) or drawn[key] for key in keys if key in series]


def points_of(run: Run, key: str) -> Points:
    """Return every point of a metric, over all attempts of the run, as they came."""
    series = series_of(run, [key])
    if key not in series:
        return codec.EMPTY
    chunks = _chunks(series, Window())
    found = [chunk for one in series[key] for chunk in chunks.get(one.pk, [])]
    return codec.join(codec.EMPTY, *(codec.decode(bytes(chunk.data)) for chunk in found))


def series_of(run: Run, keys: Sequence[str] | None = None) -> dict[str, list[MetricSeries]]:
    """Return the series by key, one per attempt, in order of the attempts."""
    found = run.series.select_related("attempt").order_by("key", "attempt__number")
    if keys is not None:
        found = found.filter(key__in=keys)
    grouped: dict[str, list[MetricSeries]] = defaultdict(list)
    for one in found:
        grouped[one.key].append(one)
    return {key: some[-1:] if some[0].kind == "system" else some for key, some in grouped.items()}


def _in_batches(
    series: dict[str, list[MetricSeries]],
) -> Iterator[dict[str, list[MetricSeries]]]:
    """Yield curves that are held in memory together: one at least, else so many points."""
    batch: dict[str, list[MetricSeries]] = {}
    points = 0
    for key, some in series.items():
        more = sum(one.n for one in some)
        if batch and points + more > HELD_POINTS:
            yield batch
            batch, points = {}, 0
        batch[key] = some
        points += more
    if batch:
        yield batch


def _chunks(series: dict[str, list[MetricSeries]], window: Window) -> dict[UUID, list[MetricChunk]]:
    wanted = Q(series__in=[one for some in series.values() for one in some])
    if window.from_step is not None:
        wanted &= Q(step_max__gte=window.from_step)
    if window.to_step is not None:
        wanted &= Q(step_min__lte=window.to_step)
    grouped: dict[UUID, list[MetricChunk]] = defaultdict(list)
    for chunk in MetricChunk.objects.filter(wanted).order_by("series", "seq"):
        grouped[chunk.series_id].append(chunk)
    return grouped


def _curve(
    key: str,
    series: list[MetricSeries],
    chunks: dict[UUID, list[MetricChunk]],
    window: Window,
) -> Curve:
    parts, skipped = [codec.EMPTY], 0
    for one in series:
        for chunk in chunks.get(one.pk, []):
            points = codec.decode(bytes(chunk.data))
            # Every chunk but the last is full, so its number gives where its points begin.
            first = skipped + chunk.seq * CHUNK_POINTS
            parts.append(points[slice(max(0, window.since_n - first), None)])
        skipped += one.n
    wanted = _inside(codec.join(*parts), window)
    shown = downsample(wanted, window.points)
    return Curve(key, skipped, shown, len(shown) < len(wanted))


def _inside(points: Points, window: Window) -> Points:
    if window.from_step is not None:
        points = points[points.steps >= window.from_step]
    if window.to_step is not None:
        points = points[points.steps <= window.to_step]
    return points
