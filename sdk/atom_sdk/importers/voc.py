"""Pascal VOC: an XML file a picture, and lists of the splits below ImageSets/Main."""

from __future__ import annotations

from collections.abc import Iterator

from atom_sdk.importers.errors import FormatUnknownError
from atom_sdk.importers.items import Item, read_whole
from atom_sdk.importers.lookup import Pictures
from atom_sdk.importers.names import NameRefusedError, split_in, split_of
from atom_sdk.importers.objects import (
    PIXEL,
    AnnotatedObject,
    ObjectRefusedError,
    as_attributes,
    checked_box,
    checked_number,
)
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree
from atom_sdk.importers.xml_documents import Element, XmlRefusedError, parse_xml

_HEAD_BYTES = 2048
_LISTS = "ImageSets/Main"
_FLAGS = ("difficult", "truncated", "occluded")


def detect(tree: Tree) -> str | None:
    """Say why the tree is VOC, None if it is not."""
    for path in tree.with_suffix(".xml")[:20]:
        with tree.files[path].open() as stream:
            if b"<annotation" in stream.read(_HEAD_BYTES):
                return f"{path} begins as a VOC annotation"
    return None


def read(tree: Tree, report: Report) -> Iterator[Item]:
    """Yield the pictures with their objects. Raises FormatUnknownError."""
    files = tree.with_suffix(".xml")
    if not files:
        raise FormatUnknownError(f"{tree.name} has no XML file.")
    pictures = Pictures(tree.images())
    splits = _splits(tree, report)
    taken: set[str] = set()
    for path in files:
        item = _item(tree, path, pictures, splits, report)
        if item is None:
            continue
        if item.path in taken:
            report.skip(path, "another annotation names the same picture; the first counts")
            continue
        taken.add(item.path)
        yield item
    for picture in tree.images():
        if picture not in taken and "/SegmentationClass/" not in f"/{picture}":
            report.skip(picture, "no annotation names it")


def _splits(tree: Tree, report: Report) -> dict[str, str]:
    """The split of each picture's stem, of the lists that are called like one."""
    found: dict[str, str] = {}
    for path in tree.with_suffix(".txt"):
        folder, _, name = path.rpartition("/")
        split = split_of(name.removesuffix(".txt"))
        if split is None or not folder.endswith(_LISTS):
            continue
        for line in tree.read_text(path, report).splitlines():
            if line.split():
                found.setdefault(line.split()[0], split)
    return found


def _item(
    tree: Tree, path: str, pictures: Pictures, splits: dict[str, str], report: Report
) -> Item | None:
    try:
        document = parse_xml(read_whole(tree.files[path]))
        stem = path.rpartition("/")[2].removesuffix(".xml")
        found = _picture(document, stem, pictures)
    except (XmlRefusedError, NameRefusedError) as refused:
        report.skip(path, str(refused))
        return None
    if found is None:
        report.skip(path, "there is no picture of its name")
        return None
    objects = _objects(document, path, report)
    attributes, lost = as_attributes(objects, PIXEL)
    if lost:
        report.skip(found, lost)
    split = splits.get(stem) or split_in(found)
    return Item(
        found,
        tree.files[found],
        split=split,
        attributes=attributes | _size(document),
        objects=attributes.get("object_counts", {}),
    )


def _picture(document: Element, stem: str, pictures: Pictures) -> str | None:
    name = document.get("filename")
    if name and (found := pictures.find(name)) is not None:
        return found
    # Some tools leave the name out, or its ending.
    for suffix in (".jpg", ".jpeg", ".png", ".JPG", ".JPEG", ".PNG", ".bmp"):
        if (found := pictures.find(stem + suffix)) is not None:
            return found
    return None


def _objects(document: Element, path: str, report: Report) -> list[AnnotatedObject]:
    objects = []
    found = (child for child in document.children if child.name == "object")
    for number, element in enumerate(found, 1):
        try:
            objects.append(_object(element))
        except ObjectRefusedError as refused:
            report.skip(f"{path}, object {number}", str(refused))
    return objects


def _object(element: Element) -> AnnotatedObject:
    label, box = element.get("name"), element.child("bndbox")
    if not label or box is None:
        raise ObjectRefusedError("it has no name or no box")
    left, top, right, bottom = (
        checked_number(box.get(name)) for name in ("xmin", "ymin", "xmax", "ymax")
    )
    flags = {name: True for name in _FLAGS if element.get(name) == "1"}
    return AnnotatedObject(label, checked_box((left, top, right - left, bottom - top)), (), flags)


def _size(document: Element) -> dict[str, int]:
    size = document.child("size")
    found = {name: size.get(name) for name in ("width", "height")} if size else {}
    return {name: int(text) for name, text in found.items() if text.isdecimal() and len(text) < 10}
