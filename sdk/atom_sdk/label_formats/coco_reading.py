"""COCO: `images`, `annotations` and `categories` of one or several JSON files.

A picture that several files name gets the objects of all of them: `instances_…` and
`person_keypoints_…` speak of the same pictures. Files are read as streams; annotations wait on the
disk until their picture is known, since files name both in any order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.importers.names import split_in, split_of
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats import values
from atom_sdk.label_formats.coco_objects import id_key, object_of, own_id, plain_attributes
from atom_sdk.label_formats.coco_shapes import Category, geometry_of
from atom_sdk.label_formats.interface import LabelledPicture, Reading
from atom_sdk.label_formats.json_stream import JsonStream
from atom_sdk.label_formats.pictures import resolve
from atom_sdk.label_formats.spool import Spool
from atom_sdk.label_formats.values import ValueRefusedError

_HEAD_BYTES = 1 << 16
_KEYS = re.compile(rb'"(images|categories|annotations)"\s*:\s*\[')
_OTHER_TASKS = ("captions_", "image_info_", "panoptic_")
_LISTS = frozenset({"images", "annotations", "categories"})
Row = Mapping[str, Any]


def detect(tree: Tree) -> str | None:
    """Say why the tree is COCO, None if it is not."""
    files = annotation_files(tree)
    return f"{files[0]} has the lists of a COCO file" if files else None


def annotation_files(tree: Tree) -> list[str]:
    """Return the JSON files that have COCO's lists and speak of objects."""
    return [
        path
        for path in tree.with_suffix(".json")
        if not path.rpartition("/")[2].startswith(_OTHER_TASKS) and _looks_right(tree, path)
    ]


def _looks_right(tree: Tree, path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    with tree.files[path].open() as stream:
        head = stream.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    named = name.startswith(("instances", "person_keypoints")) or "coco" in name
    return head.startswith(b"{") and (named or _KEYS.search(head) is not None)


def read(tree: Tree, reading: Reading) -> Iterator[LabelledPicture]:
    """Yield the pictures. Raises AnnotationsUnreadableError."""
    with Spool() as spool:
        reader = _Reader(reading, spool)
        for path in annotation_files(tree):
            with tree.files[path].open() as stream:
                reader.take(JsonStream(stream, path), path)
        reader.learn()
        for path, value, records in spool.grouped():
            yield reader.picture(path, value, records)
        reading.report.count("picture_missing", count=spool.orphans())


@dataclass
class _File:
    """One file: its categories by id, and the paths of its images by id."""

    path: str
    categories: dict[str, Category] = field(default_factory=dict)

    @property
    def split(self) -> str | None:
        name = self.path.rpartition("/")[2].removesuffix(".json")
        subset = name.rpartition("_")[2]
        return split_of(subset) or split_of(name) or split_in(self.path)

    @property
    def near(self) -> str:
        name = self.path.rpartition("/")[2].removesuffix(".json")
        return name.rpartition("_")[2]


class _Reader:
    def __init__(self, reading: Reading, spool: Spool) -> None:
        self._reading = reading
        self._report = reading.report
        self._spool = spool
        self._files: list[_File] = []

    def take(self, stream: JsonStream, path: str) -> None:
        """Read one file: its images and annotations go to the spool."""
        file = _File(path)
        self._files.append(file)
        place = len(self._files) - 1
        for name, row in stream.members(_LISTS):
            if name not in _LISTS:
                continue
            if not isinstance(row, dict):
                self._report.count("record_wrong", f"{path}: {name}")
            elif name == "images":
                self._take_image(row, file, place)
            elif name == "annotations":
                key = f"{place}:{id_key(row.get('image_id'))}"
                self._spool.add(key, json.dumps([place, row]))
            else:
                self._take_category(row, file)
        stream.end()

    def _take_category(self, row: Row, file: _File) -> None:
        try:
            name = values.class_name(row.get("name"))
        except ValueRefusedError:
            self._report.count("record_wrong", f"{file.path}: category {row.get('id')}")
            return
        points = row.get("keypoints")
        names = [str(point) for point in points] if isinstance(points, list) else []
        category = Category(name, str(row.get("supercategory") or ""), names, _edges(row))
        file.categories.setdefault(id_key(row.get("id")), category)

    def _take_image(self, row: Row, file: _File, place: int) -> None:
        name = str(row.get("file_name") or "")
        subject = f"{file.path}: image {name[:200]!r}"
        path = resolve(self._reading.places, name, self._report, subject, file.near)
        if path is None:
            return
        width, height = values.side(row.get("width")), values.side(row.get("height"))
        if not width or not height:
            width, height = self._reading.places.size(path) or (0, 0)
        if not width or not height:
            self._report.count("size_unknown", subject)
            return
        extra = row.get("atom") if isinstance(row.get("atom"), dict) else {}
        value = json.dumps([width, height, file.split, extra])
        if not self._spool.link(f"{place}:{id_key(row.get('id'))}", path, value):
            self._report.count("picture_twice", subject)

    def learn(self) -> None:
        """Note the categories of all files, also of those that no object has."""
        notes = self._reading.notes
        for file in self._files:
            names = {category.name for category in file.categories.values()}
            for category in file.categories.values():
                note = notes.label(category.name)
                note.points, note.edges = (
                    note.points or category.points,
                    note.edges or category.edges,
                )
                if category.parent in names - {category.name}:
                    note.parent = category.parent

    def picture(self, path: str, value: str, records: Iterable[str]) -> LabelledPicture:
        """Return a picture with its objects."""
        width, height, split, extra = json.loads(value)
        document = NamedDocument(width, height)
        objects: dict[str, NamedObject] = {}
        for record in records:
            place, row = json.loads(record)
            self._read_object(row, self._files[place], path, document, objects)
        labels = extra.get("labels")
        attributes = extra.get("attributes")
        whole = (
            plain_attributes(attributes, self._report, path) if isinstance(attributes, dict) else {}
        )
        document = replace(
            document,
            objects=tuple(objects.values()),
            labels=tuple(map(str, labels)) if isinstance(labels, list) else (),
            attributes=whole,
        )
        return LabelledPicture(path, document, split)

    def _read_object(
        self,
        row: Row,
        file: _File,
        path: str,
        document: NamedDocument,
        objects: dict[str, NamedObject],
    ) -> None:
        subject = f"{file.path}: annotation {str(row.get('id'))[:40]}"
        category = file.categories.get(id_key(row.get("category_id")))
        if category is None:
            self._report.count("class_unknown", subject)
            return
        size = document.width, document.height
        own = own_id(row, objects)
        if not own or own in objects:
            own = values.object_id(None, path, file.path, row.get("id"), len(objects))
        try:
            shape = geometry_of(row, category, size, self._report, subject)
        except ValueRefusedError as refused:
            self._report.count(refused.code, subject)
            return
        objects[own] = object_of(row, category.name, shape, own, self._report, subject)


def _edges(row: Row) -> list[list[int]]:
    """Edges of a skeleton; COCO counts its points from 1."""
    edges = row.get("skeleton")
    if not isinstance(edges, list):
        return []
    return [
        [edge[0] - 1, edge[1] - 1]
        for edge in edges
        if isinstance(edge, list) and len(edge) == 2 and all(type(end) is int for end in edge)
    ]
