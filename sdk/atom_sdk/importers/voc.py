"""Pascal VOC: an XML file a picture, and lists of the splits below ImageSets/Main."""

from __future__ import annotations

import re
from collections.abc import Iterator

from atom_sdk.importers.errors import FormatUnknownError
from atom_sdk.importers.items import Item, read_whole
from atom_sdk.importers.lookup import Pictures, name_parts
from atom_sdk.importers.names import NameRefusedError, split_in, split_of
from atom_sdk.importers.objects import picture_size
from atom_sdk.importers.report import Report
from atom_sdk.importers.split_lists import SplitLists
from atom_sdk.importers.trees import Tree
from atom_sdk.importers.voc_objects import count_objects, read_objects
from atom_sdk.importers.xml_documents import XmlRefusedError, parse_xml
from atom_sdk.label_formats.xml_nodes import Node
from atom_sdk.sentences import Sentence

_HEAD_BYTES = 2048
_ROOT = re.compile(rb"<annotation[\s>]")
_LISTS = re.compile(r"(^|/)ImageSets/(Main|[^/]+)/(?P<name>[^/]+)\.txt$")
_TRAINVAL = "trainval"
_MASKS = re.compile(r"(^|/)Segmentation(Class|Object)[^/]*/")


def detect(tree: Tree) -> str | None:
    """Say why the tree is VOC, None if it is not."""
    for path in tree.with_suffix(".xml")[:20]:
        with tree.files[path].open() as stream:
            if _ROOT.search(stream.read(_HEAD_BYTES)):
                return f"{path} begins as a VOC annotation"
    return None


def read(tree: Tree, report: Report) -> Iterator[Item]:
    """Yield the pictures with their objects. Raises FormatUnknownError."""
    files = tree.with_suffix(".xml")
    if not files:
        raise FormatUnknownError(
            Sentence("formats.no_xml", "{name} has no XML file.", name=tree.name)
        )
    reader = _Reader(tree, files, report)
    for path in files:
        item = reader.item(path)
        if item is not None:
            yield item
    reader.finish()


class _Reader:
    """Reads the annotations of one tree."""

    def __init__(self, tree: Tree, files: list[str], report: Report) -> None:
        self._tree = tree
        self._report = report
        self._masks = [path for path in tree.images() if _MASKS.search(path)]
        masks = set(self._masks)
        self._pictures = Pictures(path for path in tree.images() if path not in masks)
        self._lists = _split_lists(tree, self._pictures, report)
        self._stems = {_stem_below_annotations(path) for path in files}
        self._taken: set[str] = set()

    def item(self, path: str) -> Item | None:
        """Return the picture of one annotation, None where it is left out and reported."""
        data = read_whole(self._tree.files[path])
        try:
            document = parse_xml(data)
        except XmlRefusedError as refused:
            self._refuse(path, data, str(refused))
            return None
        if document.name != "annotation":
            self._report.skip(path, "it is XML and no annotation of VOC")
            return None
        objects = count_objects(document)
        try:
            picture = self._picture(path, document)
        except NameRefusedError as refused:
            objects.orphan(path, str(refused), self._report)
            return None
        if picture is None:
            objects.orphan(path, "there is no picture of its name", self._report)
            return None
        if picture in self._taken:
            reason = "another annotation names the same picture; the first counts"
            objects.lose(path, reason, self._report)
            return None
        self._taken.add(picture)
        return self._item(picture, path, document)

    def finish(self) -> None:
        """Report the pictures that no annotation names, and the masks."""
        for picture in self._tree.images():
            if picture not in self._taken and not _MASKS.search(picture):
                self._report.lose_picture(picture, "no annotation names it")
        for mask in self._masks:
            self._report.leave_out_shapes(mask, "mask")
        self._pictures.add_to(self._report)

    def _item(self, picture: str, path: str, document: Node) -> Item:
        split = self._lists.split(picture, split_in(picture))
        blob = self._tree.files[picture]
        size = picture_size(blob, _sides(document))
        objects = read_objects(document, path, picture, size)
        return objects.item(picture, blob, self._report, split)

    def _refuse(self, path: str, data: bytes, reason: str) -> None:
        """The objects are lost, and the picture with them if there is one of the file's name."""
        count = len(re.findall(rb"<object[\s>]", data))
        picture = self._by_stem(path)
        if picture is None or picture in self._taken:
            self._report.lose_objects(path, reason, "", count, orphaned=True)
        else:
            self._taken.add(picture)
            self._report.lose_picture(path, reason, {"": count} if count else None)

    def _picture(self, path: str, document: Node) -> str | None:
        """The picture of an annotation: what it names, else what has its own name.

        A name that was copied from another annotation is that one's: `d.xml` may say `c.png`
        though there is a `c.xml`. Raises NameRefusedError.
        """
        name = document.get("filename")
        own = _stem_below_annotations(path)
        parts = name_parts(name)
        stem = re.sub(r"\.\w+$", "", "/".join(parts))
        copied = stem != own and stem.rpartition("/")[2] != own.rpartition("/")[2]
        if copied and stem in self._stems and (picture := self._by_stem(path)) is not None:
            return picture
        folder, near = own.rpartition("/")[0], _folder_above(path, "annotations")
        beside = self._exact(f"{folder}/{parts[-1]}", near) if folder and parts else None
        # Some tools leave the name out, or write another ending than the picture has.
        return (
            beside
            or self._pictures.find(name, near)
            or self._by_stem(path)
            or self._pictures.find_stem(stem, near)
        )

    def _exact(self, name: str, near: str) -> str | None:
        try:
            picture = self._pictures.find(name, near, counts=False)
        except NameRefusedError:
            return None
        return picture if picture is not None and f"/{picture}".endswith(f"/{name}") else None

    def _by_stem(self, path: str) -> str | None:
        try:
            near = _folder_above(path, "annotations")
            return self._pictures.find_stem(_stem_below_annotations(path), near)
        except NameRefusedError:
            return None


def _stem_below_annotations(path: str) -> str:
    """`V/Annotations/sub/a.xml` is `sub/a`."""
    parts = path.removesuffix(".xml").split("/")
    places = [number for number, part in enumerate(parts) if part.lower() == "annotations"]
    return "/".join(parts[places[-1] + 1 :] if places else parts)


def _folder_above(path: str, folder: str) -> str:
    """`data/VOC2007/Annotations/a.xml` is of VOC2007; "" without a folder above."""
    parts = path.split("/")[:-1]
    places = [number for number, part in enumerate(parts) if part.lower() == folder]
    return parts[places[-1] - 1] if places and places[-1] else ""


def _split_lists(tree: Tree, pictures: Pictures, report: Report) -> SplitLists:
    """Read the lists that are called like a split; without them, those of single classes."""
    lists = SplitLists(pictures, report)
    files = {path: found for path in tree.with_suffix(".txt") if (found := _LISTS.search(path))}
    main = {path: found for path, found in files.items() if found[2] == "Main"} or files
    named = {path: split_of(found["name"]) for path, found in main.items()}
    if not any(named.values()):
        named = {path: split_of(found["name"].rpartition("_")[2]) for path, found in main.items()}
    for path, split in named.items():
        if split is not None:
            near = _folder_above(path, "imagesets")
            lists.add(path, split, tree.read_text(path, report), near)
    for path, found in main.items():
        if found["name"].lower() == _TRAINVAL:
            near = _folder_above(path, "imagesets")
            lists.add_rest(path, "train", tree.read_text(path, report), near)
    return lists


def _sides(document: Node) -> dict[str, str]:
    size = document.child("size")
    return {name: size.get(name) for name in ("width", "height")} if size else {}
