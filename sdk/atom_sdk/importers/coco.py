"""COCO instances: one JSON file a split, with `images`, `annotations` and `categories`."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from atom_sdk.importers.downloads import Downloads
from atom_sdk.importers.errors import AnnotationsUnreadableError, FormatUnknownError
from atom_sdk.importers.items import Item
from atom_sdk.importers.lookup import Pictures
from atom_sdk.importers.names import NameRefusedError, normalised, split_in, split_of
from atom_sdk.importers.objects import (
    PIXEL,
    AnnotatedObject,
    ObjectRefusedError,
    as_attributes,
    box_around,
    checked_box,
    checked_label,
    checked_polygon,
)
from atom_sdk.importers.read_options import Reading
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree

_HEAD_BYTES = 4096
_KEYS = re.compile(rb'"(images|categories|annotations|licenses)"\s*:\s*\[')
_MAX_SIDE_PX = 1 << 31
_OTHER_TASKS = ("captions_", "person_keypoints_", "image_info_", "stuff_", "panoptic_")


def detect(tree: Tree) -> str | None:
    """Say why the tree is COCO, None if it is not."""
    found = _annotation_files(tree)
    return f"{found[0]} has the lists of a COCO file" if found else None


def read(tree: Tree, report: Report, reading: Reading) -> Iterator[Item]:
    """Yield the images with their objects.

    An image that is not in the tree is downloaded from its `coco_url`. Raises
    AnnotationsUnreadableError, FormatUnknownError.
    """
    files = _annotation_files(tree)
    if not files:
        raise FormatUnknownError(f"{tree.name} has no JSON file with COCO's lists.")
    pictures = Pictures(tree.images())
    taken: set[str] = set()
    for path in files:
        reader = _Reader(tree, report, reading.downloads, pictures)
        for item in reader.items(path):
            if item.path in taken:
                report.skip(item.path, "two annotation files name it; the first counts")
                continue
            taken.add(item.path)
            yield item
    for picture in tree.images():
        if picture not in taken:
            report.skip(picture, "no annotation names it")


def _annotation_files(tree: Tree) -> list[str]:
    found = [path for path in tree.with_suffix(".json") if _looks_right(tree, path)]
    names = {path: path.rpartition("/")[2] for path in found}
    instances = [path for path in found if not names[path].startswith(_OTHER_TASKS)]
    return instances


def _looks_right(tree: Tree, path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    if name.startswith("instances_") or name == "_annotations.coco.json":
        return True
    with tree.files[path].open() as stream:
        return bool(_KEYS.search(stream.read(_HEAD_BYTES)))


class _Reader:
    """Reads one annotation file."""

    def __init__(
        self, tree: Tree, report: Report, downloads: Downloads, pictures: Pictures
    ) -> None:
        self._tree = tree
        self._report = report
        self._downloads = downloads
        self._pictures = pictures

    def items(self, path: str) -> Iterator[Item]:
        """Yield the images of one file."""
        document = _document(self._tree.read_annotations(path, self._report), path)
        classes = {
            row.get("id"): str(row["name"])
            for row in _rows(document, "categories", path)
            if row.get("name")
        }
        images = self._once(_rows(document, "images", path), path)
        known = {row["id"] for row in images if row.get("id") is not None}
        objects: defaultdict[Any, list[AnnotatedObject]] = defaultdict(list)
        for row in _rows(document, "annotations", path):
            named = f"{path}: annotation {row.get('id')}"
            if row.get("image_id") not in known:
                self._report.skip(named, "its image is not in the file")
                continue
            try:
                objects[row["image_id"]].append(_object(row, classes))
            except ObjectRefusedError as refused:
                self._report.skip(named, str(refused))
        self._fetch_missing(images)
        name = path.rpartition("/")[2].removesuffix(".json")
        subset = name.rpartition("_")[2]
        split = split_of(subset) or split_of(name) or split_in(path)
        for row in images:
            item = self._item(row, objects.get(row.get("id"), []), split, (path, subset))
            if item is not None:
                yield item

    def _once(self, images: list[Mapping[str, Any]], path: str) -> list[Mapping[str, Any]]:
        """Images whose annotations are theirs alone."""
        found: dict[Any, Mapping[str, Any]] = {}
        for number, row in enumerate(images):
            key = row.get("id")
            if key is not None and key in found:
                name = f"{path}: image {row.get('file_name')!r}"
                self._report.skip(name, "another image has the same id; the first counts")
            else:
                found[("no id", number) if key is None else key] = row
        return list(found.values())

    def _fetch_missing(self, images: list[Mapping[str, Any]]) -> None:
        """Download several at once; what is wrong with a name is said later."""
        missing = []
        for row in images:
            with suppress(NameRefusedError):
                if self._pictures.find(str(row.get("file_name") or "")) is None:
                    missing.append(row.get("coco_url"))
        self._downloads.fetch_all(url for url in missing if isinstance(url, str) and url)

    def _item(
        self,
        row: Mapping[str, Any],
        objects: list[AnnotatedObject],
        split: str | None,
        origin: tuple[str, str],
    ) -> Item | None:
        path, subset = origin
        name, url = str(row.get("file_name") or ""), row.get("coco_url")
        folder = path.rpartition("/")[0]
        try:
            found = self._pictures.find(name, subset) or self._pictures.find(
                name, folder.rpartition("/")[2]
            )
            where = found or f"{subset}/{normalised(name)}"
        except NameRefusedError as refused:
            self._report.skip(f"{path}: image {name!r}", str(refused))
            return None
        if found is not None:
            blob = self._tree.files[found]
        elif isinstance(url, str) and url:
            fetched = self._downloads.fetch(url)
            if fetched is None:
                self._report.skip(*self._downloads.refusal(url))
                return None
            blob = fetched
        else:
            self._report.skip(name, "there is no such picture, and no coco_url")
            return None
        attributes, lost = as_attributes(objects, PIXEL)
        if lost:
            self._report.skip(where, lost)
        sizes = {key: row[key] for key in ("width", "height") if _is_side(row.get(key))}
        return Item(
            where,
            blob,
            split=split,
            attributes=attributes | sizes,
            objects=attributes.get("object_counts", {}),
        )


def _is_side(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MAX_SIDE_PX


def _document(data: bytes, path: str) -> Mapping[str, Any]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise AnnotationsUnreadableError(f"{path} is not JSON: {error}.") from error
    if not isinstance(document, dict):
        raise AnnotationsUnreadableError(f"{path} is no COCO file: it must be a JSON object.")
    return document


def _rows(document: Mapping[str, Any], name: str, path: str) -> list[Mapping[str, Any]]:
    rows = document.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise AnnotationsUnreadableError(f"{path}: {name} must be a list of objects.")
    for row in rows:
        for key in ("id", "image_id", "category_id"):
            if isinstance(row.get(key), (list, dict)):
                raise AnnotationsUnreadableError(f"{path}: an id in {name} is no number or text.")
    return rows


def _object(row: Mapping[str, Any], classes: Mapping[Any, str]) -> AnnotatedObject:
    label = classes.get(row.get("category_id"))
    if label is None:
        raise ObjectRefusedError("its category is not in the file")
    shapes = row.get("segmentation")
    # Crowds are run lengths, not polygons; their box is kept.
    polygons = tuple(map(checked_polygon, shapes)) if isinstance(shapes, list) else ()
    flags = {"crowd": True} if row.get("iscrowd") else {}
    box = row.get("bbox")
    if not isinstance(box, list) and polygons:
        box = box_around([number for polygon in polygons for number in polygon])
    if not isinstance(box, (list, tuple)):
        raise ObjectRefusedError("it has neither a box nor polygons")
    return AnnotatedObject(checked_label(label), checked_box(box), polygons, flags)
