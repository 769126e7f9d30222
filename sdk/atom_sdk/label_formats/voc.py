"""Pascal VOC: an XML file a picture; boxes in whole pixels, counted from 1, ends included.

A file with a coordinate 0 counts from 0, and its numbers are edges, as CVAT and others write them.
`difficult` is an ignore region: VOC's own measure leaves such objects out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from atom_sdk.annotations.geometry import Box
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.annotations.ontology import Ontology
from atom_sdk.importers.errors import AnnotationsUnreadableError
from atom_sdk.importers.lookup import Pictures
from atom_sdk.importers.names import split_in, split_of
from atom_sdk.importers.report import Report
from atom_sdk.importers.split_lists import SplitLists
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats import values
from atom_sdk.label_formats.ability import Ability, as_itself
from atom_sdk.label_formats.interface import LabelledPicture, Reading, WriteChoices, Writing
from atom_sdk.label_formats.lists import SplitFiles
from atom_sdk.label_formats.pictures import resolve
from atom_sdk.label_formats.texts import text_of, xml_text
from atom_sdk.label_formats.voc_objects import ObjectReader
from atom_sdk.label_formats.xml_nodes import Node
from atom_sdk.label_formats.xml_stream import elements

_HEAD_BYTES = 2048
_ROOT = re.compile(rb"<annotation[\s>]")
_LISTS = re.compile(r"(^|/)ImageSets/(Main|[^/]+)/(?P<name>[^/]+)\.txt$")
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_FLAGS = ("truncated", "occluded")
_TOP = frozenset({"filename", "size", "object", "folder", "path"})


def detect(tree: Tree) -> str | None:
    """Say why the tree is VOC, None if it is not."""
    for path in tree.with_suffix(".xml")[:20]:
        with tree.files[path].open() as stream:
            if _ROOT.search(stream.read(_HEAD_BYTES)):
                return f"{path} begins as a VOC annotation"
    return None


def read(tree: Tree, reading: Reading) -> Iterator[LabelledPicture]:
    """Yield the pictures; a file that cannot be read is counted and left out."""
    splits = _splits(tree, reading)
    taken: set[str] = set()
    for path in tree.with_suffix(".xml"):
        try:
            with tree.files[path].open() as stream:
                nodes = list(elements(stream, "annotation", _TOP, path))
        except AnnotationsUnreadableError:
            reading.report.count("record_wrong", path)
            continue
        document = Node("annotation", children=nodes)
        picture = _picture(path, document, reading)
        if picture is None:
            continue
        if picture in taken:
            reading.report.count("picture_twice", path)
            continue
        size = _size(document) or reading.places.size(picture)
        if size is None:
            reading.report.count("size_unknown", path)
            continue
        taken.add(picture)
        reader = ObjectReader(reading.report, path, size, reading.choices.voc_origin)
        objects = reader.read(document, picture)
        split = splits.split(picture, split_in(picture))
        yield LabelledPicture(picture, NamedDocument(*size, objects=tuple(objects)), split)


def _picture(path: str, document: Node, reading: Reading) -> str | None:
    """The picture that has the file's own name, else the one that it names."""
    stem = re.sub(r"^(.*/)?Annotations/", "", path.removesuffix(".xml"), flags=re.IGNORECASE)
    try:
        own = reading.places.resolve_stem(stem)
    except Exception:
        own = None
    if own is not None:
        return own
    name = document.get("filename")
    folder = stem.rpartition("/")[0]
    name = f"{folder}/{name}" if folder and "/" not in name else name
    return resolve(reading.places, name, reading.report, path)


def _size(document: Node) -> tuple[int, int] | None:
    size = document.child("size")
    width, height = (values.side(size.get(n)) if size else 0 for n in ("width", "height"))
    return (width, height) if width and height else None


def _splits(tree: Tree, reading: Reading) -> SplitLists:
    lists = SplitLists(Pictures(reading.places.paths()), Report(tree.name))
    for path in tree.with_suffix(".txt"):
        match = _LISTS.search(path)
        split = split_of(match["name"]) if match else None
        if split is not None:
            lists.add(path, split, tree.read_text(path, Report(tree.name)))
    return lists


def ability(_ontology: Ontology, _choices: WriteChoices) -> Ability:
    """Return what VOC holds."""
    return Ability(
        kinds=as_itself("box", rotated_box="box", polygon="box", mask="box", keypoints="box"),
        labels=False,
        picture_attributes=False,
        lists=False,
        relations=False,
        texts=False,
        tracks=False,
        ids=False,
        media_shapes=False,
        cut=True,
        whole_pixels=True,
    )


def write(pictures: Iterable[LabelledPicture], writing: Writing) -> None:
    """Write `Annotations/….xml` for each picture, and lists below ImageSets/Main."""
    with SplitFiles(writing.folder / "ImageSets" / "Main", default="default") as lists:
        for picture in pictures:
            stem = stem_of(picture.path)
            lists.add(stem, picture.split)
            path = writing.folder / "Annotations" / f"{stem}.xml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_annotation(picture), encoding="utf-8")


def stem_of(path: str) -> str:
    """Return the path without its suffix."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.rpartition('.')[0] or name}"


def _annotation(picture: LabelledPicture) -> str:
    document = picture.document
    folder, _, name = picture.path.rpartition("/")
    lines = [
        "<annotation>",
        f"  <folder>{xml_text(folder)}</folder>",
        f"  <filename>{xml_text(name)}</filename>",
        "  <source><database>Atom</database></source>",
        f"  <size><width>{document.width}</width><height>{document.height}</height>"
        "<depth>3</depth></size>",
        "  <segmented>0</segmented>",
    ]
    for each in document.objects:
        lines += _object(each)
    return "\n".join([*lines, "</annotation>", ""])


def _object(each: NamedObject) -> Iterator[str]:
    assert isinstance(each.geometry, Box)
    box = each.geometry
    attributes: dict[str, Any] = dict(each.attributes)
    pose = attributes.pop("pose", None)
    flags = {name: attributes.pop(name) is True for name in _FLAGS if _is_flag(attributes, name)}
    yield "  <object>"
    yield f"    <name>{xml_text(each.label)}</name>"
    yield f"    <pose>{xml_text(pose if isinstance(pose, str) else 'Unspecified')}</pose>"
    for name in _FLAGS:
        yield f"    <{name}>{int(flags.get(name, False))}</{name}>"
    yield f"    <difficult>{int(each.ignore)}</difficult>"
    corners = (box.x + 1, box.y + 1, box.x + box.width, box.y + box.height)
    inner = "".join(f"<{n}>{int(v)}</{n}>" for n, v in zip(_CORNERS, corners, strict=True))
    yield f"    <bndbox>{inner}</bndbox>"
    if attributes:
        yield "    <attributes>"
        for name, value in attributes.items():
            text = f"<name>{xml_text(name)}</name><value>{xml_text(text_of(value))}</value>"
            yield f"      <attribute>{text}</attribute>"
        yield "    </attributes>"
    yield "  </object>"


def _is_flag(attributes: dict[str, Any], name: str) -> bool:
    return isinstance(attributes.get(name), bool)
