"""YOLO: a text file a picture, an object a line; an empty file is a picture without objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.importers.errors import AnnotationsUnreadableError, YoloTaskUnknownError
from atom_sdk.importers.items import read_whole
from atom_sdk.importers.lookup import Pictures
from atom_sdk.importers.names import split_in
from atom_sdk.importers.report import Report
from atom_sdk.importers.sentences import file_too_large, pose_without_shape
from atom_sdk.importers.split_lists import SplitLists
from atom_sdk.importers.trees import Tree
from atom_sdk.importers.yolo_config import YoloConfig, config_file, read_config
from atom_sdk.importers.yolo_splits import add_splits, is_list_of_pictures
from atom_sdk.importers.yolo_tasks import task_of
from atom_sdk.label_formats import values
from atom_sdk.label_formats.interface import LabelledPicture, Reading
from atom_sdk.label_formats.pictures import resolve_stem
from atom_sdk.label_formats.values import ValueRefusedError
from atom_sdk.label_formats.yolo_lines import BOX_WORDS, DETECT, POSE, LineReader

_LABELS, _IMAGES = "labels", "images"
_NUMBERS = re.compile(rb"\s*\d+(\.0*)?(\s+[-+0-9.eE]+){4,}\s*$")
_MAX_FILE_BYTES = 64 << 20


def detect(tree: Tree) -> str | None:
    """Say why the tree is YOLO, None if it is not."""
    config = config_file(tree)
    file = next(label_files(tree), None) if config else None
    return f"{config} names classes and {file} has lines of numbers" if file else None


def label_files(tree: Tree) -> Iterator[str]:
    """Yield the text files that hold labels, or could and are empty."""
    for path in tree.with_suffix(".txt"):
        if _LABELS in path.split("/")[:-1]:
            yield path
        elif "classes" not in path.rpartition("/")[2] and not is_list_of_pictures(tree, path):
            with tree.files[path].open() as stream:
                first = stream.read(1 << 14).removeprefix(b"\xef\xbb\xbf").lstrip()
            if not first or _NUMBERS.match(first.partition(b"\n")[0]):
                yield path


def read(tree: Tree, reading: Reading) -> Iterator[LabelledPicture]:
    """Yield the pictures. Raises AnnotationsUnreadableError, YoloTaskUnknownError."""
    notes = Report(tree.name)
    config = read_config(tree, notes)
    files = list(label_files(tree))
    reader = _Reader(tree, config, reading, files)
    for name in config.classes.values():
        reading.notes.label(name)
    for path in files:
        picture = reader.picture(path)
        if picture is not None:
            yield picture
    reader.finish()


class _Reader:
    def __init__(self, tree: Tree, config: YoloConfig, reading: Reading, files: list[str]) -> None:
        self._tree = tree
        self._reading = reading
        self._report = reading.report
        self._files = files
        self._keypoints = config.keypoints
        self._classes = dict(config.classes)
        self._lines = LineReader(
            reading.choices.yolo_task or config.task, self._classes, config.keypoints, self._report
        )
        self._check_pose()
        self._taken: set[str] = set()
        self._splits = _splits(tree, config, reading)
        self._points = _point_names(tree, config)

    def _check_pose(self) -> None:
        if self._lines.task == POSE and self._keypoints is None:
            raise YoloTaskUnknownError(pose_without_shape(self._tree.name))

    def picture(self, path: str) -> LabelledPicture | None:
        """Return the picture of a label file, None where it is left out and counted."""
        places = self._reading.places
        picture = resolve_stem(places, _stem(path), self._report, path)
        if picture is None:
            return None
        if picture in self._taken:
            self._report.count("picture_twice", path)
            return None
        size = places.size(picture)
        if size is None:
            self._report.count("size_unknown", picture)
            return None
        self._taken.add(picture)
        objects = tuple(self._objects(path, picture, size))
        split = self._splits.split(picture, split_in(picture) or split_in(path))
        return LabelledPicture(picture, NamedDocument(*size, objects=objects), split)

    def finish(self) -> None:
        """Count the pictures that have no label file at all."""
        if self._taken:
            missing = [path for path in self._reading.places.paths() if path not in self._taken]
            self._report.count("not_labelled", missing[0] if missing else "", len(missing))

    def _objects(self, path: str, picture: str, size: tuple[int, int]) -> Iterator[NamedObject]:
        for number, line in enumerate(self._text(path).splitlines(), 1):
            words = line.split()
            if not words:
                continue
            subject = f"{path}, line {number}"
            try:
                yield self._object(words, size, subject, picture, number)
            except ValueRefusedError as refused:
                self._report.count(refused.code, subject)

    def _object(
        self, words: list[str], size: tuple[int, int], subject: str, picture: str, number: int
    ) -> NamedObject:
        self._decide(len(words))
        label = self._lines.label(words)
        shape = self._lines.shape(words, size, subject)
        if shape.kind == "keypoints":
            note = self._reading.notes.label(label)
            note.points = note.points or self._points
        return NamedObject(values.object_id(None, picture, number), label, shape)

    def _decide(self, length: int) -> None:
        """Settle the task at the first line that a box has not; it holds for all of them."""
        if not self._lines.task and length > max(BOX_WORDS):
            task = task_of(self._lengths(), self._tree.name)
            self._lines = replace(self._lines, task=task)
        elif not self._lines.task and self._keypoints is None and length in BOX_WORDS:
            lengths = Counter(self._lengths())
            if max(lengths) <= max(BOX_WORDS):
                self._lines = replace(self._lines, task=DETECT)
            else:
                self._lines = replace(self._lines, task=task_of(lengths, self._tree.name))

    def _lengths(self) -> Iterator[int]:
        """Words a line, of all label files."""
        for path in self._files:
            for line in read_whole(self._tree.files[path]).split(b"\n"):
                if words := len(line.split()):
                    yield words

    def _text(self, path: str) -> str:
        if self._tree.files[path].size_bytes > _MAX_FILE_BYTES:
            raise AnnotationsUnreadableError(file_too_large(path, f"{_MAX_FILE_BYTES >> 20} MiB"))
        try:
            return read_whole(self._tree.files[path]).decode("utf-8-sig")
        except UnicodeDecodeError:
            self._report.count("record_wrong", path)
            return ""


def _stem(path: str) -> str:
    """`train/labels/a.txt` is about `train/images/a`."""
    parts = path[: -len(".txt")].split("/")
    for place in range(len(parts) - 2, -1, -1):
        if parts[place] == _LABELS:
            return "/".join([*parts[:place], _IMAGES, *parts[place + 1 :]])
    return "/".join(parts)


def _splits(tree: Tree, config: YoloConfig, reading: Reading) -> SplitLists:
    """The lists of the config; an entry that stands for two splits says nothing."""
    times = Counter(entry for _, entry in config.splits)
    unique = tuple(pair for pair in config.splits if times[pair[1]] == 1)
    report = Report(tree.name)
    lists = SplitLists(Pictures(reading.places.paths()), report)
    if unique or not config.splits:
        add_splits(lists, replace(config, splits=unique), tree, report)
    return lists


def _point_names(tree: Tree, config: YoloConfig) -> list[str]:
    """Names of keypoints that data.yaml gives, or numbers."""
    count = config.keypoints[0] if config.keypoints else 0
    names = [f"point {number}" for number in range(1, count + 1)]
    if not config.path.endswith((".yaml", ".yml")):
        return names
    import yaml

    document: Any = yaml.load(read_whole(tree.files[config.path]), yaml.BaseLoader)
    given = document.get("kpt_names") if isinstance(document, dict) else None
    if isinstance(given, dict):
        given = next(iter(given.values()), None)
    if isinstance(given, list) and len(given) == count and all(isinstance(n, str) for n in given):
        return given
    return names
