"""YOLO: a text file a picture, `class x y width height` or `class x1 y1 x2 y2 …`, all relative.

Names of classes come from data.yaml, classes.txt or obj.names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from atom_sdk.importers.errors import (
    AnnotationsUnreadableError,
    FormatUnknownError,
    MissingLibraryError,
)
from atom_sdk.importers.items import Item
from atom_sdk.importers.names import split_in
from atom_sdk.importers.objects import (
    RELATIVE,
    AnnotatedObject,
    ObjectRefusedError,
    as_attributes,
    box_around,
    checked_box,
    checked_label,
    checked_number,
    checked_polygon,
)
from atom_sdk.importers.read_options import Reading
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree

_NAME_FILES = ("classes.txt", "obj.names", "classes.names")


def detect(tree: Tree) -> str | None:
    """Say why the tree is YOLO, None if it is not."""
    for path in tree.images():
        label_file = _label_file(tree, path)
        if label_file is None:
            continue
        found = _yaml_file(tree) or _names_file(tree)
        return f"{found} names classes and {label_file} lies beside a picture" if found else None
    return None


def read(tree: Tree, report: Report, reading: Reading) -> Iterator[Item]:
    """Yield the pictures with their objects; one without a text file has none.

    Raises FormatUnknownError, AnnotationsUnreadableError, MissingLibraryError.
    """
    classes = _classes(tree, report)
    for path in tree.images():
        label_file = _label_file(tree, path)
        objects = _objects(tree, label_file, classes, report) if label_file else []
        attributes, lost = as_attributes(objects, RELATIVE) if label_file else ({}, "")
        if lost:
            report.skip(path, lost)
        yield Item(
            path,
            tree.files[path],
            split=split_in(path),
            attributes=attributes,
            objects=attributes.get("object_counts", {}),
        )


def _label_file(tree: Tree, picture: str) -> str | None:
    """The text file of a picture: in `labels` instead of `images`, or beside it."""
    stem = picture.rpartition(".")[0]
    folders, _, name = stem.rpartition("/")
    parts = folders.split("/")
    for place in range(len(parts) - 1, -1, -1):
        if parts[place] == "images":
            swapped = "/".join([*parts[:place], "labels", *parts[place + 1 :], f"{name}.txt"])
            if swapped in tree.files:
                return swapped
    return f"{stem}.txt" if f"{stem}.txt" in tree.files else None


def _yaml_file(tree: Tree) -> str | None:
    found = [path for path in tree.files if path.endswith((".yaml", ".yml"))]
    named = [path for path in found if path.rpartition("/")[2] in ("data.yaml", "data.yml")]
    return min(named or found, key=lambda path: (path.count("/"), path), default=None)


def _names_file(tree: Tree) -> str | None:
    found = [path for path in tree.files if path.rpartition("/")[2] in _NAME_FILES]
    return min(found, key=lambda path: (path.count("/"), path), default=None)


def _classes(tree: Tree, report: Report) -> dict[int, str]:
    if (path := _yaml_file(tree)) is not None:
        return _yaml_names(tree.read_text(path, report), path)
    if (path := _names_file(tree)) is not None:
        lines = tree.read_text(path, report).splitlines()
        return {number: line.strip() for number, line in enumerate(lines) if line.strip()}
    raise FormatUnknownError(f"{tree.name} has neither data.yaml nor classes.txt.")


def _yaml_names(text: str, path: str) -> dict[int, str]:
    try:
        import yaml
    except ImportError as error:
        raise MissingLibraryError(f"PyYAML is needed to read {path}.") from error
    try:
        # Plain text: a class called `no` or `2020-01-01` is no truth value and no date.
        document: Any = yaml.load(text, yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        raise AnnotationsUnreadableError(f"{path} is not YAML: {error}.") from error
    names = document.get("names") if isinstance(document, dict) else None
    if isinstance(names, list):
        names = {str(number): name for number, name in enumerate(names)}
    if not isinstance(names, dict) or not all(map(_is_class, names.items())):
        raise AnnotationsUnreadableError(f"{path} has no list of class names under names:.")
    return {int(number): name for number, name in names.items() if name}


def _is_class(item: tuple[Any, Any]) -> bool:
    number, name = item
    return isinstance(name, str) and re.fullmatch(r"[0-9]{1,9}", number) is not None


def _objects(
    tree: Tree, path: str, classes: dict[int, str], report: Report
) -> list[AnnotatedObject]:
    objects = []
    for number, line in enumerate(_lines(tree, path, report), 1):
        if not line.split():
            continue
        try:
            objects.append(_object(line.split(), classes))
        except ObjectRefusedError as refused:
            report.skip(f"{path}, line {number}", str(refused))
    return objects


def _lines(tree: Tree, path: str, report: Report) -> Sequence[str]:
    with tree.files[path].open() as stream:
        try:
            return stream.read().decode().splitlines()
        except UnicodeDecodeError:
            report.skip(path, "it is not UTF-8 text")
            return ()


def _object(words: Sequence[str], classes: dict[int, str]) -> AnnotatedObject:
    index = checked_number(words[0])
    if index != int(index) or int(index) not in classes:
        raise ObjectRefusedError("its class has no name")
    label = checked_label(classes[int(index)])
    if len(words) > 6:
        polygon = checked_polygon(words[1:])
        _check_inside(polygon)
        return AnnotatedObject(label, box_around(polygon), (polygon,))
    # A sixth number is the confidence of a detector.
    x, y, width, height = checked_box(words[1:5])
    _check_inside((x, y, width, height))
    return AnnotatedObject(label, (x - width / 2, y - height / 2, width, height))


def _check_inside(numbers: Sequence[float]) -> None:
    if any(not -1e-6 <= number <= 1 + 1e-6 for number in numbers):
        raise ObjectRefusedError("a relative coordinate is not between 0 and 1")
