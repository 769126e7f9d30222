"""Sets of field paths: which fields a value has, and how two values differ.

A path is a tuple of the elements of FieldsV1: `f:name`, `k:{"name":"x"}` or `v:"x"`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .shapes import ANY, Shape

Json = dict[str, Any]
Path = tuple[str, ...]
Paths = set[Path]

_METADATA = {
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "name",
    "namespace",
    "resourceVersion",
    "selfLink",
    "uid",
}
_UNOWNED = {("f:apiVersion",), ("f:kind",), ("f:metadata",)} | {
    ("f:metadata", f"f:{name}") for name in _METADATA
}


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def item_key(item: Json, keys: tuple[str, ...]) -> str:
    """Return the path element of an item in a list that is merged by keys."""
    known = {key: item[key] for key in keys if key in item}
    return f"k:{_compact(known)}"


def owned(value: Any, shape: Shape | None) -> Paths:
    """Return the fields that an applied configuration claims."""
    paths: Paths = set()
    _collect(value, shape or ANY, (), paths)
    return paths - _UNOWNED - {()}


def _collect(value: Any, shape: Shape, path: Path, paths: Paths) -> None:
    if shape.atomic and shape.kind != "any":
        paths.add(path)
    elif isinstance(value, dict) and value:
        for key, child in value.items():
            _collect(child, shape.child(key) or ANY, (*path, f"f:{key}"), paths)
    elif isinstance(value, list) and value and shape.keys:
        for item in value:
            place = (*path, item_key(item, shape.keys))
            paths.add(place)
            _collect(item, shape.item or ANY, place, paths)
    elif isinstance(value, list) and shape.kind == "set":
        paths.update((*path, f"v:{_compact(item)}") for item in value)
    else:
        paths.add(path)


def difference(old: Any, new: Any, shape: Shape | None) -> tuple[Paths, Paths]:
    """Return the fields that a write sets, and those that it removes."""
    changed: Paths = set()
    removed: Paths = set()
    _compare(old, new, shape or ANY, (), (changed, removed))
    return changed - _UNOWNED - {()}, removed - _UNOWNED - {()}


def _compare(old: Any, new: Any, shape: Shape, path: Path, out: tuple[Paths, Paths]) -> None:
    if old == new:
        return
    changed, _removed = out
    if shape.kind in ("struct", "map", "any") and isinstance(new, dict) and not shape.atomic:
        _compare_dicts(old, new, shape, path, out)
    elif shape.keys and isinstance(new, list):
        _compare_lists(old or [], new, shape, path, out)
        if old is None and shape.pointer:
            changed.add(path)
    elif shape.kind == "set" and isinstance(new, list):
        _compare_sets(old, new, path, out)
    else:
        changed.add(path)


def _compare_lists(
    old: list[Json], new: list[Json], shape: Shape, path: Path, out: tuple[Paths, Paths]
) -> None:
    changed, removed = out
    before = {item_key(item, shape.keys): item for item in old}
    after = {item_key(item, shape.keys): item for item in new}
    for key, item in after.items():
        if key not in before:
            changed.add((*path, key))
        _compare(before.get(key), item, shape.item or ANY, (*path, key), out)
    for key in before.keys() - after.keys():
        removed.add((*path, key))
        _collect(before[key], shape.item or ANY, (*path, key), removed)


def _compare_sets(old: Any, new: list[Any], path: Path, out: tuple[Paths, Paths]) -> None:
    changed, removed = out
    if old is None:
        changed.add(path)
    before, after = set(map(_compact, old or ())), set(map(_compact, new))
    changed.update((*path, f"v:{item}") for item in after - before)
    removed.update((*path, f"v:{item}") for item in before - after)


def _compare_dicts(old: Any, new: Json, shape: Shape, path: Path, out: tuple[Paths, Paths]) -> None:
    changed, removed = out
    if old is None and (shape.pointer or not new):
        changed.add(path)
    before = old if isinstance(old, dict) else {}
    for key, child in new.items():
        _compare(before.get(key), child, shape.child(key) or ANY, (*path, f"f:{key}"), out)
    for key in before.keys() - new.keys():
        place = (*path, f"f:{key}")
        removed.add(place)
        _collect(before[key], shape.child(key) or ANY, place, removed)


# --- FieldsV1 ---


def to_fields(paths: Paths) -> Json:
    """Return a set of paths as FieldsV1."""
    tree: Json = {}
    for path in sorted(paths):
        node = tree
        for element in path:
            node = node.setdefault(element, {})
        node["."] = {}
    return _without_dots(tree)


def _without_dots(node: Json) -> Json:
    if set(node) == {"."}:
        return {}
    return {key: child if key == "." else _without_dots(child) for key, child in node.items()}


def from_fields(tree: Json, path: Path = ()) -> Paths:
    """Return FieldsV1 as a set of paths."""
    if not tree:
        return {path} if path else set()
    paths: Paths = set()
    for key, child in tree.items():
        if key == ".":
            paths.add(path)
        else:
            paths |= from_fields(child, (*path, key))
    return paths


def in_order(paths: Paths) -> Iterator[Path]:
    """Yield paths as the server lists them: the fields of a level before those below it."""
    here = sorted(path for path in paths if len(path) == 1)
    yield from here
    heads = sorted({path[0] for path in paths if len(path) > 1})
    for head in heads:
        below = {path[1:] for path in paths if len(path) > 1 and path[0] == head}
        yield from ((head, *path) for path in in_order(below))


def readable(path: Path) -> str:
    """Return a path as messages show it."""
    text = ""
    for element in path:
        mark, value = element.split(":", 1)
        if mark == "f":
            text += f".{value}"
        elif mark == "k":
            pairs = json.loads(value).items()
            text += "[" + ",".join(f"{key}={_compact(item)}" for key, item in pairs) + "]"
        else:
            text += f"[={value}]"
    return text
