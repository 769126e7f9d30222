"""COCO instances: one JSON file a split, with `images`, `annotations` and `categories`."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from atom_sdk.importers.annotated import ObjectList
from atom_sdk.importers.coco_objects import class_of, read_object
from atom_sdk.importers.errors import AnnotationsUnreadableError, FormatUnknownError
from atom_sdk.importers.items import Blob, Item
from atom_sdk.importers.lookup import Pictures
from atom_sdk.importers.names import NameRefusedError, normalised, split_in, split_of
from atom_sdk.importers.objects import picture_size
from atom_sdk.importers.read_options import Reading
from atom_sdk.importers.report import Report
from atom_sdk.importers.sentences import file_not_json
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats import values
from atom_sdk.label_formats.coco_objects import id_key, own_id
from atom_sdk.label_formats.coco_shapes import Category
from atom_sdk.label_formats.picture_sizes import Size
from atom_sdk.sentences import Sentence

_HEAD_BYTES = 4096
_KEYS = re.compile(rb'"(images|categories|annotations|licenses)"\s*:\s*\[')
_KEYPOINTS = "person_keypoints_"
_OTHER_TASKS = ("captions_", _KEYPOINTS, "image_info_", "stuff_", "panoptic_")
_NOT_THERE = "there is no such picture, and no coco_url"

Row = Mapping[str, Any]


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
        raise FormatUnknownError(
            Sentence(
                "formats.no_coco", "{name} has no JSON file with COCO's lists.", name=tree.name
            )
        )
    reader = _Reader(tree, report, reading)
    for path in files:
        yield from reader.items(path)
    reader.finish()


def _annotation_files(tree: Tree) -> list[str]:
    """Files of instances; without any, those of keypoints, which have boxes as well."""
    names = {
        path: path.rpartition("/")[2]
        for path in tree.with_suffix(".json")
        if _looks_right(tree, path)
    }
    instances = [path for path, name in names.items() if not name.startswith(_OTHER_TASKS)]
    return instances or [path for path, name in names.items() if name.startswith(_KEYPOINTS)]


def _looks_right(tree: Tree, path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    if name.startswith("instances_") or name == "_annotations.coco.json":
        return True
    with tree.files[path].open() as stream:
        head = stream.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    # Label Studio's export is a list, whose rows have `annotations`.
    return head.startswith(b"{") and _KEYS.search(head) is not None


@dataclass(frozen=True)
class _Document:
    """One file: its images, each with the rows of its annotations, and the names of classes."""

    path: str
    images: list[Row]
    rows: Mapping[str, list[Row]]
    classes: Mapping[str, Category]

    @property
    def subset(self) -> str:
        """The last part of its name: `train2017` of `instances_train2017.json`."""
        return self.path.rpartition("/")[2].removesuffix(".json").rpartition("_")[2]

    @property
    def folder(self) -> str:
        """The name of the folder that it lies in."""
        return self.path.rpartition("/")[0].rpartition("/")[2]

    @property
    def split(self) -> str | None:
        """The split that its name or a folder above says."""
        name = self.path.rpartition("/")[2].removesuffix(".json")
        return split_of(self.subset) or split_of(name) or split_in(self.path)

    def rows_of(self, images: list[Row]) -> Iterator[Row]:
        """Yield the annotations of images."""
        for image in images:
            if (number := image.get("id")) is not None:
                yield from self.rows.get(id_key(number), [])

    def classes_in(self, images: list[Row]) -> ObjectList:
        """Return the objects of images by their class alone."""
        objects = ObjectList()
        for row in self.rows_of(images):
            objects.refuse("", "", class_of(row, self.classes))
        return objects

    def objects(self, images: list[Row], path: str, size: Size | None) -> ObjectList:
        """Return the objects of images that are the picture at a path."""
        objects = ObjectList(size)
        taken: set[str] = set()
        for row in self.rows_of(images):
            own = own_id(row, taken)
            if not own or own in taken:
                own = values.object_id(None, path, self.path, row.get("id"), len(taken))
            taken.add(own)
            name = f"{self.path}: annotation {row.get('id')}"
            build = partial(read_object, row, self.classes, own, objects, name)
            objects.read(name, class_of(row, self.classes), build)
        return objects


class _Reader:
    """Reads the annotation files of one tree."""

    def __init__(self, tree: Tree, report: Report, reading: Reading) -> None:
        self._tree = tree
        self._report = report
        self._downloads = reading.downloads
        self._pictures = Pictures(tree.images())
        # By path: a hash of the objects, to know a file that says the same again.
        self._taken: dict[str, int] = {}

    def items(self, path: str) -> Iterator[Item]:
        """Yield the images of one file."""
        document = self._document(path)
        self._fetch_missing(document)
        rows: dict[str, list[Row]] = {}
        for row in document.images:
            if (name := self._path_of(row, document)) is not None:
                rows.setdefault(name, []).append(row)
        for name, same in rows.items():
            if len(same) > 1:
                reason = "the file lists the picture twice; its objects are put together"
                self._report.skip(f"{path}: {name}", reason)
            item = self._item(name, same, document)
            if item is not None:
                yield item

    def finish(self) -> None:
        """Report the pictures that no annotation names."""
        for picture in self._tree.images():
            if picture not in self._taken:
                self._report.lose_picture(picture, "no annotation names it")
        self._pictures.add_to(self._report)

    def _document(self, path: str) -> _Document:
        document = _parsed(self._tree.read_annotations(path, self._report), path)
        classes = {
            id_key(row.get("id")): Category(str(row["name"]), points=_points(row))
            for row in _rows(document, "categories", path)
            if row.get("name")
        }
        images = self._once(_rows(document, "images", path), path)
        known = {id_key(row["id"]) for row in images if row.get("id") is not None}
        rows: defaultdict[str, list[Row]] = defaultdict(list)
        for row in _rows(document, "annotations", path):
            key = id_key(row.get("image_id"))
            if row.get("image_id") is not None and key in known:
                rows[key].append(row)
            else:
                name, reason = f"{path}: annotation {row.get('id')}", "its image is not in the file"
                self._report.lose_objects(name, reason, class_of(row, classes), orphaned=True)
        return _Document(path, images, rows, classes)

    def _once(self, images: list[Row], path: str) -> list[Row]:
        """Images whose annotations are theirs alone."""
        by_key: dict[Any, Row] = {}
        for number, row in enumerate(images):
            key = None if row.get("id") is None else id_key(row["id"])
            if key is not None and key in by_key:
                name = f"{path}: image {row.get('file_name')!r}"
                self._report.skip(name, "another image has the same id; the first counts")
            else:
                by_key[number if key is None else key] = row
        return list(by_key.values())

    def _fetch_missing(self, document: _Document) -> None:
        """Download several at once; what is wrong with a name is said later."""
        missing = []
        for row in document.images:
            with suppress(NameRefusedError):
                if self._picture(row, document, counts=False) is None:
                    missing.append(row.get("coco_url"))
        self._downloads.fetch_all(url for url in missing if isinstance(url, str) and url)

    def _picture(self, row: Row, document: _Document, *, counts: bool) -> str | None:
        """The picture of an image. Raises NameRefusedError."""
        name = str(row.get("file_name") or "")
        try:
            return self._pictures.find(name, document.subset, counts=counts)
        except NameRefusedError:
            return self._pictures.find(name, document.folder, counts=counts)

    def _path_of(self, row: Row, document: _Document) -> str | None:
        """The path that an image has in the version, None where it is lost and reported."""
        name = str(row.get("file_name") or "")
        try:
            picture = self._picture(row, document, counts=True)
            if picture is not None:
                return picture
            if isinstance(row.get("coco_url"), str) and row["coco_url"]:
                return f"{document.subset}/{normalised(name)}"
            reason, subject = _NOT_THERE, name
        except NameRefusedError as refused:
            reason, subject = str(refused), f"{document.path}: image {name!r}"
        document.classes_in([row]).orphan(subject, reason, self._report)
        return None

    def _item(self, path: str, images: list[Row], document: _Document) -> Item | None:
        blob = self._blob(path, images, document)
        if blob is None:
            return None
        objects = document.objects(images, path, picture_size(blob, images[0]))
        content = hash(tuple((one.label, one.geometry) for one in objects.objects))
        if path in self._taken:
            reason = "two annotation files name it; the first counts"
            if self._taken[path] == content:
                self._report.skip(path, reason)
            else:
                objects.lose(path, reason, self._report)
            return None
        self._taken[path] = content
        return objects.item(path, blob, self._report, document.split)

    def _blob(self, path: str, images: list[Row], document: _Document) -> Blob | None:
        if path in self._tree.files:
            return self._tree.files[path]
        url = str(images[0]["coco_url"])
        blob = self._downloads.fetch(url)
        if blob is None:
            objects = document.classes_in(images)
            objects.lose_with_picture(*self._downloads.refusal(url), self._report)
        return blob


def _points(row: Row) -> list[str]:
    """Names of a class's keypoints."""
    points = row.get("keypoints")
    return [str(point) for point in points] if isinstance(points, list) else []


def _parsed(data: bytes, path: str) -> Row:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise AnnotationsUnreadableError(file_not_json(path, error)) from error
    if not isinstance(document, dict):
        raise AnnotationsUnreadableError(
            Sentence(
                "formats.coco_no_object",
                "{path} is no COCO file: it must be a JSON object.",
                path=path,
            )
        )
    return document


def _rows(document: Row, name: str, path: str) -> list[Row]:
    rows = document.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise AnnotationsUnreadableError(
            Sentence(
                "formats.coco_no_list",
                "{path}: {name} must be a list of objects.",
                path=path,
                name=name,
            )
        )
    for row in rows:
        for key in ("id", "image_id", "category_id"):
            if isinstance(row.get(key), (list, dict)):
                raise AnnotationsUnreadableError(
                    Sentence(
                        "formats.coco_id",
                        "{path}: an id in {name} is no number or text.",
                        path=path,
                        name=name,
                    )
                )
    return rows
