"""Findings of a version: a table that is sorted so that each kind is one run, the worst first.

Columns: kind, path, group (the number of its group within the kind, -1 without one), stays (the
one of its group that is worth keeping), badness (0..1), value (what was measured: see `Kind`),
reason, width, height, sharpness. A path may be found more than once, also within a kind.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from atom.cleaning.engines.duplicates import Grouped, exact_duplicates, leaks, near_duplicates
from atom.cleaning.engines.similarity import Likeness, likeness
from atom.cleaning.engines.thresholds import TINY_SHARE_OF_MEDIAN, Thresholds


class Kind(StrEnum):
    """Kinds of findings; the comment of each gives the meaning of `value`."""

    UNREADABLE = "unreadable"  # 0; `reason` says why
    TOO_LARGE = "too_large"  # 0; `reason` says above how many pixels
    EXACT_DUPLICATE = "exact_duplicate"  # 0
    NEAR_DUPLICATE = "near_duplicate"  # bits of 64 that differ from the one that stays
    LEAK = "leak"  # the same, from the one in another split
    TINY = "tiny"  # pixels of the shorter side
    DARK = "dark"  # 98th percentile of the luminance
    BLURRED = "blurred"  # variance of the Laplacian


# As the workflow `measure-images` says it, also in what earlier reports measured.
_TOO_LARGE = r"^more than [0-9,]+ pixels$"
GROUPED = frozenset({Kind.EXACT_DUPLICATE, Kind.NEAR_DUPLICATE, Kind.LEAK})
SCHEMA = pa.schema(
    [
        pa.field("kind", pa.string(), nullable=False),
        pa.field("path", pa.string(), nullable=False),
        pa.field("group", pa.int32(), nullable=False),
        pa.field("stays", pa.bool_(), nullable=False),
        pa.field("badness", pa.float32(), nullable=False),
        pa.field("value", pa.float32(), nullable=False),
        pa.field("reason", pa.string()),
        pa.field("width", pa.int32()),
        pa.field("height", pa.int32()),
        pa.field("sharpness", pa.float32()),
    ]
)


@dataclass(frozen=True)
class Findings:
    """All findings of a version; partial if it has more near pairs than are looked at."""

    table: pa.Table
    images: int
    is_partial: bool


@dataclass(frozen=True)
class KindCount:
    """How many files of a kind should go, and around how many that stay (0 without groups)."""

    kind: Kind
    items: int
    groups: int


def find(table: pa.Table, thresholds: Thresholds) -> Findings:
    """Return the findings of a joined table (see `features`)."""
    alike = likeness(table, thresholds.near_distance)
    pieces = [
        *_unmeasured(table),
        _grouped(table, Kind.EXACT_DUPLICATE, exact_duplicates(alike), thresholds),
        _grouped(table, Kind.NEAR_DUPLICATE, near_duplicates(alike), thresholds),
        _grouped(table, Kind.LEAK, _leaks(alike), thresholds),
        *_measured(table, thresholds),
    ]
    images = pc.sum(table["is_image"]).as_py() or 0
    return Findings(pa.concat_tables(pieces).combine_chunks(), images, alike.is_partial)


def counts(table: pa.Table) -> Iterator[KindCount]:
    """Yield a count per kind, also of kinds that were not found."""
    for kind in Kind:
        rows = of_kind(table, kind)
        stay = pc.sum(rows["stays"]).as_py() or 0
        yield KindCount(kind, len(rows) - stay, stay)


def of_kind(table: pa.Table, kind: str) -> pa.Table:
    """Return the findings of one kind, the worst first."""
    return table.filter(pc.equal(table["kind"], kind))


def write_findings(table: pa.Table) -> bytes:
    """Return the findings as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def read_findings(data: bytes) -> pa.Table:
    """Return what `write_findings` wrote."""
    return pq.read_table(io.BytesIO(data)).combine_chunks()


def _leaks(alike: Likeness) -> Grouped:
    empty = np.empty(0, np.int64)
    return leaks(alike) if len(alike.split_names) > 1 else Grouped(empty, empty, empty)


def _unmeasured(table: pa.Table) -> Iterator[pa.Table]:
    """Yield what cannot be decoded, and what is too large to be: the latter may be sound."""
    told = pc.fill_null(pc.match_substring_regex(table["unreadable"], _TOO_LARGE), False)
    is_large = np.asarray(told.to_numpy(), np.bool_)
    is_unread = table["unreadable"].is_valid().to_numpy()
    for kind, among in ((Kind.UNREADABLE, is_unread & ~is_large), (Kind.TOO_LARGE, is_large)):
        rows = np.flatnonzero(among)
        zeros = np.zeros(len(rows))
        yield _findings(table, kind, rows, badness=zeros + 1, value=zeros)


def _measured(table: pa.Table, thresholds: Thresholds) -> Iterator[pa.Table]:
    """Yield tiny, dark and blurred images; a dark one is never blurred too."""
    seen = pc.and_(table["width"].is_valid(), table["unreadable"].is_null()).to_numpy()
    side = _floats(pc.min_element_wise(table["width"], table["height"]))
    bright, sharpness = _floats(table["bright"]), _floats(table["sharpness"])
    median = float(np.median(side[seen])) if seen.any() else 0.0
    smallest = min(float(thresholds.tiny_side_px), median * TINY_SHARE_OF_MEDIAN)
    is_dark = bright < thresholds.dark_bright
    below = [
        (Kind.TINY, seen, side, smallest),
        (Kind.DARK, seen, bright, thresholds.dark_bright),
        (Kind.BLURRED, seen & ~is_dark, sharpness, thresholds.blur_sharpness),
    ]
    for kind, among, values, limit in below:
        rows = np.flatnonzero(among & (values < limit))
        rows = rows[np.argsort(values[rows], kind="stable")]
        badness = 1 - values[rows] / max(limit, 1e-9)
        yield _findings(table, kind, rows, badness=badness, value=values[rows])


def _grouped(table: pa.Table, kind: Kind, found: Grouped, thresholds: Thresholds) -> pa.Table:
    """Order groups: the closest first, then the largest; in a group, who stays comes first."""
    _, group, sizes = np.unique(found.stays, return_inverse=True, return_counts=True)
    closest = np.full(len(sizes), 64, np.int64)
    leaves = found.row != found.stays
    np.minimum.at(closest, group[leaves], found.distance[leaves])
    place = np.empty(len(sizes), np.int64)
    place[np.lexsort((-sizes, closest))] = np.arange(len(sizes))
    order = np.lexsort((found.row, found.distance, leaves, place[group]))
    badness = 1 - closest[group] / (thresholds.near_distance + 1)
    return _findings(
        table,
        kind,
        found.row[order],
        badness=badness[order],
        value=found.distance[order],
        group=place[group][order],
        stays=~leaves[order],
    )


def _findings(
    table: pa.Table,
    kind: Kind,
    rows: NDArray[np.int64],
    **columns: NDArray[np.int64] | NDArray[np.float64] | NDArray[np.bool_],
) -> pa.Table:
    size = len(rows)
    made = {
        "kind": pa.repeat(str(kind), size),
        "group": columns.get("group", np.full(size, -1)),
        "stays": columns.get("stays", np.zeros(size, np.bool_)),
        "badness": columns["badness"],
        "value": columns["value"],
    }
    taken = table.take(pa.array(rows))
    made |= {name: taken[name] for name in ("path", "width", "height", "sharpness")}
    made["reason"] = taken["unreadable"]
    arrays = [_as(made[field.name], field.type) for field in SCHEMA]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _as(column: pa.ChunkedArray | pa.Array | NDArray[np.float64], kind: pa.DataType) -> pa.Array:
    if isinstance(column, np.ndarray):
        return pa.array(column).cast(kind)
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(kind)


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    values: NDArray[np.float64] = pc.fill_null(column.cast(pa.float64()), 0).to_numpy()
    return values
