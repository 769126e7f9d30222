"""Reads rows of the layer `objects` as documents by names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from atom_sdk.annotations.naming import NamedDocument, NamedObject, NamedRelation
from atom_sdk.annotations.problems import refusal
from atom_sdk.annotations.shapes import (
    Box,
    Keypoints,
    Mask,
    PictureGeometry,
    Point,
    Polygon,
    Polyline,
    Ring,
    RotatedBox,
)
from atom_sdk.sentences import Sentence

_COLUMNS = ["width", "height", "objects", "labels", "attributes", "relations"]
_BATCH_ROWS = 1024


def documents_of(table: pa.Table) -> Iterator[NamedDocument]:
    """Yield the document of each row, in the order of the table.

    Raises DocumentError for a geometry whose bytes do not fit its kind.
    """
    for batch in table.select(_COLUMNS).to_batches(max_chunksize=_BATCH_ROWS):
        yield from map(_document, batch.to_pylist())


def shape_of_bytes(
    kind: str, geometry: bytes, sizes: Sequence[int], width: int, height: int
) -> PictureGeometry:
    """Return the shape that a row's bytes stand for, in a picture of this size.

    Raises DocumentError for bytes that do not fit the kind.
    """
    if kind == "mask":
        return Mask(height, width, geometry.decode("ascii", "replace"))
    try:
        numbers = tuple(np.frombuffer(geometry, "<f8").tolist())
        return _READERS[kind](numbers, sizes)
    except (KeyError, TypeError, ValueError, IndexError):
        raise refusal(
            "objects",
            Sentence(
                "annotations.geometry_unreadable",
                "The bytes of an object do not fit its kind {kind}.",
                kind=kind,
            ),
        ) from None


def _document(row: Mapping[str, Any]) -> NamedDocument:
    width, height = row["width"], row["height"]
    return NamedDocument(
        width,
        height,
        tuple(row["labels"] or ()),
        _attributes(row["attributes"]),
        tuple(_object(it, width, height) for it in row["objects"] or ()),
        tuple(
            NamedRelation(it["id"].hex(), it["name"], it["subject"].hex(), it["object"].hex())
            for it in row["relations"] or ()
        ),
    )


def _object(row: Mapping[str, Any], width: int, height: int) -> NamedObject:
    track = row["track_id"]
    return NamedObject(
        row["id"].hex(),
        row["label"],
        shape_of_bytes(row["kind"], row["geometry"], row["sizes"] or (), width, height),
        _attributes(row["attributes"]),
        row["ignore"],
        row["text"],
        None if track is None else track.hex(),
    )


def _attributes(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    values = json.loads(text)
    return {name: tuple(it) if isinstance(it, list) else it for name, it in values.items()}


def _polygon(numbers: Ring, sizes: Sequence[int]) -> Polygon:
    if min(sizes, default=0) < 0:
        raise ValueError("a number of points is negative")
    parts = []
    position = at = 0
    while position < len(sizes):
        counts = sizes[position + 1 : position + 1 + sizes[position]]
        rings = []
        for count in counts:
            rings.append(numbers[at : at + 2 * count])
            at += 2 * count
        parts.append(tuple(rings))
        position += 1 + sizes[position]
    if at != len(numbers):
        raise ValueError("points are left over")
    return Polygon(tuple(parts))


def _keypoints(numbers: Ring, sizes: Sequence[int]) -> Keypoints:
    # Points have three numbers each and a box has four: the rest tells whether there is one.
    box = Box(*numbers[-4:]) if len(numbers) % 3 == 1 else None
    points = numbers[:-4] if box else numbers
    return Keypoints(tuple(zip(points[0::3], points[1::3], points[2::3], strict=True)), box)


_READERS: dict[str, Callable[[Any, Sequence[int]], PictureGeometry]] = {
    "box": lambda numbers, _: Box(*numbers),
    "rotated_box": lambda numbers, _: RotatedBox(*numbers),
    "polygon": _polygon,
    "polyline": lambda numbers, _: Polyline(numbers),
    "point": lambda numbers, _: Point(*numbers),
    "keypoints": _keypoints,
}
