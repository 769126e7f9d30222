"""The rows of an attempt's curves, read and written in few statements whatever their number.

A hundred batches come a second, each with a few points of many curves. So this is SQL over arrays,
sent in binary: through the ORM, two thirds of the time went into building statements.

A batch appends a block to the last chunk of a curve. Once in MERGED_POINTS the chunk is read,
joined and compressed as one. Rewriting it for every batch took the time of four thousand points for
ten.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from atom.core.prepared_queries import plain_cursor
from atom.jobs.metrics.engines.points import CHUNK_POINTS
from atom.jobs.models import Attempt
from atom_sdk.runner.metric_rows import number

MERGED_POINTS = 512

_LOCK = "SELECT metrics_next_seq FROM jobs_attempt WHERE id = %s FOR UPDATE"

_READ = f"""
SELECT series.key, series.id, series.kind, series.n, series.step_min, series.step_max,
       series.vmin, series.vmax, series.last, series.last_step, series.last_ts_ms,
       CASE WHEN tail.n / {MERGED_POINTS} <> (tail.n + sent.added) / {MERGED_POINTS}
            THEN tail.data END
FROM unnest(%s::text[], %s::bigint[]) AS sent (key, added)
JOIN jobs_metricseries series ON series.attempt_id = %s AND series.key = sent.key
LEFT JOIN jobs_metricchunk tail
       ON tail.series_id = series.id AND tail.seq = series.n / {CHUNK_POINTS}
"""  # constants of ours

_UPDATE_SERIES = """
UPDATE jobs_metricseries kept
SET n = sent.n, step_min = sent.step_min, step_max = sent.step_max, vmin = sent.vmin,
    vmax = sent.vmax, last = sent.last, last_step = sent.last_step, last_ts_ms = sent.last_ts_ms,
    updated_at = statement_timestamp()
FROM unnest(%s::uuid[], %s::bigint[], %s::bigint[], %s::bigint[], %s::float8[], %s::float8[],
            %s::float8[], %s::bigint[], %s::bigint[])
     AS sent (id, n, step_min, step_max, vmin, vmax, last, last_step, last_ts_ms)
WHERE kept.id = sent.id
"""

_SENT_CHUNKS = """
unnest(%s::uuid[], %s::int[], %s::int[], %s::bigint[], %s::bigint[], %s::float8[], %s::float8[],
       %b::bytea[]) AS sent (series_id, seq, n, step_min, step_max, vmin, vmax, data)
"""

_WRITE_CHUNKS = f"""
INSERT INTO jobs_metricchunk (series_id, seq, n, step_min, step_max, vmin, vmax, data)
SELECT * FROM {_SENT_CHUNKS}
ON CONFLICT (series_id, seq) DO UPDATE
SET n = excluded.n, step_min = excluded.step_min, step_max = excluded.step_max,
    vmin = excluded.vmin, vmax = excluded.vmax, data = excluded.data
"""  # constants of ours

# least and greatest pass over what is null.
_LENGTHEN_CHUNKS = f"""
UPDATE jobs_metricchunk kept
SET n = kept.n + sent.n, step_min = least(kept.step_min, sent.step_min),
    step_max = greatest(kept.step_max, sent.step_max), vmin = least(kept.vmin, sent.vmin),
    vmax = greatest(kept.vmax, sent.vmax), data = kept.data || sent.data
FROM {_SENT_CHUNKS}
WHERE kept.series_id = sent.series_id AND kept.seq = sent.seq
"""  # constants of ours


_SUMMARISE = """UPDATE jobs_run
SET metrics_summary = metrics_summary || %s::jsonb WHERE id = %s"""


@dataclass(slots=True)
class SeriesRow:
    """A curve as its row has it. `tail` is its last chunk if that has to be rewritten."""

    key: str
    id: UUID
    kind: str
    n: int = 0
    step_min: int | None = None
    step_max: int | None = None
    vmin: float | None = None
    vmax: float | None = None
    last: float | None = None
    last_step: int | None = None
    last_ts_ms: int | None = None
    tail: bytes | None = None

    @property
    def grows_behind(self) -> bool:
        """Whether the next points are put behind the last chunk as it is."""
        return self.tail is None and self.n % CHUNK_POINTS > 0


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """Points of a curve; `n` counts them."""

    series_id: UUID
    seq: int
    n: int
    step_min: int
    step_max: int
    vmin: float | None
    vmax: float | None
    data: bytes


def read(attempt_id: UUID, added: Mapping[str, int]) -> dict[str, SeriesRow]:
    """Return the curves that the attempt has, by key; `added` counts the points to come."""
    with plain_cursor() as cursor:
        cursor.execute(_READ, [list(added), list(added.values()), attempt_id], binary=True)
        return {row[0]: SeriesRow(*row) for row in cursor}


def lock(attempt_id: UUID) -> int:
    """Lock the attempt's row until the caller commits; return the number of its next batch."""
    with plain_cursor() as cursor:
        row = cursor.execute(_LOCK, [attempt_id]).fetchone()
    if row is None:
        raise Attempt.DoesNotExist
    return int(row[0])


def write(
    series: Sequence[SeriesRow], whole: Sequence[ChunkRow], behind: Sequence[ChunkRow]
) -> None:
    """Write curves that have rows, chunks as they are, and points behind the last chunks."""
    parts = [
        (statement, _columns(rows, fields))
        for statement, rows, fields in (
            (_WRITE_CHUNKS, whole, _CHUNK_FIELDS),
            (_LENGTHEN_CHUNKS, behind, _CHUNK_FIELDS),
            (_UPDATE_SERIES, series, _SERIES_FIELDS),
        )
        if rows
    ]
    if parts:
        with plain_cursor() as cursor:
            # They touch different rows, so all are one statement: one way to the database.
            *first, last = [statement for statement, _ in parts]
            named = ", ".join(f"part_{at} AS ({one})" for at, one in enumerate(first))
            whole_text = f"WITH {named} {last}" if first else last
            cursor.execute(whole_text.encode(), [one for _, columns in parts for one in columns])


def add_to_summary(run_id: UUID, last: Mapping[str, float]) -> None:
    """Copy the last values of curves to their run's row, NaN and infinity as words."""
    values = {key: number(value) for key, value in last.items()}
    with plain_cursor() as cursor:
        # Merged in the database: a runner and a program may report at once.
        cursor.execute(_SUMMARISE, [json.dumps(values), run_id])


_SERIES_FIELDS = (
    *("id", "n", "step_min", "step_max", "vmin", "vmax"),
    *("last", "last_step", "last_ts_ms"),
)
_CHUNK_FIELDS = ("series_id", "seq", "n", "step_min", "step_max", "vmin", "vmax", "data")


def _columns(rows: Sequence[object], names: Sequence[str]) -> list[list[Any]]:
    return [[getattr(row, name) for row in rows] for name in names]
