"""Label Studio JSON: a list of tasks, each with annotations and predictions of results.

Results of one id are one region: its shape, its class and its attributes stand in results of their
own. Numbers are percents of the picture's sides; a box turns around its top-left corner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atom_sdk.importers.names import split_of
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats import values
from atom_sdk.label_formats.interface import HUMAN, MODEL, LabelledPicture, Reading
from atom_sdk.label_formats.json_stream import JsonStream
from atom_sdk.label_formats.pictures import resolve
from atom_sdk.label_formats.studio_regions import Regions

_HEAD_BYTES = 1 << 16
_KEYS = re.compile(rb'"(annotations|predictions|completions)"\s*:\s*\[')
_DATA = re.compile(rb'"data"\s*:\s*\{')
_PREFIX = re.compile(r"^(.*/)?data/(upload/\d+/|local-files/\?d=)")
Row = Mapping[str, Any]


def detect(tree: Tree) -> str | None:
    """Say why the tree is Label Studio's, None if it is not."""
    files = annotation_files(tree)
    return f"{files[0]} is a list of tasks of Label Studio" if files else None


def annotation_files(tree: Tree) -> list[str]:
    """Return the JSON files that are lists of tasks."""
    files = []
    for path in tree.with_suffix(".json"):
        with tree.files[path].open() as stream:
            head = stream.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
        if head.startswith(b"[") and _KEYS.search(head) and _DATA.search(head):
            files.append(path)
    return files


def read(tree: Tree, reading: Reading) -> Iterator[LabelledPicture]:
    """Yield the pictures. Raises AnnotationsUnreadableError."""
    taken: set[str] = set()
    for path in annotation_files(tree):
        with tree.files[path].open() as stream:
            tasks = JsonStream(stream, path)
            for number, task in enumerate(tasks.elements(), 1):
                subject = f"{path}: task {number}"
                if not isinstance(task, dict):
                    reading.report.count("record_wrong", subject)
                    continue
                picture = _picture(task, reading, subject, taken)
                if picture is not None:
                    yield picture
            tasks.end()


def _picture(task: Row, reading: Reading, subject: str, taken: set[str]) -> LabelledPicture | None:
    report = reading.report
    chosen = _chosen(task, reading, subject)
    name = _name(task)
    path = resolve(reading.places, name, report, subject) if name else None
    if path is None:
        if not name:
            report.count("picture_missing", subject)
        return None
    if path in taken:
        report.count("picture_twice", subject)
        return None
    if chosen is None:
        report.count("not_labelled", subject)
        return None
    results = [row for row in chosen.results if isinstance(row, dict)]
    report.count("record_wrong", subject, len(chosen.results) - len(results))
    size = _size(results, task) or reading.places.size(path)
    if size is None:
        report.count("size_unknown", subject)
        return None
    taken.add(path)
    document = Regions(results, size, reading, subject, path).document()
    data = task.get("data")
    split = data.get("split") if isinstance(data, dict) else None
    known = split_of(split) if isinstance(split, str) else None
    return LabelledPicture(path, document, known, chosen.source, chosen.model)


@dataclass(frozen=True)
class _Chosen:
    """The annotation of a task that counts."""

    results: Sequence[Any]
    source: str
    model: str | None = None


def _chosen(task: Row, reading: Reading, subject: str) -> _Chosen | None:
    """The last annotation of a person, else the last prediction; the others are counted."""
    people = [
        row
        for row in _list(task, "annotations") or _list(task, "completions")
        if isinstance(row, dict) and not row.get("was_cancelled")
    ]
    machines = [row for row in _list(task, "predictions") if isinstance(row, dict)]
    if people:
        reading.report.count("kept_twice", subject, len(people) - 1)
        reading.report.count("predictions_left_out", subject, len(machines))
        return _Chosen(_list(people[-1], "result"), HUMAN)
    if machines:
        reading.report.count("predictions_left_out", subject, len(machines) - 1)
        model = machines[-1].get("model_version")
        return _Chosen(_list(machines[-1], "result"), MODEL, str(model) if model else None)
    return None


def _list(row: Row, name: str) -> list[Any]:
    value = row.get(name)
    return value if isinstance(value, list) else []


def _name(task: Row) -> str:
    """The picture's name: the value of `image`, or the only text of the data."""
    data = task.get("data")
    if not isinstance(data, dict):
        return ""
    value = data.get("image")
    if not isinstance(value, str):
        texts = [each for each in data.values() if isinstance(each, str)]
        value = texts[0] if len(texts) == 1 else ""
    return _PREFIX.sub("", value)


def _size(results: Sequence[Row], task: Row) -> tuple[int, int] | None:
    data = task.get("data")
    rows: list[Row] = [*results, *([data] if isinstance(data, dict) else [])]
    for row in rows:
        names = ("original_width", "original_height")
        width, height = (values.side(row.get(name)) for name in names)
        if width and height:
            return width, height
    return None
