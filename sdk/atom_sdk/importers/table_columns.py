"""The meaning of the columns of a CSV, by their names: files, labels, splits, boxes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

URL = ("url", "image_url", "coco_url")
PATH = (
    *("path", "file_path", "filepath", "file_name", "filename", "file", "fname"),
    *("image_path", "img_path", "image_file", "image_filename", "image_name", "img_name"),
    *("imagename", "image", "img", "picture", "photo", "audio", "video"),
)
# Names that mean a file only where its name, without the ending, is in the column.
IDS = ("image_id", "imageid", "image id", "img_id", "id_code", "id", "uuid")
LABEL = (
    *("label", "class", "category", "class_name", "classname", "category_name", "labelname"),
    *("label_name", "labels", "target", "diagnosis", "species", "breed"),
)
SPLIT = ("split", "subset", "set")
ATTRIBUTES = "attributes"
CORNERS, SIZE, CENTER, LIST = "corners", "size", "center", "list"
_BOX_SETS: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    CORNERS: (
        ("xmin", "ymin", "xmax", "ymax"),
        ("x_min", "y_min", "x_max", "y_max"),
        ("bbox_xmin", "bbox_ymin", "bbox_xmax", "bbox_ymax"),
        ("x1", "y1", "x2", "y2"),
        ("x0", "y0", "x1", "y1"),
        ("left", "top", "right", "bottom"),
    ),
    CENTER: (
        ("x_center", "y_center", "width", "height"),
        ("x_center", "y_center", "w", "h"),
        ("center_x", "center_y", "width", "height"),
        ("cx", "cy", "w", "h"),
        ("xc", "yc", "w", "h"),
    ),
    SIZE: (
        ("x", "y", "w", "h"),
        ("bbox_x", "bbox_y", "bbox_width", "bbox_height"),
        ("bbox_x", "bbox_y", "bbox_w", "bbox_h"),
        ("left", "top", "width", "height"),
        ("xmin", "ymin", "width", "height"),
        ("x_min", "y_min", "width", "height"),
        ("x", "y", "width", "height"),
    ),
}
_BOX_LISTS = ("bbox", "box")
_PICTURE_SIDES = {"width": "width", "height": "height"}
_FLAGS = {
    "isoccluded": "occluded",
    "occluded": "occluded",
    "istruncated": "truncated",
    "truncated": "truncated",
    "isgroupof": "group",
    "isdepiction": "depiction",
    "isinside": "inside",
    "iscrowd": "crowd",
    "difficult": "difficult",
}
# A column of one of these alone is half of a box.
_PARTS = frozenset(
    name
    for sets in _BOX_SETS.values()
    for names in sets
    for name in names
    if name not in ("x", "y", "w", "h", "left", "top", "right", "bottom", *_PICTURE_SIDES)
)


class ColumnsRefusedError(ValueError):
    """Columns that can be read in more than one way; the text says which, and what to do."""


@dataclass(frozen=True, slots=True)
class BoxColumns:
    """The columns of a box: four numbers, or one cell with a list of four.

    `flags` are columns of truth values, by column the name that objects have in attributes.
    """

    kind: str
    names: tuple[str, ...]
    flags: dict[str, str]


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns by meaning, None for a meaning that no column has; `rest` are all others."""

    url: str | None
    paths: tuple[str, ...]
    label: str | None
    split: str | None
    box: BoxColumns | None
    rest: tuple[str, ...]


def columns_of(header: Sequence[str]) -> Columns:
    """Return the meaning of a header in lower case. Raises ColumnsRefusedError."""
    names = set(header)
    box = _box(names)
    label = _first(LABEL, names)
    if box is not None and label is None:
        raise ColumnsRefusedError(
            "its boxes have no class: name the column of their class `label` or `class`"
        )
    url, split = _first(URL, names), _first(SPLIT, names)
    paths = tuple(name for name in (*PATH, *IDS) if name in names)
    taken = {url, label, split, ATTRIBUTES, ""} | (
        set(box.names) | set(box.flags) if box else set()
    )
    rest = tuple(name for name in header if name not in taken)
    return Columns(url, paths, label, split, box, rest)


def has_boxes(header: Sequence[str]) -> bool:
    """Whether a table has one line a box, so that a file may have several."""
    try:
        return columns_of([name.strip().lower() for name in header]).box is not None
    except ColumnsRefusedError:
        return False


def _first(names: Sequence[str], present: Collection[str]) -> str | None:
    return next((name for name in names if name in present), None)


def _box(present: set[str]) -> BoxColumns | None:
    whole = [
        (kind, names)
        for kind, sets in _BOX_SETS.items()
        for names in sets
        if present.issuperset(names)
    ]
    lists = [(LIST, (name,)) for name in _BOX_LISTS if name in present]
    found = [*_distinct(whole), *lists]
    if len(found) > 1:
        ways = " or ".join("/".join(names) for _, names in found)
        raise ColumnsRefusedError(f"its boxes are {ways}: remove the columns that do not count")
    if not found:
        if parts := sorted(present & _PARTS):
            raise ColumnsRefusedError(
                f"a box needs four columns such as xmin, ymin, xmax, ymax; "
                f"it has {', '.join(parts)}"
            )
        return None
    kind, names = found[0]
    return BoxColumns(kind, names, {name: flag for name, flag in _FLAGS.items() if name in present})


def _distinct(
    whole: Sequence[tuple[str, tuple[str, str, str, str]]],
) -> list[tuple[str, tuple[str, ...]]]:
    """Sets of columns that do not share an edge: beside corners, width is of the picture."""
    kept: list[tuple[str, tuple[str, ...]]] = []
    for kind, names in whole:
        if not any(set(names[:2]) & set(others) for _, others in kept):
            kept.append((kind, names))
    return kept
