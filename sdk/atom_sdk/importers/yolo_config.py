"""A YOLO set's own words: names of classes, task, keypoints, and where its splits lie.

`data.yaml` as Ultralytics and Roboflow write it, `obj.data` with `obj.names` as Darknet and CVAT
do, or `classes.txt` alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from atom_sdk.importers.errors import (
    AnnotationsUnreadableError,
    FormatUnknownError,
    MissingLibraryError,
)
from atom_sdk.importers.names import split_of
from atom_sdk.importers.read_options import YOLO_TASKS
from atom_sdk.importers.report import Report
from atom_sdk.importers.sentences import at_line
from atom_sdk.importers.trees import Tree
from atom_sdk.sentences import Sentence

_NAME_FILES = ("classes.txt", "obj.names", "classes.names")
_YAML_NAMES = ("data.yaml", "data.yml", "dataset.yaml", "dataset.yml")
_NAMES_KEY = re.compile(rb"^\s*names\s*:", re.MULTILINE)
_HEAD_BYTES = 1 << 16
_MAX_CLASSES = 100_000
_NULLS = ("", "~", "null", "Null", "NULL")
# A folder or a file that is called after its task: dota8-obb, coco-seg.yaml.
_HINTS = {
    "obb": re.compile(r"(^|[^a-z])obb([^a-z]|$)"),
    "segment": re.compile(r"(^|[^a-z])(seg|segment|segmentation)([^a-z]|$)"),
    "pose": re.compile(r"(^|[^a-z])(pose|keypoints?)([^a-z]|$)"),
}


@dataclass(frozen=True)
class YoloConfig:
    """Facts that a set states about itself.

    `task` is one of YOLO_TASKS or "" where nothing says it; `keypoints` is (points, values a
    point); `splits` are paths of folders or lists, as they are written; `root` is `path:`.
    """

    path: str
    classes: Mapping[int, str]
    task: str = ""
    keypoints: tuple[int, int] | None = None
    splits: tuple[tuple[str, str], ...] = ()
    root: str = ""
    others: tuple[str, ...] = field(default=())
    """Files besides `path` that were read."""


def config_file(tree: Tree) -> str | None:
    """Return the file that names the classes, None without one."""
    return _yaml_file(tree) or _names_file(tree)


def read_config(tree: Tree, report: Report) -> YoloConfig:
    """Read the facts that a set states about itself.

    Raises FormatUnknownError, AnnotationsUnreadableError, MissingLibraryError.
    """
    if (path := _yaml_file(tree)) is not None:
        return _of_yaml(tree, path, report)
    if (path := _names_file(tree)) is not None:
        return _of_names(tree, path, report)
    raise FormatUnknownError(
        Sentence(
            "formats.yolo_no_classes",
            "{name} has neither data.yaml nor classes.txt.",
            name=tree.name,
        )
    )


def _of_names(tree: Tree, path: str, report: Report) -> YoloConfig:
    lines = tree.read_text(path, report).splitlines()
    classes = {number: line.strip() for number, line in enumerate(lines) if line.strip()}
    data = next((one for one in tree.files if one.rpartition("/")[2] == "obj.data"), None)
    if data is None:
        return YoloConfig(path, classes, _hinted(tree, path))
    pairs = [line.partition("=") for line in tree.read_text(data, report).splitlines()]
    values = {key.strip(): value.strip() for key, _, value in pairs}
    return YoloConfig(path, classes, _hinted(tree, path), None, _splits(values), "", (data,))


def _of_yaml(tree: Tree, path: str, report: Report) -> YoloConfig:
    document = _parsed(tree.read_text(path, report), path)
    keypoints = _keypoints(document.get("kpt_shape"), path)
    task = document.get("task", "")
    if task in _NULLS:
        task = "pose" if keypoints else _hinted(tree, path)
    if task and task not in YOLO_TASKS:
        raise AnnotationsUnreadableError(
            Sentence(
                "formats.yolo_task_wrong",
                "{path}: task {task!r} is none of detect, segment, pose, obb.",
                path=path,
                task=task,
            )
        )
    classes = _classes(document, path, report)
    if not classes and (names := _names_file(tree)) is not None:
        classes = dict(_of_names(tree, names, report).classes)
    if not classes:
        raise _no_names(path)
    root = document.get("path")
    root = root if isinstance(root, str) else ""
    return YoloConfig(path, classes, task, keypoints, _splits(document), root)


def _parsed(text: str, path: str) -> dict[Any, Any]:
    try:
        import yaml
    except ImportError as error:
        raise MissingLibraryError(_needs_yaml(path)) from error
    try:
        # Plain text: a class called `no` or `2020-01-01` is no truth value and no date.
        document: Any = yaml.load(text, yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        raise AnnotationsUnreadableError(_not_yaml(path, error)) from error
    return document if isinstance(document, dict) else {}


def _needs_yaml(path: str) -> Sentence:
    return Sentence("formats.yaml_missing", "PyYAML is needed to read {path}.", path=path)


def _not_yaml(path: str, error: Exception) -> Sentence:
    reason = str(error)
    problem, mark = getattr(error, "problem", None), getattr(error, "problem_mark", None)
    if problem and mark:
        reason = at_line(problem, mark.line + 1, mark.column + 1)
    return Sentence("formats.not_yaml", "{path} is not YAML: {reason}.", path=path, reason=reason)


def _no_names(path: str) -> AnnotationsUnreadableError:
    return AnnotationsUnreadableError(
        Sentence(
            "formats.yolo_no_names",
            "{path} has no list of class names under names:.",
            path=path,
        )
    )


def _classes(document: Mapping[Any, Any], path: str, report: Report) -> dict[int, str]:
    """Names by number; with `nc` alone they are called class_0, class_1 as Ultralytics does."""
    names, count = document.get("names"), document.get("nc")
    number = int(count) if isinstance(count, str) and re.fullmatch(r"\d{1,6}", count) else None
    if names is None:
        return {one: f"class_{one}" for one in range(min(number or 0, _MAX_CLASSES))}
    if isinstance(names, list):
        names = {str(place): name for place, name in enumerate(names)}
    if not isinstance(names, dict) or not all(map(_is_class, names.items())):
        raise _no_names(path)
    if number is not None and number != len(names):
        report.note(f"{path} says nc: {number} and names {len(names)} classes; the names count")
    return {int(place): name for place, name in names.items() if name}


def _is_class(item: tuple[Any, Any]) -> bool:
    number, name = item
    return isinstance(name, str) and re.fullmatch(r"[0-9]{1,9}", number) is not None


def _keypoints(shape: Any, path: str) -> tuple[int, int] | None:
    if shape is None or shape in _NULLS:
        return None
    texts = shape if isinstance(shape, list) else str(shape).strip("[]()").split(",")
    numbers = [int(one) for one in texts if isinstance(one, str) and one.strip().isdecimal()]
    if len(numbers) != 2 or len(texts) != 2 or numbers[0] < 1 or numbers[1] not in (2, 3):
        raise AnnotationsUnreadableError(
            Sentence(
                "formats.yolo_shape_wrong",
                "{path}: kpt_shape must be [points, 2] or [points, 3], not {shape}.",
                path=path,
                shape=str(shape),
            )
        )
    return numbers[0], numbers[1]


def _splits(document: Mapping[Any, Any]) -> tuple[tuple[str, str], ...]:
    """Pairs of a split and a folder or list, in the file's order."""
    pairs = []
    for key, value in document.items():
        split = split_of(key) if isinstance(key, str) else None
        if split is None:
            continue
        entries = value if isinstance(value, list) else [value]
        texts = [entry.strip() for entry in entries if isinstance(entry, str)]
        pairs += [(split, text) for text in texts if text not in _NULLS]
    return tuple(pairs)


def _hinted(tree: Tree, path: str) -> str:
    """The one task that the names of source, folder and file speak of, "" if not just one."""
    texts = [tree.name.lower(), *path.lower().split("/")]
    tasks = [task for task, hint in _HINTS.items() if any(map(hint.search, texts))]
    return tasks[0] if len(tasks) == 1 else ""


def _yaml_file(tree: Tree) -> str | None:
    found = [path for path in tree.files if path.endswith((".yaml", ".yml"))]
    named = [path for path in found if path.rpartition("/")[2] in _YAML_NAMES]
    return min(
        named or [path for path in found if _has_names(tree, path)],
        key=lambda path: (path.count("/"), path),
        default=None,
    )


def _has_names(tree: Tree, path: str) -> bool:
    with tree.files[path].open() as stream:
        return bool(_NAMES_KEY.search(stream.read(_HEAD_BYTES)))


def _names_file(tree: Tree) -> str | None:
    found = [path for path in tree.files if path.rpartition("/")[2] in _NAME_FILES]
    return min(found, key=lambda path: (path.count("/"), path), default=None)
