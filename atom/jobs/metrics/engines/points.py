"""Metric chunks: up to 4,096 points (step, time, value) in one or more blocks, one after another.

Layout of a block, little-endian, a zstd frame over the whole: version u8 · count u32 · steps i64
(differences) · times in ms i64 (differences) · values f64. Differences of a steady series compress
to almost nothing. A chunk that is being filled has a block of each batch, a full one has one.
"""

from __future__ import annotations

import math
import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

CHUNK_POINTS = 4096
_HEAD = struct.Struct("<BI")
_VERSION = 1
_LEVEL = 1


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Three arrays of shape (points,): whole steps, milliseconds since 1970, values."""

    steps: NDArray[np.int64]
    ts_ms: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.steps)

    def __getitem__(self, part: slice | NDArray[np.integer] | NDArray[np.bool_]) -> Points:
        """Return the same part of all three arrays."""
        return Points(self.steps[part], self.ts_ms[part], self.values[part])

    def value_range(self) -> tuple[float | None, float | None]:
        """Return the smallest and largest finite value, None if there is none."""
        least, most = float(self.values.min()), float(self.values.max())
        # Non-finite values are excluded; if there is one, the least or the most is not finite.
        if math.isfinite(least) and math.isfinite(most):
            return least, most
        finite = self.values[np.isfinite(self.values)]
        return (float(finite.min()), float(finite.max())) if len(finite) else (None, None)

    def latest(self) -> int:
        """Return the place of the point with the highest step; of several, of the newest."""
        last = len(self) - 1
        if self.steps[last] == self.steps.max() and self.ts_ms[last] == self.ts_ms.max():
            return last
        # Sorted by step, then time; the order of arrival settles what is left, being stable.
        return int(np.lexsort((self.ts_ms, self.steps))[-1])


EMPTY = Points(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))


def points_from(rows: Sequence[tuple[str, int, int, float | None]]) -> Points:
    """Build points from rows (key, step, ts_ms, value); a value that is None becomes NaN.

    Raises ValueError, TypeError or OverflowError for anything else.
    """
    _, steps, ts_ms, values = zip(*rows, strict=True)
    made = Points(
        np.array(steps, dtype=np.int64),
        np.array(ts_ms, dtype=np.int64),
        np.array(values, dtype=np.float64),
    )
    if not made.steps.ndim == made.ts_ms.ndim == made.values.ndim == 1:
        raise ValueError("a point holds numbers, not lists")
    return made


def points_by_key(
    rows: Sequence[tuple[str, int, int, float | None]],
) -> dict[str, Points]:
    """Build the points of each key from rows, in their order. Raises as `points_from` does."""
    if not rows:
        return {}
    whole = points_from(rows)
    numbers: dict[str, int] = {}
    of_rows = np.array([numbers.setdefault(row[0], len(numbers)) for row in rows], dtype=np.int64)
    if len(numbers) == 1:
        return dict.fromkeys(numbers, whole)
    places = np.split(np.argsort(of_rows, kind="stable"), np.cumsum(np.bincount(of_rows))[:-1])
    return {key: whole[at] for key, at in zip(numbers, places, strict=True)}


def curves_from(rows: Sequence[Mapping[str, Any]]) -> dict[str, Points]:
    """Build the points of each key from rows {"step", "ts_ms", "values": {key: value}}.

    Those of a key stay in the order of the rows. Raises ValueError, TypeError, OverflowError,
    LookupError or AttributeError for anything else.
    """
    steps = np.array([row["step"] for row in rows], dtype=np.int64)
    ts_ms = np.array([row["ts_ms"] for row in rows], dtype=np.int64)
    if not steps.ndim == ts_ms.ndim == 1:
        raise ValueError("a step and a time are numbers, not lists")
    # Rows with the same keys, which are nearly all of a program, are read as one table.
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        alike[tuple(row["values"])].append(place)
    parts: dict[str, list[tuple[NDArray[np.int64], NDArray[np.float64]]]] = defaultdict(list)
    for keys, places in alike.items():
        table = np.array([list(rows[at]["values"].values()) for at in places], dtype=np.float64)
        if table.shape != (len(places), len(keys)):
            raise ValueError("a value is a number, not a list")
        for column, key in enumerate(keys):
            parts[key].append((np.array(places, dtype=np.int64), table[:, column]))
    return {key: _in_order(some, steps, ts_ms) for key, some in parts.items()}


def _in_order(
    parts: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]],
    steps: NDArray[np.int64],
    ts_ms: NDArray[np.int64],
) -> Points:
    """Return the values of a key, given with the places of their rows, in the rows' order."""
    places = np.concatenate([at for at, _ in parts])
    values = np.concatenate([some for _, some in parts])
    if len(parts) > 1:
        order = np.argsort(places)
        places, values = places[order], values[order]
    return Points(steps[places], ts_ms[places], values)


def join(*parts: Points) -> Points:
    """Return the points of all parts, in the order given."""
    return Points(
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.ts_ms for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


def encode(points: Points) -> bytes:
    """Compress the points."""
    raw = b"".join(
        (
            _HEAD.pack(_VERSION, len(points)),
            _differences(points.steps),
            _differences(points.ts_ms),
            points.values.astype("<f8").tobytes(),
        )
    )
    return zstandard.ZstdCompressor(level=_LEVEL).compress(raw)


def _differences(numbers: NDArray[np.int64]) -> bytes:
    """Return the first number and what each next one is more than the one before it."""
    found = np.empty(len(numbers), dtype="<i8")
    found[:1] = numbers[:1]
    # Beyond 64 bits it wraps around, as it does when they are added up again.
    np.subtract(numbers[1:], numbers[:-1], out=found[1:])
    return found.tobytes()


def decode(data: bytes) -> Points:
    """Return the points of a chunk. Raises ValueError if it has another layout."""
    blocks = []
    while data:
        frame = zstandard.ZstdDecompressor().decompressobj()
        blocks.append(_block(frame.decompress(data)))
        if not frame.eof:
            raise ValueError("A metric chunk ends within a block.")
        data = frame.unused_data
    return blocks[0] if len(blocks) == 1 else join(EMPTY, *blocks)


def _block(raw: bytes) -> Points:
    version, count = _HEAD.unpack_from(raw)
    if version != _VERSION or len(raw) != _HEAD.size + 24 * count:
        raise ValueError(
            f"Metric chunk of version {version} with {len(raw)} bytes is not readable."
        )
    at = _HEAD.size
    return Points(
        np.cumsum(np.frombuffer(raw, "<i8", count, at)),
        np.cumsum(np.frombuffer(raw, "<i8", count, at + 8 * count)),
        np.frombuffer(raw, "<f8", count, at + 16 * count),
    )


def split(points: Points) -> Iterator[Points]:
    """Yield chunks of at most CHUNK_POINTS."""
    for start in range(0, len(points), CHUNK_POINTS):
        yield points[slice(start, start + CHUNK_POINTS)]
