"""YOLO: a text file a picture, an object a line. See yolo_lines of the label formats for lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice

from atom_sdk.annotations.naming import NamedObject
from atom_sdk.importers.annotated import ObjectList
from atom_sdk.importers.errors import YoloTaskUnknownError
from atom_sdk.importers.items import Item, read_whole
from atom_sdk.importers.lookup import Pictures
from atom_sdk.importers.names import split_in
from atom_sdk.importers.objects import checked_label, picture_size
from atom_sdk.importers.read_options import Reading
from atom_sdk.importers.report import Report
from atom_sdk.importers.sentences import pose_without_shape
from atom_sdk.importers.split_lists import SplitLists
from atom_sdk.importers.trees import Tree
from atom_sdk.importers.yolo_config import YoloConfig, config_file, read_config
from atom_sdk.importers.yolo_splits import add_splits
from atom_sdk.importers.yolo_tasks import task_of
from atom_sdk.label_formats import values
from atom_sdk.label_formats.values import ValueRefusedError
from atom_sdk.label_formats.yolo_lines import BOX_WORDS, POSE, LineReader

_PICTURE_FOLDERS = ("images", "JPEGImages")
_LOOKED_AT = 50
_NUMBERS = re.compile(rb"\s*\d+(\.0*)?(\s+[-+0-9.eE]+){4,}\s*$")


def detect(tree: Tree) -> str | None:
    """Say why the tree is YOLO, None if it is not."""
    file, config = first_labels(tree), config_file(tree)
    return f"{config} names classes and {file} lies beside a picture" if file and config else None


def first_labels(tree: Tree) -> str | None:
    """Return a text file of labels, None where pictures have none: captions are text files, too."""
    files = (label_file(tree, path) for path in tree.images())
    kinds: dict[bool | None, str] = {}
    for file in islice((file for file in files if file is not None), _LOOKED_AT):
        kinds.setdefault(_may_be_labels(tree, file), file)
    # Files that are all empty are labels of no object.
    return kinds.get(True) or (None if False in kinds else kinds.get(None))


def read(tree: Tree, report: Report, reading: Reading) -> Iterator[Item]:
    """Yield the pictures with their objects; one without a text file has none.

    Raises FormatUnknownError, AnnotationsUnreadableError, MissingLibraryError,
    YoloTaskUnknownError.
    """
    config = read_config(tree, report)
    reader = _Reader(tree, config, report, reading.options.yolo_task or config.task)
    for path in tree.images():
        yield reader.item(path)
    reader.finish()


def label_file(tree: Tree, picture: str) -> str | None:
    """Return the text file of a picture: in `labels` instead of `images`, or beside it."""
    stem = picture.rpartition(".")[0]
    folders, _, name = stem.rpartition("/")
    parts = folders.split("/")
    for place in range(len(parts) - 1, -1, -1):
        if parts[place] in _PICTURE_FOLDERS:
            swapped = "/".join([*parts[:place], "labels", *parts[place + 1 :], f"{name}.txt"])
            if swapped in tree.files:
                return swapped
    return f"{stem}.txt" if f"{stem}.txt" in tree.files else None


def _may_be_labels(tree: Tree, path: str) -> bool | None:
    """Whether a text begins as labels do; None for an empty one."""
    with tree.files[path].open() as stream:
        first = stream.read(1 << 14).removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    return _NUMBERS.match(first) is not None if first else None


class _Reader:
    """Reads the label files of one tree."""

    def __init__(self, tree: Tree, config: YoloConfig, report: Report, task: str) -> None:
        self._tree = tree
        self._config = config
        self._report = report
        self._classes = dict(config.classes)
        self._task = task
        self._check_pose()
        pictures = Pictures(tree.images())
        self._splits = SplitLists(pictures, report)
        add_splits(self._splits, config, tree, report)
        self._taken: set[str] = {config.path, *config.others}

    def item(self, path: str) -> Item:
        """Return a picture."""
        split = self._splits.split(path, split_in(path))
        file = label_file(self._tree, path)
        if file is None:
            self._report.name_unlabelled(path)
            return Item(path, self._tree.files[path], split=split)
        self._taken.add(file)
        blob = self._tree.files[path]
        objects = self._objects(file, path, ObjectList(picture_size(blob)))
        return objects.item(path, blob, self._report, split)

    def finish(self) -> None:
        """Report the labels that have no picture."""
        for path in self._tree.with_suffix(".txt"):
            if path in self._taken or path in self._report.annotations:
                continue
            if self._lies_with_labels(path) and _may_be_labels(self._tree, path):
                objects = self._objects(path, path, ObjectList())
                objects.orphan(path, "there is no picture of its name", self._report)

    def _lies_with_labels(self, path: str) -> bool:
        folder = path.rpartition("/")[0]
        return "labels" in folder.split("/")

    def _objects(self, file: str, path: str, objects: ObjectList) -> ObjectList:
        """Read the objects of a label file, which are about the picture at `path`."""
        data = read_whole(self._tree.files[file])
        try:
            lines = data.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            for number, row in enumerate(data.split(b"\n"), 1):
                if row.strip():
                    objects.refuse(f"{file}, line {number}", "it is not UTF-8 text")
            return objects
        for number, line in enumerate(lines, 1):
            if words := line.split():
                self._decide(len(words))
                subject, own = f"{file}, line {number}", values.object_id(None, path, number)
                build = partial(self._object, words, own, objects, subject)
                objects.read(subject, self._label(words), build)
        return objects

    def _object(self, words: list[str], own: str, objects: ObjectList, subject: str) -> NamedObject:
        keypoints = self._config.keypoints
        reader = LineReader(self._task, self._classes, keypoints, objects.changes)
        label = checked_label(reader.label(words))
        return NamedObject(own, label, reader.shape(words, objects.size or (0, 0), subject))

    def _label(self, words: list[str]) -> str:
        """The name of a line's class, or of its number where it has none."""
        try:
            number = values.number(words[0])
        except ValueRefusedError:
            number = -1
        return self._classes.get(int(number), f"class {words[0][:20]}")

    def _decide(self, length: int) -> None:
        """Settle the task at the first line that may be of several; it holds for all of them."""
        if not self._task and length > max(BOX_WORDS):
            self._task = task_of(self._lengths(), self._tree.name)
            self._check_pose()

    def _check_pose(self) -> None:
        if self._task == POSE and self._config.keypoints is None:
            raise YoloTaskUnknownError(pose_without_shape(self._tree.name))

    def _lengths(self) -> Iterator[int]:
        """Words a line, of all label files."""
        for picture in self._tree.images():
            if (path := label_file(self._tree, picture)) is not None:
                for line in read_whole(self._tree.files[path]).split(b"\n"):
                    yield len(line.split())
