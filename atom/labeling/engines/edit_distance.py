"""The distance of an answer from the pre-label that it began with. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

KEPT: Final = "kept"
RESHAPED: Final = "reshaped"
RELABELLED: Final = "relabelled"
ADDED: Final = "added"
REMOVED: Final = "removed"
COUNTS: Final = (KEPT, RESHAPED, RELABELLED, ADDED, REMOVED)

# Everything else of an object is its shape, in pixels of the picture.
_MEANING: Final = frozenset({"label", "attributes", "ignore", "text", "track"})


def pre_label_edits(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, int] | None:
    """Return how many labels a person kept, changed, added and removed, by the names of `COUNTS`.

    Both are canonical documents of version 2. A label is an object, by its id, or a class of the
    picture. An object whose class or attributes changed counts as relabelled, moved or not.
    Documents of pictures with other sides cannot be compared: None.
    """
    if any(before.get(side) != after.get(side) for side in ("width", "height")):
        return None
    old, new = _labels(before), _labels(after)
    counts = dict.fromkeys(COUNTS, 0)
    for key in old.keys() | new.keys():
        counts[_change(old.get(key), new.get(key))] += 1
    return counts


def _labels(document: Mapping[str, Any]) -> dict[tuple[str, Any], Mapping[str, Any]]:
    objects = {("object", shape["id"]): shape for shape in document.get("objects", [])}
    classes = {("class", label): {"label": label} for label in document.get("labels", [])}
    return {**objects, **classes}


def _change(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str:
    if old is None:
        return ADDED
    if new is None:
        return REMOVED
    if old == new:
        return KEPT
    return RELABELLED if _meaning(old) != _meaning(new) else RESHAPED


def _meaning(label: Mapping[str, Any]) -> dict[str, Any]:
    return {name: label[name] for name in _MEANING & label.keys()}
