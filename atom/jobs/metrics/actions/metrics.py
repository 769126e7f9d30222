"""Metrics: batches of points become chunks, each batch exactly once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction

from atom.core import live
from atom.core.errors import Invalid
from atom.core.ids import uuid7
from atom.jobs.errors import MetricsGap
from atom.jobs.metrics.actions import metric_rows
from atom.jobs.metrics.actions.metric_rows import ChunkRow, SeriesRow
from atom.jobs.metrics.engines import points as codec
from atom.jobs.metrics.engines.points import CHUNK_POINTS, Points
from atom.jobs.models import Attempt, MetricSeries, Rank
from atom_sdk.sentences import Sentence

SYSTEM_PREFIX = "system/"
MAX_KEY_LENGTH = 250
MAX_KEYS = 2000
_OF_RANK = re.compile(r"rank-\d+/")

PointRow = tuple[str, int, int, float | None]
Number = TypeVar("Number", int, float)
_UNREADABLE = (TypeError, ValueError, OverflowError, LookupError, AttributeError)


@dataclass(frozen=True, slots=True)
class Ingested:
    """The number of the next batch, and how many points of this one were refused, and why."""

    next_seq: int
    refused: int = 0
    first_reason: str = ""


@dataclass(frozen=True, slots=True)
class _Batch:
    """The points of a batch that can be stored, by key; of the others how many, and why."""

    points: dict[str, Points]
    refused: int = 0
    first_reason: str = ""


class TooManyKeys(Invalid):
    """The attempt would have more metrics than it may."""


def ingest(attempt: Attempt, seq: int, rows: Sequence[PointRow], rank: int = 0) -> Ingested:
    """Store the sound points of batch number `seq` of a rank.

    A batch that was stored before is skipped. Raises MetricsGap if one before it is missing, and
    Invalid if no point is sound.
    """
    return _ingest(attempt, seq, _sound(rows), rank)


def ingest_rows(attempt: Attempt, seq: int, rows: Sequence[Any], rank: int = 0) -> Ingested:
    """Store a batch as `ingest` does, of rows {"step", "ts_ms", "values": {key: value}}."""
    try:
        batch = _Batch(_checked(codec.curves_from(rows)))
    except (Invalid, *_UNREADABLE):
        # Check the points one by one, to find which of them are wrong and why.
        batch = _sound([point for row in rows for point in _points_of(row)])
    return _ingest(attempt, seq, batch, rank)


def key_of_rank(rank: int, key: str) -> str:
    """Return the key of a rank's curve; that of rank 0 is the plain one.

    Curves of the machine stay with those of the machine: `system/rank-1/cpu_percent`.
    """
    if not rank:
        return key
    if key.startswith(SYSTEM_PREFIX):
        return f"{SYSTEM_PREFIX}rank-{rank}/{key.removeprefix(SYSTEM_PREFIX)}"
    return f"rank-{rank}/{key}"


def _ingest(attempt: Attempt, seq: int, batch: _Batch, rank: int) -> Ingested:
    points, refused, first_reason = batch.points, batch.refused, batch.first_reason
    if rank:
        points = _checked({key_of_rank(rank, key): some for key, some in points.items()})
    with transaction.atomic():
        # Lock first: a runner that timed out sends the same batch again while we store it.
        expected = metric_rows.lock(attempt.pk)
        if rank:
            mine = Rank.objects.filter(attempt=attempt, number=rank)
            expected = mine.values_list("metrics_next_seq", flat=True).get()
        if seq < expected:
            return Ingested(expected)
        if seq > expected:
            raise MetricsGap(
                Sentence(
                    "jobs.batch_out_of_order",
                    "Batch {expected} comes next, not {seq}.",
                    expected=expected,
                    seq=seq,
                ),
                next_seq=expected,
            )
        try:
            series = _store(attempt, points)
        except TooManyKeys as error:
            kept = _within_limit(attempt, points)
            refused += _count_of(points) - _count_of(kept)
            first_reason = first_reason or _first_reason(error)
            series = _store(attempt, kept)
        if rank:
            mine.update(metrics_next_seq=seq + 1)
        else:
            Attempt.objects.filter(pk=attempt.pk).update(metrics_next_seq=seq + 1)
    _summarise(attempt.run_id, series)
    return Ingested(seq + 1, refused, first_reason if refused else "")


def append(attempt: Attempt, rows: Sequence[PointRow]) -> None:
    """Store points that come without the number of a batch, beside those of a runner."""
    batches = _by_key(rows)
    if not batches:
        return
    # A failure here undoes the whole transaction, whoever began it.
    with transaction.atomic(savepoint=False):
        # Lock first: two programs, or a program and the runner, may extend one series.
        metric_rows.lock(attempt.pk)
        series = _store(attempt, batches)
    _summarise(attempt.run_id, series)


def _store(attempt: Attempt, batches: dict[str, Points]) -> list[SeriesRow]:
    found = metric_rows.read(attempt.pk, {key: len(some) for key, some in batches.items()})
    new = _begin(attempt, [key for key in batches if key not in found])
    whole: list[ChunkRow] = []
    behind: list[ChunkRow] = []
    for one in (*found.values(), *new):
        points = batches[one.key]
        if one.grows_behind:
            behind.append(_chunk(one, one.n // CHUNK_POINTS, points))
        else:
            whole += _chunks(one, points)
        _count(one, points)
    _insert(attempt, new)
    metric_rows.write(list(found.values()), whole, behind)
    return [*found.values(), *new]


def _by_key(rows: Sequence[PointRow]) -> dict[str, Points]:
    try:
        found = codec.points_by_key(rows)
    except _UNREADABLE as error:
        raise Invalid(
            errors={
                "points": [
                    Sentence(
                        "jobs.point_malformed",
                        "Expected [key, step, ts_ms, value]: {reason}",
                        reason=error,
                    )
                ]
            }
        ) from error
    return _checked(found)


def _checked(found: dict[str, Points]) -> dict[str, Points]:
    """Return the points as they are. Raises Invalid for a key that cannot be stored."""
    for key in found:
        if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_LENGTH:
            raise Invalid(
                errors={
                    "points": [
                        Sentence(
                            "jobs.key_length",
                            "A key has 1 to {max_characters} characters.",
                            max_characters=MAX_KEY_LENGTH,
                        )
                    ]
                }
            )
        if "\0" in key or any(map(_is_half, key)):
            raise Invalid(
                errors={
                    "points": [
                        Sentence(
                            "jobs.key_not_text", "A key has no NUL and no half of a character."
                        )
                    ]
                }
            )
    return found


def _sound(rows: Sequence[PointRow]) -> _Batch:
    """Return the points that can be stored, and what is wrong with the first that cannot.

    One bad point must not cost the others of its batch. Raises Invalid if no point is sound.
    """
    try:
        return _Batch(_by_key(rows))
    except Invalid as error:
        first_reason = _first_reason(error)
        sound = [row for row in rows if _is_sound(row)]
        if not sound:
            raise
    return _Batch(_by_key(sound), len(rows) - len(sound), first_reason)


def _points_of(row: Any) -> list[Any]:
    """Return the points of a row; one that cannot be read stands for itself, to be refused."""
    try:
        step, ts_ms = row["step"], row["ts_ms"]
        return [(key, step, ts_ms, value) for key, value in row["values"].items()]
    except _UNREADABLE:
        return [None]


def _is_sound(row: PointRow) -> bool:
    try:
        return bool(_by_key([row]))
    except Invalid:
        return False


def _count_of(batches: Mapping[str, Points]) -> int:
    return sum(map(len, batches.values()))


def _first_reason(error: Invalid) -> str:
    return str(next(iter(error.errors.values()))[0])


def _within_limit(attempt: Attempt, batches: dict[str, Points]) -> dict[str, Points]:
    """Leave out new keys beyond the limit; those that have a curve go on."""
    known = set(attempt.series.filter(key__in=batches).values_list("key", flat=True))
    room = MAX_KEYS - attempt.series.count()
    new = [key for key in batches if key not in known]
    taken = known | set(new[:room])
    return {key: points for key, points in batches.items() if key in taken}


def _is_half(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"


def _begin(attempt: Attempt, keys: list[str]) -> list[SeriesRow]:
    """Return curves that are not in the database yet."""
    if keys and attempt.series.count() + len(keys) > MAX_KEYS:
        said = Sentence(
            "jobs.too_many_metrics", "An attempt may have {max} different metrics.", max=MAX_KEYS
        )
        raise TooManyKeys(errors={"points": [said]})
    return [SeriesRow(key, uuid7(), _kind(key)) for key in keys]


def _insert(attempt: Attempt, new: list[SeriesRow]) -> None:
    MetricSeries.objects.bulk_create(
        MetricSeries(
            id=one.id,
            run_id=attempt.run_id,
            attempt=attempt,
            key=one.key,
            kind=one.kind,
            n=one.n,
            step_min=one.step_min,
            step_max=one.step_max,
            vmin=one.vmin,
            vmax=one.vmax,
            last=one.last,
            last_step=one.last_step,
            last_ts_ms=one.last_ts_ms,
        )
        for one in new
    )


def _kind(key: str) -> str:
    return "system" if key.startswith(SYSTEM_PREFIX) else "user"


def _chunks(series: SeriesRow, new: Points) -> list[ChunkRow]:
    """Return the last chunk with the new points, and the chunks after it."""
    # Every chunk before the last one is full, so the count gives the number of the tail.
    seq = series.n // CHUNK_POINTS
    points = new if series.tail is None else codec.join(codec.decode(series.tail), new)
    return [_chunk(series, seq + at, part) for at, part in enumerate(codec.split(points))]


def _chunk(series: SeriesRow, seq: int, points: Points) -> ChunkRow:
    vmin, vmax = points.value_range()
    return ChunkRow(
        series_id=series.id,
        seq=seq,
        n=len(points),
        step_min=int(points.steps.min()),
        step_max=int(points.steps.max()),
        vmin=vmin,
        vmax=vmax,
        data=codec.encode(points),
    )


def _count(series: SeriesRow, new: Points) -> None:
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


def _summarise(run_id: UUID, series: list[SeriesRow]) -> None:
    """Copy the last values to the run, for lists, and notify pages of the curves' lengths."""
    last = {
        one.key: one.last
        for one in series
        # Lists show the values of rank 0.
        if one.kind == "user" and one.last is not None and not _OF_RANK.match(one.key)
    }
    if last:
        metric_rows.add_to_summary(run_id, last)
    live.publish(f"run.{run_id}", {"type": "metrics", "keys": {one.key: one.n for one in series}})
