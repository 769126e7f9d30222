"""Metric chunks: up to 4,096 points (step, time, value) in one compressed value.

Layout, little-endian, zstd over the whole: version u8 · count u32 · steps i64 (differences) ·
times in ms i64 (differences) · values f64. Differences of a steady series compress to almost
nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
            np.diff(points.steps, prepend=np.int64(0)).astype("<i8").tobytes(),
            np.diff(points.ts_ms, prepend=np.int64(0)).astype("<i8").tobytes(),
            points.values.astype("<f8").tobytes(),
        )
    )
    return zstandard.ZstdCompressor(level=_LEVEL).compress(raw)


def decode(data: bytes) -> Points:
    """Return the points of a chunk. Raises ValueError if it has another layout."""
    raw = zstandard.ZstdDecompressor().decompress(data)
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
