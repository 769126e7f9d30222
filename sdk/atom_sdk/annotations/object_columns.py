"""Objects as Arrow columns: values are collected as they are and measured by column.

A batch of boxes costs a few microseconds an object: no shape becomes a Python object of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from atom_sdk.annotations.tracks import geometry_from_json
from atom_sdk.manifests.layers.object_rows import OBJECT_TYPE

_NUMBER_BYTES = 8
_ID_TYPE = OBJECT_TYPE.field("id").type
# Kinds of shapes that are measured by column; the others one by one.
_BOX, _ROTATED, _POLYGON, _POINTS, _MEASURED = range(5)
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ObjectColumns:
    """Collects objects of documents; `array` makes their columns."""

    def __init__(self) -> None:
        """Nothing is collected yet."""
        self._items: list[Mapping[str, Any]] = []
        self._labels: list[str] = []
        self._attributes: list[str | None] = []
        self._ignores: list[bool] = []
        self._ways: list[int] = []
        # The coordinates of each object; a mask has none.
        self._flat: list[Sequence[float]] = []
        self._sizes: dict[int, list[int]] = {}
        # By object: the text of its mask; x, y, width, height, area of what is measured alone.
        self._masks: dict[int, bytes] = {}
        self._measures: dict[int, tuple[float, ...]] = {}
        self.numbers = 0

    def __len__(self) -> int:
        """Number of objects."""
        return len(self._items)

    def extend(
        self,
        items: Sequence[Mapping[str, Any]],
        labels: Iterable[str],
        attributes: Iterable[str | None],
        ignores: Iterable[bool],
    ) -> None:
        """Take the objects of a document's JSON, with their labels and attributes by names.

        Raises KeyError, TypeError or DocumentError for fields that a kind has not.
        """
        if all(it["kind"] == "box" for it in items):
            flat: list[Sequence[float]] = [it["box"] for it in items]
            self._ways += [_BOX] * len(items)
        else:
            first = len(self)
            flat = [self._take(first + index, it) for index, it in enumerate(items)]
        self._flat += flat
        self.numbers += sum(map(len, flat))
        self._items += items
        self._labels += labels
        self._attributes += attributes
        self._ignores += ignores

    def array(self) -> pa.StructArray:
        """Return the objects in the order in which they came."""
        counts = np.fromiter(map(len, self._flat), np.int64, len(self))
        numbers = np.fromiter(chain.from_iterable(self._flat), np.float64, int(counts.sum()))
        ends = np.concatenate([[0], np.cumsum(counts)])
        x, y, width, height, area = self._measured(numbers, ends)
        tracks = [it.get("track") for it in self._items]
        columns = {
            "id": _ids([it["id"] for it in self._items]),
            "track_id": pa.array([bytes.fromhex(it) if it else None for it in tracks], _ID_TYPE),
            "label": pa.array(self._labels, pa.string()),
            "kind": pa.array([it["kind"] for it in self._items], pa.string()),
            "x": pa.array(x),
            "y": pa.array(y),
            "width": pa.array(width),
            "height": pa.array(height),
            "area": pa.array(area),
            "geometry": self._geometry(numbers, ends),
            "sizes": self._size_lists(),
            "ignore": pa.array(self._ignores, pa.bool_()),
            "text": pa.array([it.get("text") for it in self._items], pa.string()),
            "attributes": pa.array(self._attributes, pa.string()),
        }
        fields = list(OBJECT_TYPE)
        return pa.StructArray.from_arrays([columns[it.name] for it in fields], fields=fields)

    def _take(self, index: int, item: Mapping[str, Any]) -> Sequence[float]:
        """Return the coordinates of an object, and keep how it is measured."""
        kind = item["kind"]
        way, flat = _KINDS[kind], []
        if kind == "box":
            flat = item["box"]
        elif kind == "rotated_box":
            flat = [*item["box"], item["angle"]]
        elif kind == "polygon":
            self._sizes[index], flat = _flat_parts(item["parts"])
            # Counts of 0 belong to rings without points, which have no bounds.
            way = _POLYGON if flat and all(self._sizes[index]) else _MEASURED
        elif kind == "mask":
            self._masks[index] = item["rle"]["counts"].encode()
        else:
            flat = [*item["points"], *(item.get("box") or ())]
            way = way if flat else _MEASURED
        if way == _MEASURED:
            shape = geometry_from_json(item)
            self._measures[index] = (*shape.bounds, shape.area)
        self._ways.append(way)
        return flat

    def _size_lists(self) -> pa.ListArray:
        counts = np.zeros(len(self) + 1, np.int32)
        for index, sizes in self._sizes.items():
            counts[index + 1] = len(sizes)
        values = pa.array(chain.from_iterable(self._sizes.values()), pa.int32())
        return pa.ListArray.from_arrays(pa.array(np.cumsum(counts, dtype=np.int32)), values)

    def _geometry(self, numbers: Floats, ends: Ints) -> pa.Array:
        data = numbers.astype("<f8", copy=False).tobytes()
        if self._masks:
            cuts = pairwise((_NUMBER_BYTES * ends).tolist())
            plain = [data[start:end] for start, end in cuts]
            for index, text in self._masks.items():
                plain[index] = text
            return pa.array(plain, pa.binary())
        buffers = [None, pa.py_buffer((_NUMBER_BYTES * ends).astype("<i4")), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.binary(), len(self), buffers)

    def _measured(self, numbers: Floats, ends: Ints) -> Floats:
        """Return x, y, width, height and area of each object, shape (5, objects)."""
        measures = np.zeros((5, len(self)))
        ways = np.array(self._ways, np.int64)
        for way, measure in _MEASURES.items():
            chosen = np.flatnonzero(ways == way)
            if len(chosen):
                measures[:, chosen] = measure(numbers, ends[:-1][chosen], ends[1:][chosen])
        polygons = np.flatnonzero(ways == _POLYGON)
        if len(polygons):
            rings = _Rings([self._sizes[it] for it in polygons.tolist()], ends[polygons])
            measures[:, polygons] = rings.measure(numbers)
        for index, values in self._measures.items():
            measures[:, index] = values
        return measures


_KINDS = {
    "box": _BOX,
    "rotated_box": _ROTATED,
    "polygon": _POLYGON,
    "polyline": _POINTS,
    "point": _POINTS,
    "keypoints": _MEASURED,
    "mask": _MEASURED,
}


def _flat_parts(parts: Sequence[Any]) -> tuple[list[int], list[float]]:
    """Return the numbers of rings and of their points, and all coordinates."""
    sizes: list[int] = []
    flat: list[float] = []
    for part in parts:
        sizes.append(len(part))
        for ring in part:
            sizes.append(len(ring) // 2)
            flat += ring
    return sizes, flat


def _ids(ids: list[str]) -> pa.Array:
    data = bytes.fromhex("".join(ids))
    if len(data) != _ID_TYPE.byte_width * len(ids):
        raise ValueError("an id has 16 hexadecimal digits")
    return pa.Array.from_buffers(_ID_TYPE, len(ids), [None, pa.py_buffer(data)])


def _boxes(numbers: Floats, starts: Ints, ends: Ints) -> Floats:
    if (ends - starts != 4).any():
        raise ValueError("a box has four numbers")
    x, y, width, height = numbers[starts[:, None] + np.arange(4)].T
    return np.stack([x, y, width, height, width * height])


def _rotated_boxes(numbers: Floats, starts: Ints, ends: Ints) -> Floats:
    if (ends - starts != 5).any():
        raise ValueError("a rotated box has four numbers and its angle")
    x, y, width, height, angle = numbers[starts[:, None] + np.arange(5)].T
    cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    corners = [
        (
            x + across * width / 2 * cos - down * height / 2 * sin,
            y + across * width / 2 * sin + down * height / 2 * cos,
        )
        for across, down in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    xs, ys = np.array(corners).transpose(1, 0, 2)
    left, top = xs.min(axis=0), ys.min(axis=0)
    return np.stack([left, top, xs.max(axis=0) - left, ys.max(axis=0) - top, width * height])


def _point_lists(numbers: Floats, starts: Ints, ends: Ints) -> Floats:
    points = numbers[_ranges(starts, ends)].reshape(-1, 2)
    first = np.concatenate([[0], np.cumsum((ends - starts) // 2)[:-1]])
    low = np.minimum.reduceat(points, first, axis=0)
    high = np.maximum.reduceat(points, first, axis=0)
    return np.concatenate([low, high - low, np.zeros((len(starts), 1))], axis=1).T


_MEASURES = {_BOX: _boxes, _ROTATED: _rotated_boxes, _POINTS: _point_lists}


def _ranges(starts: Ints, ends: Ints) -> Ints:
    """Return the numbers of all ranges [start, end), one after the other."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    numbers: Ints = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return numbers


class _Rings:
    """The rings of polygons, none of them empty: where each begins, and whether it is a hole."""

    def __init__(self, sizes: Sequence[Sequence[int]], starts: Ints) -> None:
        lengths: list[int] = []
        holes: list[bool] = []
        counts: list[int] = []
        for listed in sizes:
            before, at = len(lengths), 0
            while at < len(listed):
                rings = listed[at]
                lengths += listed[at + 1 : at + 1 + rings]
                holes += [False] + [True] * (rings - 1)
                at += 1 + rings
            counts.append(len(lengths) - before)
        self._lengths = np.array(lengths, np.int64)
        self._holes = np.array(holes, bool)
        rings_of = np.array(counts, np.int64)
        self._first_ring: Ints = np.cumsum(rings_of) - rings_of
        self._starts = starts

    def measure(self, numbers: Floats) -> Floats:
        """Return x, y, width, height and area of each polygon, shape (5, polygons)."""
        points_of = np.add.reduceat(self._lengths, self._first_ring)
        where = _ranges(self._starts, self._starts + 2 * points_of)
        points = numbers[where].reshape(-1, 2)
        ring_ends = np.cumsum(self._lengths)
        ring_starts = ring_ends - self._lengths
        low = np.minimum.reduceat(points, ring_starts, axis=0)
        high = np.maximum.reduceat(points, ring_starts, axis=0)
        low[self._holes], high[self._holes] = np.inf, -np.inf
        low = np.minimum.reduceat(low, self._first_ring, axis=0)
        high = np.maximum.reduceat(high, self._first_ring, axis=0)
        areas = np.where(self._holes, -1, 1) * self._areas(points, ring_starts, ring_ends)
        area = np.add.reduceat(areas, self._first_ring)
        return np.concatenate([low, high - low, area[:, None]], axis=1).T

    def _areas(self, points: Floats, starts: Ints, ends: Ints) -> Floats:
        """Return the area inside of each ring (the shoelace formula)."""
        # Far from the origin, products of whole coordinates would lose the digits that matter.
        x, y = (points - np.repeat(points[starts], self._lengths, axis=0)).T
        following = np.arange(1, len(points) + 1)
        following[ends - 1] = starts
        areas: Floats = np.abs(np.add.reduceat(x * y[following] - x[following] * y, starts)) / 2
        return areas
