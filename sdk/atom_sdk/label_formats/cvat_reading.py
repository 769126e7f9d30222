"""CVAT for images 1.1: an XML file with an `<image>` for each picture, and `<meta>` before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.importers.names import split_of
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats import values
from atom_sdk.label_formats.cvat_shapes import OCCLUDED, shapes_of
from atom_sdk.label_formats.interface import LabelledPicture, Reading
from atom_sdk.label_formats.ontology_notes import AttributeNote
from atom_sdk.label_formats.pictures import resolve
from atom_sdk.label_formats.texts import attribute_value
from atom_sdk.label_formats.values import ValueRefusedError
from atom_sdk.label_formats.xml_nodes import Node
from atom_sdk.label_formats.xml_stream import elements

IGNORE = "ignore"
TYPES = {"select": "choice", "radio": "choice", "checkbox": "flag", "number": "number"}
_HEAD_BYTES = 1 << 13
_ROOT = re.compile(rb"<annotations[\s>]")


def detect(tree: Tree) -> str | None:
    """Say why the tree is CVAT's, None if it is not."""
    files = annotation_files(tree)
    return f"{files[0]} begins as annotations of CVAT" if files else None


def annotation_files(tree: Tree) -> list[str]:
    """Return the XML files that begin as CVAT's do."""
    files = []
    for path in tree.with_suffix(".xml"):
        with tree.files[path].open() as stream:
            if _ROOT.search(stream.read(_HEAD_BYTES)):
                files.append(path)
    return files


def read(tree: Tree, reading: Reading) -> Iterator[LabelledPicture]:
    """Yield the pictures. Raises AnnotationsUnreadableError."""
    taken: set[str] = set()
    for path in annotation_files(tree):
        meta = Meta()
        with tree.files[path].open() as stream:
            for node in elements(stream, "annotations", {"meta", "image", "track"}, path):
                if node.name == "meta":
                    meta.take(node, reading)
                elif node.name == "track":
                    reading.report.count("media_shapes_left_out", path)
                else:
                    yield from _image(node, meta, reading, path, taken)


@dataclass
class Meta:
    """Classes of a task: types of attributes, and names of skeleton points, by class."""

    types: dict[tuple[str, str], str] = field(default_factory=dict)
    points: dict[str, list[str]] = field(default_factory=dict)

    def take(self, node: Node, reading: Reading) -> None:
        """Learn of `<labels>`, wherever they stand below `<task>`, `<project>` or `<job>`."""
        for labels in _below(node, "labels"):
            for label in labels.all("label"):
                name, parent = label.get("name"), label.get("parent")
                if parent:
                    self.points.setdefault(parent, []).append(name)
                elif name:
                    self._label(name, label, reading)
        for name, points in self.points.items():
            reading.notes.label(name).points = points

    def _label(self, name: str, label: Node, reading: Reading) -> None:
        note = reading.notes.label(name)
        color = label.get("color")
        if re.fullmatch(r"#[0-9a-fA-F]{6}", color):
            note.color = color.lower()
        group = label.child("attributes")
        for attribute in group.all("attribute") if group else ():
            own = attribute.get("name")
            kind = TYPES.get(attribute.get("input_type"), "text")
            self.types[name, own] = kind
            if own == IGNORE and kind == "flag":
                continue
            known = note.attributes.setdefault(own, AttributeNote())
            known.kind = kind
            if kind == "choice":
                lines = attribute.get("values").splitlines()
                known.choices.update(dict.fromkeys(line.strip() for line in lines if line.strip()))


def _below(node: Node, name: str) -> Iterator[Node]:
    for child in node.children:
        if child.name == name:
            yield child
        else:
            yield from _below(child, name)


def _image(
    node: Node, meta: Meta, reading: Reading, path: str, taken: set[str]
) -> Iterator[LabelledPicture]:
    name = node.attributes.get("name", "")
    subject = f"{path}: image {name[:200]!r}"
    subset = node.attributes.get("subset", "")
    picture = resolve(reading.places, name, reading.report, subject, subset)
    if picture is None:
        return
    if picture in taken:
        reading.report.count("picture_twice", subject)
        return
    sides = (values.side(node.attributes.get(key)) for key in ("width", "height"))
    width, height = sides
    if not (width and height):
        size = reading.places.size(picture)
        if size is None:
            reading.report.count("size_unknown", subject)
            return
        width, height = size
    taken.add(picture)
    image = _Image(meta, reading, picture, width, height)
    yield LabelledPicture(picture, image.document(node, subject), split_of(subset))


class _Image:
    """Reads the shapes of one image."""

    def __init__(self, meta: Meta, reading: Reading, picture: str, width: int, height: int) -> None:
        self._meta = meta
        self._report = reading.report
        self._picture = picture
        self._width, self._height = width, height
        self._count = 0

    def document(self, node: Node, subject: str) -> NamedDocument:
        """Return the picture's document: shapes by their z-order, tags as classes."""
        labels: list[str] = []
        placed: list[tuple[float, NamedObject]] = []
        for number, child in enumerate(node.children, 1):
            where = f"{subject}, {child.name} {number}"
            try:
                if child.name == "tag":
                    labels.append(values.class_name(child.attributes.get("label")))
                    attributes = len(list(child.all("attribute")))
                    self._report.count("picture_attributes_left_out", where, attributes)
                else:
                    z = values.number(child.attributes.get("z_order", "0"))
                    placed += [(z, each) for each in self._objects(child, where)]
            except ValueRefusedError as refused:
                self._report.count(refused.code, where)
        placed.sort(key=lambda pair: pair[0])
        objects = tuple(each for _, each in placed)
        names = tuple(dict.fromkeys(labels))
        return NamedDocument(self._width, self._height, labels=names, objects=objects)

    def _objects(self, node: Node, where: str) -> Iterator[NamedObject]:
        shapes = list(
            shapes_of(node, self._meta.points, (self._width, self._height), self._report, where)
        )
        if len(shapes) > 1:
            self._report.count("points_as_objects", where)
        label = values.class_name(node.attributes.get("label"))
        attributes = self._attributes(node, label)
        ignore = attributes.pop(IGNORE, False) is True
        for shape in shapes:
            self._count += 1
            own = values.object_id(None, self._picture, self._count)
            placed = values.placed(shape, self._width, self._height)
            yield NamedObject(own, label, placed, dict(attributes), ignore)

    def _attributes(self, node: Node, label: str) -> dict[str, Any]:
        attributes: dict[str, Any] = {}
        if node.attributes.get(OCCLUDED) == "1":
            attributes[OCCLUDED] = True
        group = node.attributes.get("group_id", "")
        if group.isdecimal() and group != "0":
            attributes["group_id"] = int(group[:15])
        for child in node.all("attribute"):
            name = child.attributes.get("name", "")
            value = self._value(self._meta.types.get((label, name), ""), child.text)
            if name and value is not None:
                attributes[name] = value
        return attributes

    def _value(self, kind: str, text: str) -> Any:
        """A value of the type that the task declares; None for no value."""
        if kind == "flag":
            return text.strip().lower() == "true"
        if kind == "number":
            try:
                number = values.number(text)
            except ValueRefusedError:
                self._report.count("value_wrong", self._picture)
                return None
            return int(number) if number == int(number) else number
        if kind in ("choice", "text"):
            # A select without a choice is empty in CVAT's file.
            return text if text or kind == "text" else None
        return attribute_value(text) if text else None
