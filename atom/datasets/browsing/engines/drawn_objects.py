"""Objects of pictures as pages show them: a few in lists, all on the page of a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow.compute as pc

from atom_sdk.manifests.diff.diff import RootDiff
from atom_sdk.manifests.diff.object_diff import COUNTED, count_object_changes, object_changes
from atom_sdk.manifests.layers.object_json import object_json, relation_json
from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND, OBJECTS_LAYER

# Objects of one file in a list of files; changes of one file in a list of differences.
MAX_LISTED: Final = 100
# A document has no more, see the limits of annotations.
MAX_SHOWN: Final = 10_000
_TOLD = ("width", "height", "source", "source_model", "revision", "annotator", "agreement")
Row = Mapping[str, Any]


def listed(row: Row | None) -> dict[str, Any] | None:
    """Return the first objects of a file with their bounds; None for a file without a row."""
    return None if row is None else _annotations(row, row["objects"][:MAX_LISTED], _outline)


def shown(row: Row | None) -> dict[str, Any] | None:
    """Return all that is drawn on a file, with its geometry; None for a file without a row."""
    if row is None:
        return None
    size = row["width"], row["height"]
    found = _annotations(
        row, row["objects"][:MAX_SHOWN], lambda each: object_json(each, size) | _measures(each)
    )
    return found | {"relations": [relation_json(each) for each in row["relations"] or ()]}


def changed_objects(old: Row | None, new: Row | None) -> dict[str, Any] | None:
    """Return how the objects of a file differ, the first of them by name; None if they do not."""
    before, after = ([] if row is None else row["objects"] for row in (old, new))
    found = list(object_changes(before, after))
    if not found:
        return None
    counts = {kind: sum(each.change == kind for each in found) for kind in COUNTED}
    return counts | {
        "changes": [
            {
                "id": each.id.hex(),
                "change": each.change,
                "label": each.label,
                "kind": each.kind,
                "fields": list(each.fields),
            }
            for each in found[:MAX_LISTED]
        ]
    }


def sum_object_changes(diff: RootDiff) -> dict[str, int]:
    """Return how many objects two versions differ in, by kind of change."""
    sums = dict.fromkeys(COUNTED, 0)
    for part in diff.layers:
        if (part.name, part.kind) == (OBJECTS_LAYER, OBJECTS_KIND):
            table = count_object_changes(part)
            for kind in COUNTED:
                sums[kind] += pc.sum(table[kind]).as_py() or 0
    return sums


def _annotations(row: Row, objects: Sequence[Row], render: Any) -> dict[str, Any]:
    return {name: row[name] for name in _TOLD} | {
        "audit_state": row["audit_state"],
        "labels": row["labels"] or [],
        "attributes": json.loads(row["attributes"]) if row["attributes"] else {},
        "objects": [render(each) for each in objects],
        "objects_total": len(row["objects"]),
    }


def _outline(row: Row) -> dict[str, Any]:
    return {"id": row["id"].hex(), "label": row["label"], "kind": row["kind"]} | _measures(row)


def _measures(row: Row) -> dict[str, Any]:
    return {"bounds": [row[name] for name in ("x", "y", "width", "height")], "area": row["area"]}
