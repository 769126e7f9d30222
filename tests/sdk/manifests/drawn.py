"""Rows of `objects` layers as tests write them: short, with the true bytes of geometries."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from atom_sdk.manifests import layer_table
from atom_sdk.manifests.objects import digest_of

Drawn = dict[str, Any]


def object_id(name: str) -> bytes:
    return digest_of(name.encode())[:8]


def box(
    name: str,
    label: str = "car",
    at: Sequence[float] = (10.0, 20.0, 30.0, 40.0),
    **others: Any,
) -> Drawn:
    """One box; `name` makes its id."""
    x, y, width, height = at
    return {
        "id": object_id(name),
        "label": label,
        "kind": "box",
        "x": x,
        "y": y,
        "width": width,
        "height": height,
        "area": width * height,
        "geometry": struct.pack("<4d", *at),
        "sizes": [],
        "ignore": False,
    } | others


def bytes_of(path: str) -> bytes:
    return digest_of(path.encode())


def picture(path: str, *objects: Drawn, **others: Any) -> Drawn:
    """The row of one picture."""
    return {
        "path": path,
        "digest": bytes_of(path),
        "width": 640,
        "height": 480,
        "objects": list(objects),
        "labels": [],
        "relations": [],
        "source": "human",
    } | others


def drawn(*pictures: Drawn) -> pa.Table:
    """A table of the layer."""
    return layer_table("objects", pictures)


def names_of(row: Drawn) -> list[bytes]:
    return [each["id"] for each in row["objects"]]
