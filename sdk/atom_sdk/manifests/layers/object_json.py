"""Rows of a layer of objects as JSON: the shapes of a document, with names in the place of ids."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def object_json(row: Mapping[str, Any], size: tuple[int, int]) -> Json:
    """Return one object, a value of the layer's list; `size` is the picture's width and height."""
    found: Json = {"id": row["id"].hex(), "label": row["label"], "kind": row["kind"]}
    found |= geometry_json(row, size)
    if row["attributes"]:
        found["attributes"] = json.loads(row["attributes"])
    if row["ignore"]:
        found["ignore"] = True
    if row["text"] is not None:
        found["text"] = row["text"]
    if row["track_id"] is not None:
        found["track"] = row["track_id"].hex()
    return found


def geometry_json(row: Mapping[str, Any], size: tuple[int, int]) -> Json:
    """Return the fields of the object's kind."""
    kind = row["kind"]
    if kind == "mask":
        return {"rle": {"size": [size[1], size[0]], "counts": row["geometry"].decode("ascii")}}
    numbers = struct.unpack(f"<{len(row['geometry']) // 8}d", row["geometry"])
    if kind == "box":
        return {"box": list(numbers)}
    if kind == "rotated_box":
        return {"box": list(numbers[:4]), "angle": numbers[4]}
    if kind == "polygon":
        return {"parts": list(_parts(numbers, row["sizes"] or ()))}
    if kind == "keypoints":
        # Points have three numbers; four more are the box.
        end = len(numbers) - (4 if len(numbers) % 3 else 0)
        box = {"box": list(numbers[end:])} if end < len(numbers) else {}
        return {"points": list(numbers[:end])} | box
    return {"points": list(numbers)}


def relation_json(row: Mapping[str, Any]) -> Json:
    """Return one relation, a value of the layer's list."""
    return {
        "id": row["id"].hex(),
        "relation": row["name"],
        "from": row["subject"].hex(),
        "to": row["object"].hex(),
    }


def _parts(numbers: Sequence[float], sizes: Sequence[int]) -> Iterator[list[list[float]]]:
    at = start = 0
    while at < len(sizes):
        rings = []
        for points in sizes[at + 1 : at + 1 + sizes[at]]:
            rings.append(list(numbers[start : start + 2 * points]))
            start += 2 * points
        yield rings
        at += 1 + sizes[at]
