"""Objects of a VOC file: what the format's reader gives, or the box where a shape is none."""

from __future__ import annotations

from functools import partial

from atom_sdk.annotations.naming import NamedObject
from atom_sdk.importers.annotated import ObjectList
from atom_sdk.importers.objects import ObjectRefusedError
from atom_sdk.label_formats import values
from atom_sdk.label_formats.picture_sizes import Size
from atom_sdk.label_formats.values import ValueRefusedError
from atom_sdk.label_formats.voc_objects import ObjectReader, object_nodes
from atom_sdk.label_formats.xml_nodes import Node

_MASKS = ("mask", "segm")


def count_objects(document: Node) -> ObjectList:
    """Return the objects of an annotation by their class alone, for a file without a picture."""
    objects = ObjectList()
    for node in object_nodes(document):
        objects.refuse("", "", node.get("name"))
    return objects


def read_objects(document: Node, path: str, picture: str, size: Size | None) -> ObjectList:
    """Return the objects of an annotation."""
    objects = ObjectList(size)
    reader = ObjectReader(objects.changes, path, size or (0, 0))
    nodes = object_nodes(document)
    origin = reader.origin_of(nodes)
    for number, node in enumerate(nodes, 1):
        subject, own = f"{path}, object {number}", values.object_id(None, picture, number)
        build = partial(_object, reader, node, origin, subject, own, objects)
        objects.read(subject, node.get("name"), build)
    return objects


def _object(
    reader: ObjectReader, node: Node, origin: int, subject: str, own: str, objects: ObjectList
) -> NamedObject:
    if not node.get("name"):
        raise ObjectRefusedError("it has no name or no box")
    if parts := sum(1 for _ in node.all("part")):
        objects.leave_out(subject, "part", "", parts)
    if any(node.child(name) is not None for name in _MASKS):
        objects.leave_out(subject, "mask", "")
    try:
        return reader.object(node, origin, subject, own)
    except ValueRefusedError as refused:
        kind = "polygon" if node.child("polygon") is not None else "rotated box"
        if kind != "polygon" and node.child("robndbox") is None:
            raise
        try:
            boxed = reader.boxed(node, origin, own)
        except ValueRefusedError:
            raise refused from None
        objects.leave_out(subject, kind, refused.reason)
        return boxed
