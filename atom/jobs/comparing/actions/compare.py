"""Reads several runs beside each other, in the same number of queries for 2 and for 50."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from django.db.models import Q

from atom.accounts.models import Project
from atom.core.errors import NotFound
from atom.jobs.errors import InvalidComparison
from atom.jobs.metrics.actions.curve_cache import Window
from atom.jobs.metrics.engines import points as codec
from atom.jobs.metrics.engines.downsampling import downsample
from atom.jobs.metrics.engines.points import Points
from atom.jobs.models import MetricChunk, MetricSeries, Run, RunQuerySet
from atom_sdk.sentences import Sentence

MIN_RUNS, MAX_RUNS = 2, 50
# At most this many points are decoded for one answer, all runs together: half a second.
DECODED_POINTS = 2_500_000
# At most SENT_POINTS are sent; a single curve always gets SHAPE_POINTS, enough for its shape.
SENT_POINTS, SHAPE_POINTS = 25_000, 200
_MAX_NUMBER = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric of a run over all its attempts; `min` and `max` are None without finite values."""

    n: int
    last: float | None
    last_step: int | None
    min: float | None
    max: float | None


@dataclass(frozen=True, slots=True)
class RunCurve:
    """A metric of one of the runs. `coarse` if it is drawn from the ranges of its chunks."""

    run: Run
    n: int
    points: Points
    downsampled: bool
    coarse: bool


@dataclass(slots=True)
class _SeriesOfRun:
    n: int = 0
    series: list[UUID] = field(default_factory=list)


def chosen(project: Project, names: Sequence[str]) -> RunQuerySet:
    """Return the runs that are called by number or id. Raises InvalidComparison."""
    wanted = list(dict.fromkeys(names))
    if not MIN_RUNS <= len(wanted) <= MAX_RUNS:
        said = Sentence(
            "jobs.compared_runs_count",
            "Name {min} to {max} different runs; these are {count}.",
            min=MIN_RUNS,
            max=MAX_RUNS,
            count=len(wanted),
        )
        raise InvalidComparison(errors={"runs": [said]})
    numbers, ids, wrong = [], [], []
    for name in wanted:
        if name.isascii() and name.isdecimal() and len(name) < 11 and int(name) <= _MAX_NUMBER:
            numbers.append(int(name))
        elif (run_id := _id_of(name)) is not None:
            ids.append(run_id)
        else:
            wrong.append(name[:60])
    if wrong:
        said = Sentence(
            "jobs.compared_runs_invalid",
            "{names}: give the numbers or ids of runs.",
            names=", ".join(map(repr, wrong)),
        )
        raise InvalidComparison(errors={"runs": [said]})
    return Run.objects.filter(Q(number__in=numbers) | Q(pk__in=ids), project=project)


def in_order(found: Iterable[Run], names: Sequence[str]) -> list[Run]:
    """Return the runs as they were asked for. Raises NotFound, naming those that are missing."""
    runs = list(found)
    known = {str(run.number): run for run in runs} | {str(run.pk): run for run in runs}
    keys = [str(int(name)) if name.isdecimal() else str(UUID(name)) for name in names]
    if missing := [key for key in keys if key not in known]:
        raise NotFound(
            Sentence("jobs.run_unknown", "The project has no run {run}.", run=", ".join(missing))
        )
    asked = list({known[key].pk: known[key] for key in keys}.values())
    if len(asked) < MIN_RUNS:
        raise InvalidComparison(
            errors={
                "runs": [Sentence("jobs.same_run_twice", "These are one run, called in two ways.")]
            }
        )
    return asked


def _id_of(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None


def measured(runs: Sequence[Run]) -> dict[UUID, dict[str, Measured]]:
    """Return the user metrics of each run by key, in one query."""
    found: dict[UUID, dict[str, Measured]] = {run.pk: {} for run in runs}
    rows = MetricSeries.objects.filter(run__in=runs, kind="user").order_by("key", "attempt__number")
    for one in rows.only("run_id", "key", "n", "last", "last_step", "vmin", "vmax"):
        before = found[one.run_id].get(one.key)
        lows = [before.min if before else None, one.vmin]
        highs = [before.max if before else None, one.vmax]
        found[one.run_id][one.key] = Measured(
            n=one.n + (before.n if before else 0),
            last=one.last,
            last_step=one.last_step,
            min=min((low for low in lows if low is not None), default=None),
            max=max((high for high in highs if high is not None), default=None),
        )
    return found


def curves(runs: Sequence[Run], key: str, window: Window) -> list[RunCurve]:
    """Return one metric of each run that has it, in three queries.

    One answer decodes a limited number of points. A run with more than its share is drawn from the
    smallest and largest value of each chunk. No extreme is lost, and zooming in shows every point.
    """
    by_run: dict[UUID, _SeriesOfRun] = defaultdict(_SeriesOfRun)
    rows = MetricSeries.objects.filter(run__in=runs, key=key, kind="user")
    for pk, run_id, n in rows.order_by("attempt__number").values_list("pk", "run_id", "n"):
        by_run[run_id].n += n
        by_run[run_id].series.append(pk)
    chunks = _chunks([pk for found in by_run.values() for pk in found.series], window)
    share = DECODED_POINTS // max(1, len(by_run))
    parts = {
        run_id: [chunk for pk in found.series for chunk in chunks[pk]]
        for run_id, found in by_run.items()
    }
    whole = {run_id for run_id, some in parts.items() if sum(one.n for one in some) <= share}
    data = _data(parts, whole)
    most = min(window.points, max(SHAPE_POINTS, SENT_POINTS // max(1, len(by_run))))
    drawn = []
    for run in runs:
        if run.pk not in by_run:
            continue
        some = parts[run.pk]
        is_whole = run.pk in whole
        inside = _decoded(some, data, window) if is_whole else _ranges(some, data)
        shown = downsample(inside, most)
        thinned = len(shown) < len(inside) or not is_whole
        drawn.append(RunCurve(run, by_run[run.pk].n, shown, thinned, not is_whole))
    return drawn


def _chunks(series: list[UUID], window: Window) -> dict[UUID, list[MetricChunk]]:
    wanted = Q(series__in=series)
    if window.from_step is not None:
        wanted &= Q(step_max__gte=window.from_step)
    if window.to_step is not None:
        wanted &= Q(step_min__lte=window.to_step)
    grouped: dict[UUID, list[MetricChunk]] = defaultdict(list)
    for chunk in MetricChunk.objects.filter(wanted).order_by("series", "seq").defer("data"):
        grouped[chunk.series_id].append(chunk)
    return grouped


def _data(parts: dict[UUID, list[MetricChunk]], whole: set[UUID]) -> dict[int, Points]:
    """Decode the chunks of the runs that are read whole, and of the others the first and last."""
    wanted = []
    for run_id, some in parts.items():
        wanted += some if run_id in whole else [some[0], some[-1]]
    rows = MetricChunk.objects.filter(pk__in=[one.pk for one in wanted]).values_list("pk", "data")
    return {pk: codec.decode(bytes(data)) for pk, data in rows}


def _decoded(some: list[MetricChunk], data: dict[int, Points], window: Window) -> Points:
    points = codec.join(codec.EMPTY, *(data[one.pk] for one in some))
    if window.from_step is not None:
        points = points[points.steps >= window.from_step]
    if window.to_step is not None:
        points = points[points.steps <= window.to_step]
    return points


def _ranges(some: list[MetricChunk], data: dict[int, Points]) -> Points:
    """Draw each chunk as its smallest and largest value; times lie evenly between the ends."""
    steps = np.array([(one.step_min, one.step_max) for one in some], np.int64).ravel()
    values = np.array(
        [(one.vmin, one.vmax) if one.vmin is not None else (np.nan, np.nan) for one in some],
        np.float64,
    ).ravel()
    first, last = data[some[0].pk], data[some[-1].pk]
    ends = np.array([first.steps[0], max(last.steps[-1], first.steps[0] + 1)], np.float64)
    times = np.array([first.ts_ms[0], last.ts_ms[-1]], np.float64)
    return Points(steps, np.interp(steps, ends, times).astype(np.int64), values)
