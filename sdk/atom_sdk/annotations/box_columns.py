"""Boxes as Arrow columns, without a Python object for each: the fast way of most documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from atom_sdk.annotations.documents import VERSION
from atom_sdk.manifests.layers.object_rows import OBJECT_TYPE

BOX: Final = "box"
ID_BYTES: Final = 8
NUMBERS_OF_BOX: Final = 4
_NUMBER_BYTES: Final = 8
BOX_BYTES: Final = NUMBERS_OF_BOX * _NUMBER_BYTES


@dataclass(slots=True)
class BoxDocument:
    """A document whose objects are boxes without attributes, flags, texts, tracks and relations.

    `ids` are 8 bytes of each box; `boxes` its x, y, width and height as little-endian float64.
    """

    width: int
    height: int
    ids: bytes
    labels: Sequence[int]
    boxes: bytes

    def __post_init__(self) -> None:
        """Raise ValueError for bytes that are not so many boxes as there are labels."""
        count = len(self.labels)
        if len(self.ids) != ID_BYTES * count:
            raise ValueError("an id has 8 bytes")
        if len(self.boxes) != BOX_BYTES * count:
            raise ValueError("a box has four numbers")

    def as_json(self) -> dict[str, Any]:
        """Return the same document as JSON."""
        numbers = np.frombuffer(self.boxes, "<f8").reshape(-1, NUMBERS_OF_BOX).tolist()
        ids = [self.ids[at : at + ID_BYTES].hex() for at in range(0, len(self.ids), ID_BYTES)]
        objects = [
            {"id": number, "label": label, "kind": BOX, "box": box}
            for number, label, box in zip(ids, self.labels, numbers, strict=True)
        ]
        sizes = {"width": self.width, "height": self.height}
        return {"version": VERSION, **sizes, "objects": objects}


class BoxColumns:
    """Collects boxes of documents; `array` makes the columns of `ObjectColumns`."""

    def __init__(self) -> None:
        """Nothing is collected yet."""
        self._ids: list[bytes] = []
        self._boxes: list[bytes] = []
        self._labels: list[str] = []
        self._ignores: list[bool] = []

    def __len__(self) -> int:
        """Number of boxes."""
        return len(self._labels)

    @property
    def numbers(self) -> int:
        """Number of coordinates."""
        return NUMBERS_OF_BOX * len(self)

    def extend(self, document: BoxDocument, labels: list[str], ignores: Iterable[bool]) -> None:
        """Take the boxes of a document, with their labels by names."""
        self._ids.append(document.ids)
        self._boxes.append(document.boxes)
        self._labels += labels
        self._ignores += ignores

    def array(self) -> pa.StructArray:
        """Return the boxes in the order in which they came."""
        count, data = len(self), b"".join(self._boxes)
        x, y, width, height = np.frombuffer(data, "<f8").reshape(-1, NUMBERS_OF_BOX).T
        ids = [None, pa.py_buffer(b"".join(self._ids))]
        ends = np.arange(count + 1, dtype="<i4")
        geometry = [None, pa.py_buffer(BOX_BYTES * ends), pa.py_buffer(data)]
        columns = {
            "id": pa.Array.from_buffers(OBJECT_TYPE.field("id").type, count, ids),
            "label": pa.array(self._labels, pa.string()),
            "kind": pa.repeat(BOX, count),
            "x": pa.array(x),
            "y": pa.array(y),
            "width": pa.array(width),
            "height": pa.array(height),
            "area": pa.array(width * height),
            "geometry": pa.Array.from_buffers(pa.binary(), count, geometry),
            # Boxes have no rings, which is a list of none.
            "sizes": pa.ListArray.from_arrays(np.zeros(count + 1, "<i4"), pa.array([], pa.int32())),
            "ignore": pa.array(self._ignores, pa.bool_()),
        }
        arrays = [columns.get(it.name, pa.nulls(count, it.type)) for it in OBJECT_TYPE]
        return pa.StructArray.from_arrays(arrays, fields=list(OBJECT_TYPE))
